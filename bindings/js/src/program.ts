/** Programs: building and loading them, starting runs, running them over tools. */

import { Recording, unpack, unreadable, type Beginning, type Store } from "./durable.js";
import { BadValue, Crash, IloError, StoreError } from "./errors.js";
import { ANY, BIGINT, BYTES, NUMBER, RECORD, TEXT, checkOptions, expect, type Kind, type Kinds } from "./given.js";
import { Held } from "./instance.js";
import { jsonOf, outcomeOf, parse, textOf, type Json } from "./json.js";
import { RUN, drive, suspended, type RunOptions } from "./loop.js";
import { outputOf, typed } from "./output.js";
import { isQuick, quick, wire, type Left, type Wiring } from "./quick.js";
import { Run } from "./run.js";
import { INSPECT, shown } from "./shown.js";
import { Stream } from "./stream.js";
import { RUN_SYNC, driveSync, type RunSyncOptions } from "./sync.js";
import type { Catalogue, Core, Handle, Module, Runner } from "./runner.js";
import { TOOLS, toolsOf, withCatalogue, type GivenTools, type ToolSet } from "./tools.js";
import type { Diagnostic, Finished, Limits, Outcome, PlannedCalls, Value } from "./types.js";

export interface StartOptions {
    /** The function to run; by default the only one that no other function calls. */
    function?: string | undefined;
    limits?: Limits | undefined;
    /** `"text"`: integers past 2^53 are texts, and never a `bigint`. */
    bigint?: "text" | undefined;
}

export interface ResumeOptions extends RunOptions {
    /** The answer to the call at which the snapshot was taken. */
    answer?: unknown;
    /** The failure of that call. Without both, the call is made. */
    failure?: unknown;
    limits?: Limits | undefined;
}

/** The store that records a run, so that it outlives its process. */
export interface StoreOptions {
    store: Store;
    /**
     * The name of the run in the store. If it has a run with this name, program and input, that run is continued, or
     * its outcome returned.
     */
    name: string;
}

/** @deprecated Its name is `StoreOptions`. */
export type InStore = StoreOptions;

/** A person's decision about the call that a run of a store waits for. */
export type Decision = { /** The number of that call. */ call: number } & (
    | { /** Its answer. */ answer: unknown }
    | { /** Its failure. */ failure: unknown }
    | { /** It is made: it is approved, or was not made before, or does no harm when made twice. */ make: true }
);

export type Inputs = object | Json;

const START: Kinds<StartOptions> = { function: TEXT, limits: RECORD, bigint: BIGINT };
const STORE: Kind = [
    "an object with the functions `read` and `write`",
    (value) => typeof value?.read === "function" && typeof value.write === "function",
];
const IN_STORE: Kinds<StoreOptions> = { store: STORE, name: TEXT };
const RUN_ALL: Kinds<RunOptions & StartOptions & Partial<StoreOptions>> = { ...RUN, ...START, ...IN_STORE };
const RUN_SYNC_ALL: Kinds<RunSyncOptions & StartOptions> = { ...RUN_SYNC, ...START };
const RESUME: Kinds<ResumeOptions> = { ...RUN, limits: RECORD, answer: ANY, failure: ANY };
const TRUE: Kind = ["true", (value) => value === true];
const DECISION = { call: NUMBER, answer: ANY, failure: ANY, make: TRUE };

/** The least time of a run that is continued, in milliseconds. */
const LEAST = 1000;

/** Throws unless the decision is about the call that the run waits for. */
function check(name: string, due: number, waits: boolean, decision: Decision): void {
    checkOptions(decision, DECISION, "the decision");
    if (!waits) {
        throw new StoreError(`run \`${name}\` does not wait for a decision; continue it without one first`, "not-in-this-state");
    }
    if (decision.call !== due) {
        throw new StoreError(`run \`${name}\` waits at call ${due}, not ${decision.call}`, "other-call");
    }
    const kinds = ["answer" in decision, "failure" in decision, "make" in decision && decision.make].filter(Boolean);
    if (kinds.length !== 1) throw new TypeError("expected one of `answer`, `failure` and `make`");
}

/** Reads a part of a record. */
function readable<T>(name: string, what: string, read: () => T): T {
    try {
        return read();
    } catch (error) {
        if (error instanceof Crash) throw error;
        throw unreadable(name, `its ${what} cannot be read: ${textOf(error)}`);
    }
}

/** Continues a run of a store, whose program has been loaded. */
export async function resumeWith(
    load: (packed: Uint8Array) => Program,
    in_: StoreOptions,
    options: RunOptions,
    decision?: Decision,
): Promise<Outcome> {
    checkOptions(in_, IN_STORE, "the run");
    checkOptions(options, RUN);
    const { store, name } = in_;
    expect("`store`", store, STORE);
    expect("`name`", name, TEXT);
    const recording = await Recording.read(store, name);
    if (!recording) throw new StoreError(`there is no run \`${name}\``, "no-such-run");
    const program = readable(name, "program", () => load(unpack(recording.head.program)));
    try {
        return await program.resumeIn(recording, options, decision);
    } finally {
        program.dispose();
    }
}

/** Limits as JSON, if there are any. A number past 64 bits is as good as no limit. */
function limitsText(limits: Limits | undefined): string | undefined {
    if (!limits) return undefined;
    const most = 2n ** 63n - 1n;
    const entries = Object.entries(limits).map(([name, value]) => {
        const beyond = (typeof value === "bigint" && value > most) || (typeof value === "number" && value >= 2 ** 63);
        return [name, beyond ? most : value];
    });
    return jsonOf("limits", Object.fromEntries(entries));
}

/** A verified program; any number of runs may share it. */
export class Program<T = Value> {
    /** The warnings of its build. */
    readonly warnings: readonly Diagnostic[];
    #packed: Uint8Array;
    #held: Held<Module, Core>;
    #tools: ToolSet | undefined;
    /** Whether the tools belong to this program alone. */
    #owns: boolean;
    /** The wiring of the tools of the last run. */
    #wiring: Wiring | undefined;
    /** What its value must be. */
    readonly #output: unknown;

    /** @internal */
    constructor(
        /** @internal */
        protected readonly runner: Runner,
        core: Core,
        tools: ToolSet | undefined,
        owns: boolean,
        output?: unknown,
    ) {
        this.#output = output;
        this.warnings = JSON.parse(this.runner.call(() => core.warnings()));
        this.#packed = this.runner.call(() => core.toBytes());
        const packed = this.#packed;
        this.#held = new Held(runner, (module) => module.load(packed), core);
        this.#tools = tools;
        this.#owns = owns;
    }

    /** The program in the module. */
    protected get core(): Core {
        return this.#held.get();
    }

    /** The program, packed. */
    toBytes(): Uint8Array {
        return this.#packed.slice();
    }

    /** @internal */
    [INSPECT](): object {
        return shown("Program", { functions: () => this.functions, tools: () => this.tools, warnings: () => this.warnings });
    }

    /** The tools that the program may call. */
    get tools(): string[] {
        const core = this.#held.get();
        return JSON.parse(this.runner.call(() => core.tools()));
    }

    /** The functions, each with its parameters and their types. */
    get functions(): { [name: string]: { [parameter: string]: string } } {
        const core = this.#held.get();
        const all: { name: string; parameters: [string, string][] }[] = JSON.parse(this.runner.call(() => core.functions()));
        return Object.fromEntries(all.map(({ name, parameters }) => [name, Object.fromEntries(parameters)]));
    }

    /** The plan of a run: the most calls of each tool, and the calls that nothing rolls back. */
    plan(options: { tools?: GivenTools; function?: string } = {}): PlannedCalls[] {
        checkOptions(options, { tools: TOOLS, function: TEXT });
        const core = this.#held.get();
        const given = options.tools ?? this.#tools;
        const name = options.function;
        return withCatalogue(this.runner, given, (tools) => JSON.parse(this.runner.call(() => core.plan(tools, name))));
    }

    /** Starts a run that you drive: `run.step()` returns a call, which you answer, or the outcome. */
    start(inputs: Inputs = {}, options: StartOptions = {}): Run {
        checkOptions(options, START);
        return this.#start(inputs, options, undefined);
    }

    #start(inputs: Inputs, options: StartOptions, given: ToolSet | undefined): Run {
        const core = this.#held.get();
        const [input, limits] = [jsonOf("the input", inputs), limitsText(options.limits)];
        const name = options.function;
        const begin = (tools: Catalogue): Handle => this.runner.call(() => core.start(input, name, limits, tools));
        return new Run(this.runner, withCatalogue(this.runner, given, begin), options.bigint === "text");
    }

    /** Drives a run as far as its tools answer at once. */
    #quick(inputs: Inputs, options: StartOptions & RunOptions, tools: ToolSet): Finished | Left {
        const core = this.#held.get();
        if (this.#wiring?.of !== tools) this.#wiring = wire(this.runner, core, tools);
        const beginning = {
            input: jsonOf("the input", inputs),
            function: options.function,
            limits: limitsText(options.limits),
        };
        return quick(this.runner, core, this.#wiring, beginning, options);
    }

    /** Works with the given tools, or by default with those of the program. */
    async #over<T>(given: GivenTools | undefined, work: (tools: ToolSet) => Promise<T>): Promise<T> {
        const tools = toolsOf(this.runner, given ?? this.#tools);
        try {
            return await work(tools);
        } finally {
            if (tools !== given && tools !== this.#tools) tools.dispose();
        }
    }

    /** A run that continues from a snapshot. Its call waits for the answer. */
    restore(snapshot: Uint8Array, options: { limits?: Limits | undefined } = {}): Run {
        checkOptions(options, { limits: RECORD });
        return this.#restore(snapshot, options.limits);
    }

    #restore(snapshot: Uint8Array, given: Limits | undefined): Run {
        const core = this.#held.get();
        const limits = limitsText(given);
        expect("`snapshot`", snapshot, BYTES);
        return new Run(this.runner, this.runner.call(() => core.restore(snapshot, limits)));
    }

    /**
     * Runs over tools: those given here, else those that the program was built with.
     *
     * Up to `maxConcurrency` calls of read-only tools run in parallel; the outcome does not depend on it. With a `store`,
     * each call that may change something is recorded before it is made.
     */
    async run<U = T>(
        inputs: Inputs = {},
        options: RunOptions & StartOptions & Partial<StoreOptions> = {},
    ): Promise<Outcome<U>> {
        checkOptions(options, RUN_ALL);
        return (await this.#run(inputs, this.#expecting(options))) as Outcome<U>;
    }

    /** The options, with what the program was built to return. */
    #expecting<O extends RunOptions>(options: O): O {
        return this.#output === undefined ? options : { outputSchema: this.#output, ...options };
    }

    async #run(inputs: Inputs, options: RunOptions & StartOptions & Partial<StoreOptions>): Promise<Outcome> {
        const { store, name } = options;
        if ((store === undefined) !== (name === undefined)) throw new TypeError("expected `store` and `name` together");
        if (store !== undefined && name !== undefined) return this.#runIn(store, name, inputs, options);
        const tools = toolsOf(this.runner, options.tools ?? this.#tools);
        try {
            const found = isQuick(options) ? this.#quick(inputs, options, tools) : this.#start(inputs, options, tools);
            return "status" in found ? found : await drive(found, tools, options);
        } finally {
            if (tools !== options.tools && tools !== this.#tools) tools.dispose();
        }
    }

    /**
     * As `run`, for those who watch it: `for await (const event of stream)`, and `await stream.outcome()` for its end.
     * At most 1,024 events wait for a slow reader; of more the oldest are dropped and counted.
     */
    stream(inputs: Inputs = {}, options: RunOptions & StartOptions & Partial<StoreOptions> = {}): Stream<T> {
        checkOptions(options, RUN_ALL);
        if (options.onEvent) throw new TypeError("`stream` takes the place of `onEvent`: pass it to `run`, or read the stream");
        return new Stream((onEvent) => this.run(inputs, { ...options, onEvent }));
    }

    async #runIn(store: Store, name: string, inputs: Inputs, options: RunOptions & StartOptions): Promise<Outcome> {
        return this.#over(options.tools, async (tools) => {
            const beginning: Beginning = {
                program: this.#packed,
                function: options.function ?? null,
                input: jsonOf("the input", inputs),
                limits: limitsText(options.limits) ?? "{}",
                tools: this.#signatures(tools),
            };
            const found = await Recording.read(store, name);
            if (!found) {
                return drive(this.#start(inputs, options, tools), tools, options, Recording.fresh(store, name, beginning));
            }
            if (found.isOf(beginning)) return this.#goOn(found, tools, options);
            throw new StoreError(`run \`${name}\` is one of another program or input; take another name`, "name-taken");
        });
    }

    /**
     * As `run`, for tools that answer at once. A tool that gives a promise fails its call.
     *
     * No call is cut off: `timeout` ends the run after the call that passes it. A failed call is made again without
     * a pause.
     */
    runSync(inputs: Inputs = {}, given: RunSyncOptions & StartOptions = {}): Outcome<T> {
        checkOptions(given, RUN_SYNC_ALL);
        const options = this.#expecting(given);
        const tools = toolsOf(this.runner, options.tools ?? this.#tools);
        try {
            const found = isQuick(options) ? this.#quick(inputs, options, tools) : this.#start(inputs, options, tools);
            return ("status" in found ? found : driveSync(found, tools, options)) as Outcome<T>;
        } finally {
            if (tools !== options.tools && tools !== this.#tools) tools.dispose();
        }
    }

    #signatures(tools: ToolSet): string {
        const core = this.#held.get();
        const catalogue = tools.in(this.runner);
        return this.runner.call(() => core.signatures(catalogue));
    }

    /** Refuses an answer from outside that is no value for the run, or does not fit what is expected of it. */
    #hold(run: Run, tool: string, expects: string | undefined, answer: unknown): void {
        const text = run.written(answer);
        if (expects === undefined) return;
        const why = this.runner.call((module) => module.unexpected(expects, text));
        if (why !== undefined) throw new BadValue(`the answer does not fit tool \`${tool}\`: ${why}`);
    }

    /** Continues a run of a store, unless somebody has to decide first. */
    async #goOn(recording: Recording, tools: ToolSet, options: RunOptions, decision?: Decision): Promise<Outcome> {
        const { name, state } = recording;
        if (!state) throw new IloError("the run is not in the store");
        if (state.state === "ended") {
            if (decision) throw new StoreError(`run \`${name}\` has ended`, "not-in-this-state");
            return typed(outcomeOf(state.outcome, options.bigint === "text"), outputOf(options.outputSchema));
        }
        const core = this.#held.get();
        const catalogue = tools.in(this.runner);
        this.runner.call(() => core.need(catalogue));
        const { call: due, left } = state;
        const snapshot = readable(name, "snapshot", () => unpack(state.snapshot));
        const waits = state.state !== "calling";
        if (waits && !decision && !(state.state === "asking" && options.ask)) {
            return suspended({ snapshot, call: due, reason: state.reason, state: state.state });
        }
        if (decision) check(name, due.number, waits, decision);
        const tool = tools.get(this.runner.call(() => catalogue.ownName(due.tool)) ?? due.tool);
        if (state.state === "calling" && !(state.again && tool?.idempotent)) {
            const reason = `tool \`${due.tool}\` may have been called before the run was cut off`;
            const found = suspended({ snapshot, call: due, reason, state: "doubt" });
            await recording.waits(found, left, this.runner.call(() => catalogue.expects(due.tool)));
            return found;
        }
        const limits = parse(recording.head.limits);
        const run = readable(name, "snapshot", () => this.#restore(snapshot, limits));
        const stored = options.acceptChanges ? undefined : recording.head.tools;
        const isMade = state.state !== "asking";
        const misfit = stored === undefined ? undefined : run.misfit(catalogue, stored, isMade);
        if (misfit !== undefined) {
            run.dispose();
            return suspended({ snapshot, call: due, reason: `a tool has changed: ${misfit}`, state: "blocked" });
        }
        try {
            if (decision && "answer" in decision) {
                // A record of an older release has no schema: then that of the tool of today holds.
                const expects = "expects" in state ? state.expects : this.runner.call(() => catalogue.expects(due.tool));
                this.#hold(run, due.tool, expects ?? undefined, decision.answer);
                run.answer(decision.answer);
            } else if (decision && "failure" in decision) {
                run.written(decision.failure);
                run.fail(decision.failure);
            } else if (decision) recording.allowed = due.number;
            await recording.claim();
        } catch (error) {
            run.dispose();
            throw error;
        }
        return drive(run, tools, { ...options, timeout: Math.max(left, LEAST) }, recording);
    }

    /** @internal */
    async resumeIn(recording: Recording, options: RunOptions, decision?: Decision): Promise<Outcome> {
        return this.#over(options.tools, (tools) => this.#goOn(recording, tools, options, decision));
    }

    /** Continues from a snapshot with the answer to its call, or its failure. Without both, the call is made. */
    async resume(snapshot: Uint8Array, given: ResumeOptions = {}): Promise<Outcome<T>> {
        checkOptions(given, RESUME);
        const options = this.#expecting(given);
        const [answers, fails] = ["answer" in options, "failure" in options];
        if (answers && fails) throw new TypeError("expected `answer` or `failure`, found both");
        return this.#over(options.tools, (tools) => {
            const core = this.#held.get();
            const catalogue = tools.in(this.runner);
            this.runner.call(() => core.need(catalogue));
            const run = this.#restore(snapshot, options.limits);
            try {
                if (answers) {
                    const due = run.waiting;
                    if (due) this.#hold(run, due.tool, this.runner.call(() => catalogue.expects(due.tool)), options.answer);
                    run.answer(options.answer);
                }
                if (fails) {
                    run.written(options.failure);
                    run.fail(options.failure);
                }
            } catch (error) {
                run.dispose();
                throw error;
            }
            return drive(run, tools, options) as Promise<Outcome<T>>;
        });
    }

    /** Frees its memory. It is read again from its bytes if it is used afterwards. */
    dispose(): void {
        this.#held.free();
        if (this.#owns) this.#tools?.dispose();
    }

    [Symbol.dispose](): void {
        this.dispose();
    }
}
