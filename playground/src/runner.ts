// Runs programs in the worker: over mocks, or step by step with a person who answers.

import * as core from "./core.js";
import { definition, withTools } from "./inspect.js";
import { parse, print, shortened } from "./json.js";
import { Mock } from "./mocks.js";
import type { Finish, RunEvent, Start } from "./protocol.js";

/** Characters of a value that are shown. */
const SHOWN = 20_000;
/** The time limit of a person's answer in milliseconds: a year, the longest that the package allows. */
const PATIENCE = 24 * 3_600_000;

type Given = { ok: boolean; value: core.Value };
type Body = { [name: string]: core.Value };

const show = (value: core.Value): string => shortened(print(value), SHOWN);

/** One run at a time. */
export class Runner {
    readonly #say: (event: RunEvent) => void;
    #run: OneRun | null = null;

    constructor(say: (event: RunEvent) => void) {
        this.#say = say;
    }

    /** Starts a run. The previous one is stopped and dropped. */
    start(start: Start): void {
        this.#run?.abandon();
        const run = new OneRun(start, (event) => this.#run === run && this.#say(event));
        this.#run = run;
        void run.drive();
    }

    /** Passes a person's answer to the run. Returns an error if there is one. */
    answer(key: number, ok: boolean, json: string): string | null {
        let value: core.Value;
        try {
            value = parse(json);
        } catch (error) {
            return error instanceof Error ? error.message : String(error);
        }
        return this.#run?.answer(key, { ok, value }) ?? null;
    }

    stop(): void {
        this.#run?.stop();
    }
}

class OneRun {
    #begun = performance.now();
    readonly #mocks = new Map<string, Mock>();
    readonly #people = new Map<number, (given: Given) => void>();
    /** The keys of calls over tools, by tool and arguments. */
    readonly #unjoined = new Map<string, number[]>();
    readonly #abort = new AbortController();
    #calls = 0;
    #steps: core.Run | null = null;
    #abandoned = false;

    constructor(
        readonly start: Start,
        readonly say: (event: RunEvent) => void,
    ) {
        for (const [name, tool] of withTools(start.tools).definitions ?? []) {
            if (tool.answers) this.#mocks.set(name, new Mock(name, tool.answers));
        }
    }

    get #at(): number {
        return performance.now() - this.#begun;
    }

    /** Runs to the end, whatever it is. */
    async drive(): Promise<void> {
        try {
            const inputs = this.#inputs();
            using program = core.build(this.start.source, withTools(this.start.tools).options);
            this.#begun = performance.now();
            const outcome = this.start.stepwise ? await this.#stepwise(program, inputs) : await this.#atOnce(program, inputs);
            this.say(outcome === null ? this.#finish("stopped", "") : this.#ended(outcome));
        } catch (error) {
            // The page replaces a worker that trapped, so this must reach it as a failure of the worker.
            if (core.isTrap(error)) {
                setTimeout(() => {
                    throw error;
                });
                return;
            }
            const problems = error instanceof core.StartError ? error.problems.map((problem) => problem.text).join("\n") : null;
            this.say(this.#finish("refused", problems ?? (error instanceof Error ? error.message : String(error))));
        }
    }

    #inputs(): Body {
        const text = this.start.inputs.trim();
        const inputs = text === "" ? {} : parse(text);
        if (typeof inputs !== "object" || inputs === null || Array.isArray(inputs)) {
            throw new Error("the inputs are a record: {\"name\": value}");
        }
        return inputs;
    }

    get #options() {
        return { limits: { fuel: this.start.fuel }, ...(this.start.function === null ? {} : { function: this.start.function }) };
    }

    async #atOnce(program: core.Program, inputs: Body): Promise<core.Outcome> {
        const definitions = withTools(this.start.tools).definitions;
        const names = definitions === null ? program.tools : [...definitions.keys()];
        const entries = names.map((name) => {
            const known = definitions?.get(name);
            const mock = this.#mocks.get(name);
            const base = known === undefined ? {} : definition(known);
            const ahead = mock?.mayRunAhead === true && known?.readOnly === true;
            const execute = (args: Body) => this.#call(name, args);
            return [name, { ...base, readOnly: ahead, idempotent: known?.idempotent || known?.readOnly, timeout: PATIENCE, execute }] as const;
        });
        return program.run(inputs, {
            tools: new core.Tools(Object.fromEntries(entries)),
            signal: this.#abort.signal,
            timeout: PATIENCE,
            onCall: (made) => this.#made(made),
            ...this.#options,
        });
    }

    /** Makes a call of a run over tools. */
    async #call(tool: string, args: Body): Promise<core.Value> {
        const key = this.#began(tool, args, false);
        const call = `${tool} ${print(args)}`;
        this.#unjoined.set(call, [...(this.#unjoined.get(call) ?? []), key]);
        const mock = this.#mocks.get(tool);
        const given = mock ? await this.#mocked(mock, args) : await this.#asked(key, { line: null, suggestion: null, snapshot: null, fuel: null });
        this.#answered(key, given);
        if (given.ok) return given.value;
        throw new core.Failure(given.value);
    }

    /** Matches a call that the run has made with an ended one: the oldest of this tool with these arguments. */
    #made({ tool, arguments: args, rollback, ahead }: core.Made): void {
        const name = withTools(this.start.tools).options.tools?.ownName(tool) ?? tool;
        const waiting = this.#unjoined.get(`${name} ${print(args)}`);
        const key = waiting?.shift();
        if (key !== undefined) this.say({ kind: "made", key, rollback, ahead });
    }

    async #mocked(mock: Mock, args: Body): Promise<Given> {
        const { delay, ok, value } = mock.answer(args);
        if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
        return { ok, value };
    }

    /** Runs with a person who answers each call; nothing if the run is abandoned. */
    async #stepwise(program: core.Program, inputs: Body): Promise<core.Finished | null> {
        const { tools } = withTools(this.start.tools).options;
        using run = program.start(inputs, this.#options);
        this.#steps = run;
        for (;;) {
            const stopped = run.step();
            if (!("tool" in stopped)) return stopped;
            const key = this.#began(stopped.tool, stopped.arguments, stopped.isRollback);
            const mock = this.#mocks.get(tools?.ownName(stopped.tool) ?? stopped.tool);
            const given = await this.#asked(key, {
                line: stopped.line ?? null,
                suggestion: this.#suggestion(mock, stopped.arguments),
                snapshot: run.snapshot().length,
                fuel: run.fuel,
            });
            if (this.#abandoned) return null;
            if (mock) mock.answer(stopped.arguments);
            this.#answered(key, given);
            if (given.ok) run.answer(given.value);
            else run.fail(given.value);
        }
    }

    #suggestion(mock: Mock | undefined, args: Body): { ok: boolean; json: string } | null {
        const answer = mock?.peek(args);
        return answer ? { ok: answer.ok, json: print(answer.value) } : null;
    }

    #began(tool: string, args: Body, rollback: boolean): number {
        const key = ++this.#calls;
        this.say({ kind: "began", key, tool, arguments: show(args), at: this.#at, rollback });
        return key;
    }

    #answered(key: number, { ok, value }: Given): void {
        this.say({ kind: "ended", key, ok, value: show(value), at: this.#at });
    }

    #asked(key: number, about: { line: number | null; suggestion: { ok: boolean; json: string } | null; snapshot: number | null; fuel: number | null }): Promise<Given> {
        const given = new Promise<Given>((resolve) => this.#people.set(key, resolve));
        this.say({ kind: "waiting", key, ...about });
        return given;
    }

    /** Takes the answer of a person. */
    answer(key: number, given: Given): string | null {
        const waits = this.#people.get(key);
        if (waits === undefined) return "this call does not wait any more";
        this.#people.delete(key);
        waits(given);
        return null;
    }

    /** Cancels the run. Rollbacks are still made. */
    stop(): void {
        this.#steps?.stop();
        this.#abort.abort();
        for (const [key, waits] of this.#people) {
            this.#people.delete(key);
            waits({ ok: false, value: "cancelled" });
        }
    }

    /** Another run replaces this one, which reports nothing more. */
    abandon(): void {
        this.#abandoned = true;
        this.stop();
    }

    #finish(status: Finish["status"], text: string): Finish {
        return { kind: "finish", status, text: shortened(text, SHOWN), code: null, line: null, fuel: null, at: this.#at, notes: [] };
    }

    #ended(outcome: core.Outcome): Finish {
        if (outcome.status === "suspended") return this.#finish("stopped", outcome.reason);
        const text = outcome.status === "ok" ? show(outcome.value) : outcome.status === "err" ? show(outcome.error) : outcome.message;
        const notes = [
            ...outcome.rolledBack.map(({ tool, number }) => `rolled back by ${tool}, call ${number}`),
            ...outcome.compensationFailures.map(({ tool, error }) => `the rollback ${tool} failed: ${shortened(print(error), 300)}`),
            ...outcome.notRolledBack.map(({ tool, why }) => `${tool} was not rolled back: ${why}`),
        ];
        const fault = outcome.status === "fault" ? { code: outcome.code, line: outcome.line ?? null } : {};
        return { ...this.#finish(outcome.status, text), fuel: outcome.fuel, notes: notes.slice(0, 100), ...fault };
    }
}
