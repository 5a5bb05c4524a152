/** `ilo-vm/guide` in a browser: `await init()` fetches the module from beside the package, or from an address. */

import { core } from "./core.js";

core.provideAddress(new URL("../guide.wasm", import.meta.url));

export * from "./index.js";
