import { defineConfig } from "vite";

// Builds `tell.ts` for node.
export default defineConfig({
  root: __dirname,
  build: { ssr: "tell.ts", outDir: "../node_modules/.tests", emptyOutDir: true, target: "es2022" },
});
