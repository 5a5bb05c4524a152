/** The package on workerd, which imports the module compiled. */

import module from "./ilo.wasm";
import { provide } from "./core.js";

provide(() => module);

export * from "./index.js";
