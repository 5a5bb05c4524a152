/** The package on workerd, which imports the module compiled. */

import module from "./ilo.wasm";
import { core } from "./core.js";

core.provide(() => module);

export * from "./index.js";
