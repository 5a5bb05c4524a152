/** Runs whose tools answer at once: the common case, with little beside the calls themselves. */

import { call, core } from "./core.js";
import { Crash } from "./errors.js";
import type { Core } from "./glue.js";
import { isThenable, parse, write, type Bounds } from "./json.js";
import { Context, milliseconds, now, type RunOptions } from "./loop.js";
import { Run, boundsOf } from "./run.js";
import type { Tool, Tools } from "./tools.js";
import type { Finished } from "./types.js";

/** What the module gives where it is not the place of a tool. */
const [VALUE, OUTCOME, NOT_TAKEN] = [-1, -2, -4];

/** What came of a call: a value, which may be a promise, or an error. */
export type Begun = { readonly context: Context } & ({ readonly value: unknown } | { readonly error: unknown });

/** A run that the loop of all runs goes on with. */
export class Left {
    constructor(
        readonly run: Run,
        /** When its time is over. */
        readonly until: number,
        /** What came of the call at which it is; nothing where that was not made. */
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
    readonly of: Tools;
    readonly tools: readonly (Tool | undefined)[];
}

/** Finds the tools that a program calls. */
export function wire(program: Core, of: Tools): Wiring {
    const names: string[] = JSON.parse(call(() => program.tools()));
    return { of, tools: names.map((name) => of.get(call(() => of.catalogue.ownName(name)) ?? name)) };
}

/** Whether runs may begin here: nothing but their tools has a say in them. */
export function isQuick({ signal, onCall }: RunOptions): boolean {
    return signal === undefined && onCall === undefined;
}

/** The bounds of an answer where a run has no limits of its own. */
let usual: Bounds | undefined;

/** Begins a run and drives it as far as its tools answer at once. */
export function quick(program: Core, wiring: Wiring, beginning: Beginning, timeout: number | undefined): Finished | Left {
    const { input, function: name, limits } = beginning;
    const until = now() + milliseconds("timeout", timeout, 600_000);
    const run = call(() => program.begin(input, name, limits, wiring.of.catalogue));
    const instance = core.current();
    let bounds = limits === undefined ? usual : undefined;
    try {
        if (now() >= until) return left(run, until);
        let next = call((module) => module.quickGo(run));
        for (;;) {
            if (next === VALUE) return ended(text(run));
            if (next === OUTCOME) return parse(text(run));
            const tool = wiring.tools[next];
            if (tool === undefined) return left(run, until);
            const context = new Context();
            let value: unknown;
            let waits: boolean;
            const given = parse(text(run));
            try {
                value = tool.call(given, context);
                waits = isThenable(value);
            } catch (error) {
                return left(run, until, { context, error });
            }
            if (core.current() !== instance) throw new Crash("the run was lost when the ilo module failed in itself");
            if (waits || now() >= until) return left(run, until, { context, value });
            bounds ??= boundsOf(call((module) => module.quickBounds(run)));
            if (limits === undefined) usual = bounds;
            const answer = write(value, bounds);
            next = typeof answer === "string" ? call((module) => module.quickAnswer(run, answer)) : NOT_TAKEN;
            if (next === NOT_TAKEN) return left(run, until, { context, value });
        }
    } finally {
        if (core.current() === instance) call((module) => module.quickEnd(run));
    }
}

function text(run: number): string {
    return call((module) => module.quickText(run));
}

/** The outcome of a run that has ended with a value: its fuel and the value. */
function ended(text: string): Finished {
    const end = text.indexOf(" ");
    const [value, fuel] = [parse(text.slice(end + 1)), Number(text.slice(0, end))];
    return { status: "ok", value, fuel, compensationFailures: [], rolledBack: [], notRolledBack: [] };
}

function left(run: number, until: number, begun?: Begun): Left {
    const handle = call((module) => module.quickTake(run));
    if (handle === undefined) throw new Crash("the run was lost when the ilo module failed in itself");
    return new Left(new Run(handle), until, begun);
}
