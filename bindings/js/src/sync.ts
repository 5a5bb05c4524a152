/** Runs whose tools answer at once: the loop without promises. */

import { isThenable } from "./json.js";
import type { Kinds } from "./given.js";
import type { Deny } from "./errors.js";
import { RUN, Loop, decision, promiseOf, refusal, type RunOptions, type Under } from "./loop.js";
import type { Left } from "./quick.js";
import { Run } from "./run.js";
import type { ToolSet } from "./tools.js";
import type { Call, Outcome } from "./types.js";

export interface RunSyncOptions extends Pick<RunOptions, "tools" | "signal" | "timeout" | "onCall" | "onEvent" | "toolCallId" | "outputSchema" | "context" | "onError" | "bigint"> {
    /** Asks a person before each call of a tool with `confirm`; `true` allows it, `false` or a `Deny` refuses it. */
    ask?: ((call: Call) => boolean | Deny) | undefined;
}

const { callTimeout: _, atOnce: __, maxConcurrency: ___, acceptChanges: ____, ...kinds } = RUN;
export const RUN_SYNC: Kinds<RunSyncOptions> = kinds;

/** Runs to the outcome, or to a call whose tool suspends. Frees the run in any case. */
export function driveSync(run: Run | Left, tools: ToolSet, options: RunSyncOptions): Outcome {
    try {
        return new AtOnce(run, tools, { ...options, atOnce: 1 }, options.ask).goAtOnce();
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
        try {
            const due = this.due();
            if (!this.ask || !due) return this.refused(under, "there is nobody to ask");
            const question = this.shown(under, due);
            if (!question) return;
            const found: unknown = this.ask(question);
            if (isThenable(found)) {
                forget(found);
                throw new TypeError("`ask` gave a promise to `runSync`");
            }
            const allowed = decision(found);
            if (allowed === true) return this.begin(under);
            this.refused(under, refusal(allowed));
        } catch (error) {
            this.observers.failed("ask", error);
            this.refused(under, "nobody could be asked");
        }
    }

    /** A tool that does not answer at once may have changed something already. */
    protected override promised(under: Under, answer: PromiseLike<unknown>): void {
        forget(answer);
        under.context.abort("`runSync` awaits nothing");
        const message = `tool \`${under.tool.name}\` gave a promise, and \`runSync\` cannot await it; use \`run\``;
        this.inDoubt(under, message);
    }

    protected override again(under: Under, retry: number): void {
        this.attempt(under, retry);
    }
}

/** A rejection of it is ignored. */
function forget(promise: PromiseLike<unknown>): void {
    promiseOf(promise).catch(() => {});
}
