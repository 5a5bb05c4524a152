/** The module that checks, builds and runs programs. */

import * as glue from "./glue.js";
import { Instance, type Source } from "./instance.js";

export type { Source };
export type Module = typeof glue;

export const core = new Instance<Module>(glue, "ilo.wasm", "runs under way");

/**
 * Loads the module. Needed only in browsers, where it is fetched: by default from beside the package. Elsewhere
 * the module is loaded when it is first used.
 */
export async function init(source?: Source | Promise<Response>): Promise<void> {
    return core.init(source);
}

/** Calls the module. */
export function call<T>(work: (module: Module) => T): T {
    return core.call(work);
}
