/** The package in a browser: `await init()` fetches the module from the package's folder, or from an address. */

import { core } from "./core.js";

core.provideAddress(new URL("./ilo.wasm", import.meta.url));

export * from "./index.js";
