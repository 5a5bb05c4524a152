/** The instance of the WebAssembly module: loading it, calling it, and replacing it after a trap. */

import { Crash, IloError, errorOf } from "./errors.js";
import { textOf } from "./json.js";
import * as glue from "./glue.js";

export type Module = typeof glue;

/** What `init` takes: an address, bytes, a response, or a module that is compiled. */
export type Source = string | URL | Request | Response | BufferSource | WebAssembly.Module;

let load: (() => WebAssembly.Module) | undefined;
let address: URL | undefined;
let begun: Promise<void> | undefined;
let ready = false;
let instance = 0;

/** Says how the module is loaded on this platform, once it is needed. */
export function provide(loading: () => WebAssembly.Module): void {
    load ??= loading;
}

/** Says where the module is on a platform that must fetch it. */
export function provideAddress(url: URL): void {
    address ??= url;
}

/**
 * Loads the module. Needed only in browsers, where it is fetched: by default from beside the package. Elsewhere
 * the module is loaded when it is first used.
 */
export async function init(source?: Source | Promise<Response>): Promise<void> {
    if (ready) return;
    begun ??= begin(source).catch((error: unknown) => {
        begun = undefined;
        throw error;
    });
    return begun;
}

async function begin(source?: Source | Promise<Response>): Promise<void> {
    if (source === undefined && load) return start();
    const from = source ?? address;
    if (from === undefined) throw new IloError("the address of `ilo.wasm` is not known; pass it to `init`");
    await glue.default({ module_or_path: from as glue.InitInput });
    ready = true;
}

function start(): void {
    if (!load) throw new IloError("the module is not loaded; `await init()` first");
    glue.initSync({ module: load() });
    ready = true;
}

/** The number of the instance, which changes when a trap has ended one. */
export function current(): number {
    return instance;
}

/**
 * Calls the module. What it throws as a text is an error of the package; anything else is a trap, after which
 * nothing of the instance can be trusted: a new one takes its place.
 */
export function call<T>(work: (module: Module) => T): T {
    if (!ready) start();
    try {
        return work(glue);
    } catch (thrown) {
        if (typeof thrown === "string") throw errorOf(thrown);
        throw replaced(thrown);
    }
}

function replaced(thrown: unknown): Crash {
    instance++;
    let after = "a new instance has taken its place, and runs under way are lost";
    try {
        glue.__wbg_reset_state();
    } catch (error) {
        ready = false;
        after = `a new instance could not be made: ${textOf(error)}`;
    }
    return new Crash(`the ilo module failed in itself (${textOf(thrown)}); ${after}`, { cause: thrown });
}

/** Something of the module that is freed by hand. */
interface Handle {
    free(): void;
}

/** Something of one instance, which is made again for another where that is possible. */
export class Held<T extends Handle> {
    private of = instance;

    constructor(
        private readonly make: (module: Module) => T,
        private handle?: T,
    ) {}

    /** What it holds, in the instance of now. */
    get(): T {
        if (this.handle === undefined || this.of !== instance) {
            this.handle = call(this.make);
            this.of = instance;
        }
        return this.handle;
    }

    /** Frees it; it is made again when it is next used. */
    free(): void {
        const { handle } = this;
        this.handle = undefined;
        if (handle && this.of === instance) call(() => handle.free());
    }
}
