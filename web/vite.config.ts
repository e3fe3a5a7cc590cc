import { defineConfig } from "vite";

// The built page lies in the package, beside the modules that `make wasm` writes there.
export default defineConfig({
  base: "./",
  publicDir: false,
  build: {
    outDir: "../experiments/web/static",
    emptyOutDir: false,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: { entryFileNames: "page.js", assetFileNames: "page[extname]", chunkFileNames: "page-[name].js" },
    },
  },
  worker: { format: "iife" },
});
