/** A run, step by step: each step ends with a call that waits for its answer, or with the outcome. */

import { BadValue, Crash, NotWaiting } from "./errors.js";
import { NUMBER, expect } from "./given.js";
import { Json, Past, isOf, parse, withTexts, write, type Bounds, type NoValue } from "./json.js";
import type { Catalogue, Handle, Runner } from "./runner.js";
import { INSPECT, shown } from "./shown.js";
import type { Call, Finished } from "./types.js";

/** The fuel of one call of the module in `step`. */
const SLICE = 5_000_000;

/** A run that you drive. Dispose of it if you do not run it to its end: its memory is outside JavaScript. */
export class Run {
    #handle: Handle | undefined;
    readonly #of: number;
    #bounds: Bounds | undefined;

    /** @internal */
    constructor(
        /** @internal */
        readonly runner: Runner,
        handle: Handle,
        private readonly asText = false,
    ) {
        this.#handle = handle;
        this.#of = runner.current();
    }

    /** @internal */
    [INSPECT](): object {
        return shown("Run", { disposed: () => this.#handle === undefined, fuel: () => this.fuel });
    }

    #own(): Handle {
        if (!this.#handle) throw new NotWaiting("the run is disposed, or driven by `program.run`");
        if (this.#of !== this.runner.current()) throw new Crash("the run was lost when the ilo module failed in itself");
        return this.#handle;
    }

    /** @internal Gives the run away. */
    take(): Handle {
        const handle = this.#own();
        this.#handle = undefined;
        return handle;
    }

    /** Continues to the next call or the end. A waiting call is returned again, and so is the outcome. */
    step(): Call | Finished {
        const handle = this.#own();
        for (;;) {
            const found = this.runner.call(() => handle.step(SLICE));
            if (found !== undefined) return this.#found(found);
        }
    }

    /** As `step`, within some fuel: nothing if there is more to compute. The outcome is the same. */
    stepWithin(fuel: number): Call | Finished | undefined {
        expect("`fuel`", fuel, NUMBER);
        const handle = this.#own();
        const found = this.runner.call(() => handle.step(Math.min(Math.max(Math.trunc(fuel), 1), 0xffff_ffff)));
        return found === undefined ? undefined : this.#found(found);
    }

    /** A call, or an outcome with its methods. */
    #found(text: string): Call | Finished {
        const found = parse(text, this.asText);
        return found.status === "call" ? found : withTexts(found, () => text);
    }

    /**
     * Answers the waiting call. Throws `BadValue` for a value that has no form in the language; the call still waits
     * then.
     */
    answer(value: unknown): void {
        this.#settle(value, false);
    }

    /** Fails the waiting call, with a text or another value that the program gets. */
    fail(failure: unknown): void {
        this.#settle(failure, true);
    }

    /**
     * @internal
     *
     * An answer or a failure from outside as JSON. Where a tool's own would end the run, this is a `BadValue`.
     */
    written(value: unknown): string {
        const bounds = this.#within();
        const text = write(value, bounds);
        // A text is as good as its value; one that is no JSON is refused where the run takes it.
        const read = typeof text === "string" && isOf(value, Json) ? write(valueOf(text), bounds) : text;
        if (read instanceof Past) throw new BadValue(read.message("the answer", bounds));
        if (typeof text === "string") return text;
        throw new BadValue((text as NoValue).message("the answer"));
    }

    #within(): Bounds {
        const handle = this.#own();
        return (this.#bounds ??= boundsOf(this.runner.call(() => handle.bounds())));
    }

    #settle(value: unknown, failed: boolean): void {
        const handle = this.#own();
        const text = write(value, this.#within());
        if (typeof text === "string") return this.runner.call(() => (failed ? handle.fail(text) : handle.answer(text)));
        if (text instanceof Past) return this.runner.call(() => handle.refuse(text.bound));
        throw new BadValue(text.message("the answer"));
    }

    /** @internal Why a call that was not made yet no longer fits its tool. */
    misfit(tools: Catalogue, stored: string, isMade: boolean): string | undefined {
        const handle = this.#own();
        return this.runner.call(() => handle.misfit(tools, stored, isMade));
    }

    /** Records that the waiting call is made now and may change something. */
    mayChange(): void {
        const handle = this.#own();
        this.runner.call(() => handle.mayChange());
    }

    /** Cancels the run: the next steps return the calls of its rollbacks, then fault `cancelled`. */
    stop(): void {
        const handle = this.#own();
        this.runner.call(() => handle.stop());
    }

    /** The run as bytes, while it waits for the answer to a call. `program.restore` continues from them anywhere. */
    snapshot(): Uint8Array {
        const handle = this.#own();
        return this.runner.call(() => handle.snapshot());
    }

    /** The waiting call. */
    get waiting(): Call | undefined {
        const handle = this.#own();
        const found = this.runner.call(() => handle.waiting());
        return found === undefined ? undefined : parse(found, this.asText);
    }

    /** The fuel that the run has used. */
    get fuel(): number {
        const handle = this.#own();
        return this.runner.call(() => handle.fuel());
    }

    /** Frees its memory. */
    dispose(): void {
        const handle = this.#handle;
        this.#handle = undefined;
        if (handle && this.#of === this.runner.current()) this.runner.call(() => handle.free());
    }

    [Symbol.dispose](): void {
        this.dispose();
    }
}

/** The value of a text; nothing if it is no JSON. */
function valueOf(text: string): unknown {
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}

/** The bounds of an answer, from the module. */
export function boundsOf(given: Float64Array): Bounds {
    const [depth = 0, values = 0, bytes = 0] = given;
    return { depth, values, bytes };
}
