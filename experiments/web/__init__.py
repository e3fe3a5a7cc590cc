"""The games in a browser: the kernels as WebAssembly, and what a page needs to know of the games."""
