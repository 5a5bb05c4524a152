/** The part of a module that runs programs: `vm.wasm` has it, and so has `ilo.wasm`. */

import type { Instance } from "./instance.js";
import type * as glue from "./vm_glue.js";

export type { Catalogue, Core, Drive, Run as Handle } from "./vm_glue.js";
export type Module = typeof glue;
export type Runner = Instance<Module>;
