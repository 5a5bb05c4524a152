/** The package with the module inside, for platforms that can neither fetch nor read a file. */

import { core } from "./core.js";
import base64 from "./ilo.wasm.base64.js";

core.provide(() => new WebAssembly.Module(Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0))));

export * from "./index.js";
