/** Runs whose tools answer at once: the loop without promises. */

import { isThenable } from "./json.js";
import type { Kinds } from "./given.js";
import { RUN, Loop, failureText, type RunOptions, type Under } from "./loop.js";
import type { Left } from "./quick.js";
import { Run } from "./run.js";
import type { ToolSet } from "./tools.js";
import type { Call, Outcome } from "./types.js";

export interface RunSyncOptions extends Pick<RunOptions, "tools" | "signal" | "timeout" | "onCall"> {
    /** Asks a person before each call of a tool with `confirm`; `true` allows it. */
    ask?: ((call: Call) => boolean) | undefined;
}

const { callTimeout: _, atOnce: __, ...kinds } = RUN;
export const RUN_SYNC: Kinds<RunSyncOptions> = kinds;

/** Runs to the outcome, or to a call whose tool suspends. Frees the run in any case. */
export function driveSync(run: Run | Left, tools: ToolSet, options: RunSyncOptions): Outcome {
    const { signal, timeout, onCall, ask } = options;
    try {
        return new AtOnce(run, tools, { signal, timeout, onCall, ask, atOnce: 1 }, ask).goAtOnce();
    } finally {
        (run instanceof Run ? run : run.run).dispose();
    }
}

class AtOnce extends Loop {
    constructor(
        run: Run | Left,
        tools: ToolSet,
        options: RunOptions,
        private readonly ask: RunSyncOptions["ask"],
    ) {
        super(run, tools, options);
    }

    protected override confirm(under: Under): void {
        let why = "there is nobody to ask";
        try {
            const due = this.due();
            if (this.ask && due) {
                const allowed: unknown = this.ask(due);
                if (allowed === true) return this.begin(under);
                why = isThenable(allowed) ? "`ask` gave a promise to `runSync`" : "it was refused";
                if (isThenable(allowed)) forget(allowed);
            }
        } catch (error) {
            why = `asking for it failed: ${failureText(error)}`;
        }
        this.refused(under, why);
    }

    /** A tool that does not answer at once may have changed something already. */
    protected override promised(under: Under, answer: PromiseLike<unknown>): void {
        forget(answer);
        const message = `tool \`${under.tool.name}\` gave a promise, and \`runSync\` cannot await it; use \`run\``;
        this.inDoubt(under, message);
    }

    protected override again(under: Under, retry: number): void {
        this.attempt(under, retry);
    }
}

/** A rejection of it is ignored. */
function forget(promise: PromiseLike<unknown>): void {
    Promise.resolve(promise).catch(() => {});
}
