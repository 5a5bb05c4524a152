/** The package in a browser: `await init()` fetches the module from beside this file, or from an address. */

import { provideAddress } from "./core.js";

provideAddress(new URL("./ilo.wasm", import.meta.url));

export * from "./index.js";
