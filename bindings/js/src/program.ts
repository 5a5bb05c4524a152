/** Programs: building and loading them, starting runs, running them over tools. */

import { Held, call } from "./core.js";
import { BadValue } from "./errors.js";
import type { Catalogue, Core } from "./glue.js";
import { WIDE, write, type Json } from "./json.js";
import { drive, type RunOptions } from "./loop.js";
import { Run } from "./run.js";
import type { CheckOptions } from "./source.js";
import { toolsOf, withCatalogue, type GivenTools, type Tools } from "./tools.js";
import type { Diagnostic, Limits, Outcome, PlannedCalls } from "./types.js";

export interface BuildOptions extends CheckOptions {
    /** Whether positions in the source are left out of the program. */
    strip?: boolean;
}

export interface StartOptions {
    /** The function to run; by default the only one that no other calls. */
    function?: string | undefined;
    limits?: Limits | undefined;
}

export interface ResumeOptions extends RunOptions {
    /** The answer to the call at which the snapshot was taken. */
    answer?: unknown;
    /** Its failure. Without both, the call is made. */
    failure?: unknown;
    limits?: Limits | undefined;
}

export type Inputs = { readonly [name: string]: unknown } | Json;

/** Builds a program; throws `CompileError`, whose message is for the model that wrote the source. */
export function build(source: string, options: BuildOptions = {}): Program {
    const { notation, strip = false } = options;
    const tools = options.tools === undefined ? undefined : toolsOf(options.tools);
    try {
        const core = withCatalogue(tools, (known) => call((module) => module.build(source, known, notation, strip)));
        return new Program(core, tools, tools !== options.tools);
    } catch (error) {
        if (tools !== options.tools) tools?.dispose();
        throw error;
    }
}

/** Reads and verifies a program that `Program.toBytes` packed. */
export function load(packed: Uint8Array): Program {
    return new Program(call((module) => module.load(packed)), undefined, false);
}

/** JSON of inputs or limits. */
function text(what: string, value: unknown): string {
    const written = write(value, WIDE);
    if (typeof written === "string") return written;
    throw new BadValue("path" in written ? written.message(what) : written.message(what, WIDE));
}

/** What is past 64 bits is as good as no limit. */
function limitsText(limits: Limits | undefined): string {
    if (!limits) return "{}";
    const most = 2n ** 63n - 1n;
    const entries = Object.entries(limits).map(([name, value]) => {
        const beyond = (typeof value === "bigint" && value > most) || (typeof value === "number" && value >= 2 ** 63);
        return [name, beyond ? most : value];
    });
    return text("limits", Object.fromEntries(entries));
}

/** A verified program; any number of runs may share it. */
export class Program {
    /** What was found when it was built, none of it an error. */
    readonly warnings: readonly Diagnostic[];
    #packed: Uint8Array;
    #held: Held<Core>;
    #tools: Tools | undefined;
    /** Whether the tools are this program's alone. */
    #owns: boolean;

    /** @internal */
    constructor(core: Core, tools: Tools | undefined, owns: boolean) {
        this.warnings = JSON.parse(call(() => core.warnings()));
        this.#packed = call(() => core.toBytes());
        const packed = this.#packed;
        this.#held = new Held((module) => module.load(packed), core);
        this.#tools = tools;
        this.#owns = owns;
    }

    /** The program, packed. */
    toBytes(): Uint8Array {
        return this.#packed.slice();
    }

    /** The tools that the program may call. */
    get tools(): string[] {
        const core = this.#held.get();
        return JSON.parse(call(() => core.tools()));
    }

    /** The functions, each with its parameters and their types. */
    get functions(): { [name: string]: { [parameter: string]: string } } {
        const core = this.#held.get();
        const all: { name: string; parameters: [string, string][] }[] = JSON.parse(call(() => core.functions()));
        return Object.fromEntries(all.map(({ name, parameters }) => [name, Object.fromEntries(parameters)]));
    }

    /** A listing of the bytecode. */
    disassemble(): string {
        const core = this.#held.get();
        return call(() => core.disassemble());
    }

    /** What a run would do: how often it can call each tool, and what nothing rolls back. */
    plan(options: { tools?: GivenTools; function?: string } = {}): PlannedCalls[] {
        const core = this.#held.get();
        const given = options.tools ?? this.#tools;
        return withCatalogue(given, (tools) => JSON.parse(call(() => core.plan(tools, options.function))));
    }

    /** Starts a run that you drive: `run.step()` gives a call, which you answer, or the outcome. */
    start(inputs: Inputs = {}, options: StartOptions = {}): Run {
        return this.#start(inputs, options, undefined);
    }

    #start(inputs: Inputs, options: StartOptions, given: Tools | undefined): Run {
        const core = this.#held.get();
        const [input, limits] = [text("the input", inputs), limitsText(options.limits)];
        const begin = (tools: Catalogue): Run => new Run(call(() => core.start(input, options.function, limits, tools)));
        return withCatalogue(given, begin);
    }

    /** Works with the tools that were given, else those of the program. */
    async #over<T>(given: GivenTools | undefined, work: (tools: Tools) => Promise<T>): Promise<T> {
        const tools = toolsOf(given ?? this.#tools);
        try {
            return await work(tools);
        } finally {
            if (tools !== given && tools !== this.#tools) tools.dispose();
        }
    }

    /** A run that goes on from a snapshot; its call waits for the answer. */
    restore(snapshot: Uint8Array, options: { limits?: Limits | undefined } = {}): Run {
        const core = this.#held.get();
        const limits = limitsText(options.limits);
        return new Run(call(() => core.restore(snapshot, limits)));
    }

    /**
     * Runs over tools: those given here, else those that the program was built with.
     *
     * Up to `atOnce` calls of read-only tools run side by side; the outcome does not depend on it.
     */
    async run(inputs: Inputs = {}, options: RunOptions & StartOptions = {}): Promise<Outcome> {
        return this.#over(options.tools, (tools) => drive(this.#start(inputs, options, tools), tools, options));
    }

    /** Goes on from a snapshot with the answer to its call, or its failure; without both the call is made. */
    async resume(snapshot: Uint8Array, options: ResumeOptions = {}): Promise<Outcome> {
        const [answers, fails] = ["answer" in options, "failure" in options];
        if (answers && fails) throw new TypeError("expected `answer` or `failure`, found both");
        return this.#over(options.tools, (tools) => {
            const core = this.#held.get();
            call(() => core.need(tools.catalogue));
            const run = this.restore(snapshot, options);
            try {
                if (answers) run.answer(options.answer);
                if (fails) run.fail(options.failure);
            } catch (error) {
                run.dispose();
                throw error;
            }
            return drive(run, tools, options);
        });
    }

    /** Frees its memory; it is read again from its bytes where it is used after that. */
    dispose(): void {
        this.#held.free();
        if (this.#owns) this.#tools?.dispose();
    }

    [Symbol.dispose](): void {
        this.dispose();
    }
}
