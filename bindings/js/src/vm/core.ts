/** The module that only runs programs. */

import { Instance, type Source } from "../instance.js";
import * as glue from "../vm_glue.js";

export const core = new Instance<typeof glue>(glue, "vm.wasm", "runs under way");

/**
 * Loads the module. Needed only in browsers, where it is fetched: by default from beside the package. Elsewhere
 * the module is loaded when it is first used.
 */
export async function init(source?: Source | Promise<Response>): Promise<void> {
    return core.init(source);
}
