/** The module that checks, builds and runs programs. */

import * as glue from "./glue.js";
import { Instance, type Handle, type Source } from "./instance.js";

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

/** Something of one instance, which is made again for another where that is possible. */
export class Held<T extends Handle> {
    private of = core.current();

    constructor(
        private readonly make: (module: Module) => T,
        private handle?: T,
    ) {}

    /** What it holds, in the instance of now. */
    get(): T {
        if (this.handle === undefined || this.of !== core.current()) {
            this.handle = call(this.make);
            this.of = core.current();
        }
        return this.handle;
    }

    /** Frees it; it is made again when it is next used. */
    free(): void {
        const { handle } = this;
        this.handle = undefined;
        if (handle && this.of === core.current()) call(() => handle.free());
    }
}
