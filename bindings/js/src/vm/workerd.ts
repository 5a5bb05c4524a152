/** `ilo-vm/vm` on workerd, which imports the module compiled. */

import module from "../vm.wasm";
import { core } from "./core.js";

core.provide(() => module);

export * from "./index.js";
