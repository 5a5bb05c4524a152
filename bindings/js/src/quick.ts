/** Runs whose tools answer at once: the common case, with little overhead beside the calls. */

import { Crash } from "./errors.js";
import { isThenable, outcomeOf, parse, withTexts, write, type Bounds } from "./json.js";
import { now, timesOf, type RunOptions, type Times } from "./loop.js";
import { Context } from "./observers.js";
import { Run, boundsOf } from "./run.js";
import type { Core, Runner } from "./runner.js";
import { isTraced } from "./spans.js";
import type { Tool, ToolSet } from "./tools.js";
import type { Finished } from "./types.js";

/** Results of the module that are not the index of a tool. */
const [VALUE, OUTCOME, NOT_TAKEN] = [-1, -2, -4];

/** The result of a call: a value, which may be a promise, or an error. */
export type Begun = { readonly context: Context } & ({ readonly value: unknown } | { readonly error: unknown });

/** A run that the general loop continues. */
export class Left {
    constructor(
        readonly run: Run,
        /** The time at which it is over. */
        readonly until: number,
        /** The result of the call that it waits for; nothing if that was not made. */
        readonly begun: Begun | undefined,
    ) {}
}

/** A run to begin, as the module takes it. */
export interface Beginning {
    readonly input: string;
    readonly function: string | undefined;
    readonly limits: string | undefined;
}

/** The tools of a program in its order. */
export interface Wiring {
    readonly of: ToolSet;
    readonly tools: readonly (Tool | undefined)[];
}

/** Finds the tools that a program calls. */
export function wire(runner: Runner, program: Core, of: ToolSet): Wiring {
    const names: string[] = JSON.parse(runner.call(() => program.tools()));
    const catalogue = of.in(runner);
    return { of, tools: names.map((name) => of.get(runner.call(() => catalogue.ownName(name)) ?? name)) };
}

/** Whether runs may begin here: nothing but their tools decides about calls. */
export function isQuick({ signal, onCall, onEvent, outputSchema }: RunOptions): boolean {
    return signal === undefined && onCall === undefined && onEvent === undefined && outputSchema === undefined && !isTraced();
}

/** The bounds of an answer in a run without limits of its own. */
let usual: Bounds | undefined;

/** Begins a run and drives it as far as its tools answer at once. */
export function quick(
    runner: Runner,
    program: Core,
    wiring: Wiring,
    beginning: Beginning,
    options: Times & Pick<RunOptions, "bigint" | "context">,
): Finished | Left {
    const { input, function: name, limits } = beginning;
    const until = now() + timesOf(options).run;
    const asText = options.bigint === "text";
    const catalogue = wiring.of.in(runner);
    const run = runner.call(() => program.begin(input, name, limits, catalogue));
    const instance = runner.current();
    let bounds = limits === undefined ? usual : undefined;
    try {
        if (now() >= until) return left(runner, run, until);
        let next = runner.call((module) => module.quickGo(run));
        for (;;) {
            if (next === VALUE) return ended(text(runner, run), asText);
            if (next === OUTCOME) return outcomeOf(text(runner, run), asText);
            const tool = wiring.tools[next];
            if (tool === undefined) return left(runner, run, until);
            const context = new Context(options.context);
            let value: unknown;
            let waits: boolean;
            const given = parse(text(runner, run), asText);
            try {
                value = tool.call(given, context);
                waits = isThenable(value);
            } catch (error) {
                return left(runner, run, until, { context, error });
            }
            if (runner.current() !== instance) throw new Crash("the run was lost when the ilo module failed in itself");
            if (waits || now() >= until) return left(runner, run, until, { context, value });
            bounds ??= boundsOf(runner.call((module) => module.quickBounds(run)));
            if (limits === undefined) usual = bounds;
            const answer = write(value, bounds);
            next = typeof answer === "string" ? runner.call((module) => module.quickAnswer(run, answer)) : NOT_TAKEN;
            if (next === NOT_TAKEN) return left(runner, run, until, { context, value });
        }
    } finally {
        if (runner.current() === instance) runner.call((module) => module.quickEnd(run));
    }
}

function text(runner: Runner, run: number): string {
    return runner.call((module) => module.quickText(run));
}

/** The outcome of a run that has ended with a value: its fuel and the value. */
function ended(text: string, asText: boolean): Finished {
    const end = text.indexOf(" ");
    const [json, fuel] = [text.slice(end + 1), Number(text.slice(0, end))];
    const outcome = { status: "ok", value: parse(json, asText), fuel, compensationFailures: [], rolledBack: [], notRolledBack: [] } as const;
    const rest = `"fuel":${fuel},"compensationFailures":[],"rolledBack":[],"notRolledBack":[]`;
    return withTexts(outcome, () => `{"status":"ok","value":${json},${rest}}`);
}

function left(runner: Runner, run: number, until: number, begun?: Begun): Left {
    const handle = runner.call((module) => module.quickTake(run));
    if (handle === undefined) throw new Crash("the run was lost when the ilo module failed in itself");
    return new Left(new Run(runner, handle), until, begun);
}
