/** `ilo-vm/guide` on workerd, which imports the module compiled. */

import module from "../guide.wasm";
import { core } from "./core.js";

core.provide(() => module);

export * from "./index.js";
