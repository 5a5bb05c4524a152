/** The module of guided generation, and objects of JavaScript in its memory. */

import * as glue from "../guide_glue.js";
import { Crash, IloError } from "../errors.js";
import { BYTES, TEXT, expect, type Kind } from "../given.js";
import { Instance, type Handle, type Source } from "../instance.js";

export const core = new Instance<typeof glue>(glue, "guide.wasm", "vocabularies, sessions and guides");

/**
 * Loads the module. Needed only in browsers, where it is fetched: by default from beside the package. Elsewhere
 * the module is loaded when it is first used.
 */
export async function init(source?: Source | Promise<Response>): Promise<void> {
    return core.init(source);
}

/** An object of the module. Its memory is outside JavaScript: free it, or declare it with `using`. */
export abstract class Owned<T extends Handle> {
    #handle: T | undefined;
    readonly #of: number;

    /** @internal */
    constructor(handle: T) {
        this.#handle = handle;
        this.#of = core.current();
    }

    /** @internal */
    get handle(): T {
        const what = this.constructor.name;
        if (!this.#handle) throw new IloError(`the ${what} was freed`);
        if (this.#of !== core.current()) throw new Crash(`the ${what} was lost when the ilo module failed in itself`);
        return this.#handle;
    }

    /** @internal Calls the module with it. An error that the work itself throws would count as a trap. */
    protected use<R>(work: (handle: T) => R): R {
        const { handle } = this;
        return core.call(() => work(handle));
    }

    /** Frees its memory. It cannot be used afterwards. */
    free(): void {
        const handle = this.#handle;
        this.#handle = undefined;
        if (handle && this.#of === core.current()) core.call(() => handle.free());
    }

    [Symbol.dispose](): void {
        this.free();
    }
}

/** Checks a number for the module. */
export function natural(name: string, number: number): number {
    if (Number.isInteger(number) && number >= 0 && number < 2 ** 32) return number;
    throw new RangeError(`\`${name}\` expects a number from 0 to 2^32 - 1, found ${String(number)}`);
}

const encoder = new TextEncoder();
const EITHER: Kind = ["a string or a Uint8Array", (value) => TEXT[1](value) || BYTES[1](value)];

/** The bytes of a text. */
export function bytesOf(what: string, text: string | Uint8Array): Uint8Array {
    expect(what, text, EITHER);
    return typeof text === "string" ? encoder.encode(text) : text;
}
