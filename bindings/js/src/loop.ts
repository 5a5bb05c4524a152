/** Runs over tools: the loop that makes the calls, in parallel if their tools only read. */

import { SCHEMA } from "./definitions.js";
import { pack, type Recording, type Waits } from "./durable.js";
import { Deny, Failure, IloError, Suspend } from "./errors.js";
import { ANY, BIGINT, FLAG, FUNCTION, NUMBER, SIGNAL, TEXT, type Kinds } from "./given.js";
import {
    Past, WIDE, isOf, isThenable, jsonOf, outcomeOf, parse, textOf, wellFormed, withTexts, write, type Bounds, type Texts,
} from "./json.js";
import { Context, Observers } from "./observers.js";
import type { Begun, Left } from "./quick.js";
import { looked, outputOf, type Looked, type Output } from "./output.js";
import { Run, boundsOf } from "./run.js";
import type { Drive, Runner } from "./runner.js";
import { Spans, isTraced } from "./spans.js";
import { TOOLS, type GivenTools, type Tool, type ToolSet } from "./tools.js";
import type { Call, CallResult, Outcome, RunEvent, Suspended } from "./types.js";
import { within } from "./within.js";

export interface RunOptions {
    /** The tools; by default those with which the program was built. */
    tools?: GivenTools | undefined;
    /** Cancels the run: it rolls back what it has done, and ends with fault `cancelled`. */
    signal?: AbortSignal | undefined;
    /** The time limit of the run in milliseconds; by default 600,000. */
    timeout?: number | undefined;
    /** The time limit in milliseconds of each call whose tool has none; by default 30,000. */
    callTimeout?: number | undefined;
    /** The most calls of read-only tools under way at once; by default 16. */
    maxConcurrency?: number | undefined;
    /** @deprecated Its name is `maxConcurrency`. */
    atOnce?: number | undefined;
    /** Gets each ended call. What it throws changes nothing of the run. */
    onCall?: ((made: CallResult) => void) | undefined;
    /** Gets each start and end of a call as it happens. What it throws changes nothing of the run. */
    onEvent?: ((event: RunEvent) => void) | undefined;
    /** What a framework calls this run, for its events. */
    toolCallId?: string | undefined;
    /** What the value of the run must be; by default as the program was built. Another one is fault `output-mismatch`. */
    outputSchema?: unknown;
    /** A value for `execute` of every tool, beside the signal. */
    context?: unknown;
    /**
     * Asks a person before each call of a tool with `confirm`; `true` allows it, `false` or a `Deny` refuses it. If it
     * throws, or gives anything else, or nothing before the time of the run is over, the call is not made.
     */
    ask?: ((call: Call) => boolean | Deny | Promise<boolean | Deny>) | undefined;
    /** Continues a run of a store although a tool has changed so that a call that was not made yet no longer fits. */
    acceptChanges?: boolean | undefined;
    /** `"text"`: integers past 2^53 are texts everywhere, and never a `bigint`. */
    bigint?: "text" | undefined;
    /** Gets what `onCall`, `onEvent`, `ask` or a listener of a tool's `signal` has thrown; by default a warning of the console. */
    onError?: ((error: unknown) => void) | undefined;
}

export const RUN: Kinds<RunOptions> = {
    tools: TOOLS,
    signal: SIGNAL,
    timeout: NUMBER,
    callTimeout: NUMBER,
    maxConcurrency: NUMBER,
    atOnce: NUMBER,
    onCall: FUNCTION,
    onEvent: FUNCTION,
    toolCallId: TEXT,
    outputSchema: SCHEMA,
    context: ANY,
    ask: FUNCTION,
    onError: FUNCTION,
    bigint: BIGINT,
    acceptChanges: FLAG,
};

/** The next action, as the module numbers it. */
const [START, DROP, MADE, COMPUTING, WAIT, DONE, VALUE] = [0, 1, 2, 3, 4, 5, 6];
/** The role of a call in its run. */
const [AHEAD, READ, CHANGE, ENTRY] = [0, 1, 2, 4];
/** The bounds of time limits in milliseconds: a timer has 31 bits. */
const LONGEST = 2 ** 31 - 1;
/** Milliseconds of computing after which other work of the event loop is let in. */
const HELD = 4;

export const now = (): number => performance.now();

/** A call that is under way. */
export interface Under {
    readonly ticket: number;
    readonly tool: Tool;
    readonly arguments: { [name: string]: unknown };
    readonly kind: number;
    readonly context: Context;
    readonly begun: number;
    /** Whether a person is being asked about it, so that it was not made. */
    isAsked?: boolean;
    timer?: ReturnType<typeof setTimeout>;
}

/** Runs to the outcome, or to a call whose tool suspends. Frees the run in any case. */
export function drive(run: Run | Left, tools: ToolSet, options: RunOptions, recording?: Recording): Promise<Outcome> {
    try {
        return new Loop(run, tools, options, recording).go();
    } finally {
        (run instanceof Run ? run : run.run).dispose();
    }
}

function milliseconds(name: string, value: number | undefined, standard: number): number {
    const given = value ?? standard;
    if (given >= 0) return Math.min(given, LONGEST);
    throw new RangeError(`\`${name}\` expects milliseconds from 0`);
}

/** The time limits of a run and its calls, and the most calls under way. */
export type Times = Pick<RunOptions, "timeout" | "callTimeout" | "atOnce" | "maxConcurrency">;

/** The same within bounds, in milliseconds. */
export function timesOf(given: Times): { run: number; call: number; atOnce: number } {
    const { timeout, callTimeout, maxConcurrency, atOnce = maxConcurrency ?? 16 } = given;
    return {
        run: milliseconds("timeout", timeout, 600_000),
        call: milliseconds("callTimeout", callTimeout, 30_000),
        atOnce: Math.min(Math.max(Math.trunc(atOnce), 1), 1000),
    };
}

export class Loop {
    private readonly runner: Runner;
    private readonly drive: Drive;
    private readonly bounds: Bounds;
    protected readonly observers: Observers;
    private readonly callTime: number;
    private until: number;
    private readonly under = new Map<number, Under>();
    private outcome: Suspended | undefined;
    /** What the answer must be for which the run waits. */
    private expects: string | undefined;
    private cancelled = false;
    private over = false;
    private wake: (() => void) | undefined;
    private news = false;
    /** The error of a trap while a call was settled, or of a store. */
    private broken: unknown;
    /** The result of the call that the run waits for, if it was made before. */
    private begun: Begun | undefined;
    /** When it began, for its events. */
    private readonly since = now();
    private readonly spans: Spans | undefined;
    private readonly watched: boolean;
    /** What tools have thrown, by their calls. */
    private readonly errors = new Map<number, unknown>();
    private readonly output: Output | undefined;
    /** The value of the run as the library of its schema has converted it. */
    private converted: { readonly value: any } | undefined;

    constructor(
        given: Run | Left,
        private readonly tools: ToolSet,
        private readonly options: RunOptions,
        private readonly recording?: Recording,
    ) {
        const { run: time, call: callTime, atOnce } = timesOf(options);
        this.callTime = callTime;
        const run = given instanceof Run ? given : given.run;
        this.runner = run.runner;
        const handle = run.take();
        // From here on, the drive is freed; it has taken the run.
        this.bounds = boundsOf(this.runner.call(() => handle.bounds()));
        const observed = options.onCall !== undefined;
        this.observers = new Observers(options);
        const catalogue = tools.in(this.runner);
        this.spans = isTraced() ? new Spans(this.runner.call(() => handle.name()) ?? "run") : undefined;
        this.watched = options.onEvent !== undefined || this.spans !== undefined;
        this.drive = this.runner.call((module) => new module.Drive(handle, catalogue, atOnce, time, observed));
        if (this.watched) this.runner.call(() => this.drive.watch(options.toolCallId));
        const output = (this.output = outputOf(options.outputSchema));
        if (output) this.runner.call(() => this.drive.expect(output.text, output.rich !== undefined));
        this.until = given instanceof Run ? now() + time : given.until;
        this.begun = given instanceof Run ? undefined : given.begun;
    }

    async go(): Promise<Outcome> {
        let found: Outcome | undefined;
        try {
            this.listen();
            found = await this.steps();
            return found;
        } finally {
            this.leave(found);
        }
    }

    /** As `go`, if no call takes time: each has ended when it is started. */
    goAtOnce(): Outcome {
        let found: Outcome | undefined;
        try {
            this.listen();
            found = this.stepsAtOnce();
            return found;
        } finally {
            this.leave(found);
        }
    }

    /** Listens to the signal. */
    private listen(): void {
        const { signal } = this.options;
        if (signal?.aborted) this.cancel();
        else signal?.addEventListener("abort", this.cancel, { once: true });
    }

    /** Ends calls under way, and frees the memory. */
    private leave(found: Outcome | undefined): void {
        this.over = true;
        try {
            if (this.watched) this.tell(() => this.drive.leave());
        } catch {
            // The instance is gone, and the events with it.
        }
        this.spans?.end(found && (found.status === "fault" ? found.code : found.status));
        this.observers.guard(() => this.options.signal?.removeEventListener("abort", this.cancel));
        for (const under of this.under.values()) this.close(under, "the run is over");
        try {
            this.drive.free();
        } catch {
            // The instance is gone, and the memory with it.
        }
    }

    private async steps(): Promise<Outcome> {
        let since = now();
        for (;;) {
            const next = this.next();
            if (next === START) {
                const pending = this.start();
                if (pending) await pending;
            } else if (next === MADE) {
                this.observers.made(this.parsed());
            } else if (next === COMPUTING) {
                if (now() - since < HELD) continue;
                await others();
                since = now();
            } else if (next === WAIT) {
                await this.wait();
            } else if (next === VALUE) {
                const found = this.look();
                this.accept(isThenable(found) ? await this.inTime(found) : found);
            } else if (next === DROP) {
                const dropped = this.under.get(parse(this.text()));
                if (dropped) this.interrupt(dropped, "the answer is not wanted any more");
            } else {
                const outcome = this.text();
                await this.recording?.ended(outcome);
                return this.outcomeOf(outcome);
            }
            if (this.broken !== undefined) throw this.broken;
            if (this.outcome) {
                await this.recording?.waits(this.outcome, this.until - now(), this.expects);
                return this.outcome;
            }
        }
    }

    private stepsAtOnce(): Outcome {
        for (;;) {
            const next = this.next();
            if (next === START) this.start();
            else if (next === MADE) this.observers.made(this.parsed());
            else if (next === VALUE) this.accept(this.look());
            else if (next === DONE) return this.outcomeOf(this.text());
            else if (next !== COMPUTING && next !== DROP) throw new IloError("a call of a run without promises is under way");
            if (this.broken !== undefined) throw this.broken;
            if (this.outcome) return this.outcome;
        }
    }

    /** Compares the value with which the run is about to end with the schema of a library. */
    private look(): Looked | Promise<Looked> {
        const rich = this.output?.rich;
        const value = this.parsed().value;
        return rich ? looked(rich, value) : { value };
    }

    /** The same for a schema that gives a promise, which has the time of the run. */
    private async inTime(found: Promise<Looked>): Promise<Looked> {
        const late = (): Error => new Error("its schema has not answered within the time of the run");
        try {
            return await within(Math.max(0, this.until - now()), () => found, late);
        } catch (error) {
            return { why: textOf(error) };
        }
    }

    /** Takes the value of the run, or refuses it: then the run is rolled back. */
    private accept(found: Looked | Promise<Looked>): void {
        if (isThenable(found)) found = { why: "its schema gave a promise, and `runSync` cannot await it; use `run`" };
        if ("value" in found) this.converted = found;
        else {
            const { why } = found;
            this.runner.call(() => this.drive.refuseValue(why));
        }
    }

    private outcomeOf(text: string): Outcome {
        const outcome: Outcome = outcomeOf(text, this.asText);
        return outcome.status === "ok" && this.converted ? Object.assign(outcome, this.converted) : outcome;
    }

    private next(): number {
        // A call that was made is settled first, even if it is late.
        return this.tell(() => this.drive.next(!this.begun && now() >= this.until, this.cancelled));
    }

    /** Calls the module, and passes on the events that follow from it. */
    private tell<T>(work: () => T): T {
        if (!this.watched) return this.runner.call(work);
        this.runner.call(() => this.drive.clock(now() - this.since));
        const found = this.runner.call(work);
        const text = this.runner.call(() => this.drive.events());
        for (const event of text === undefined ? [] : (parse(text, this.asText) as RunEvent[])) {
            const has = event.type === "end" && this.errors.has(event.id);
            const full = has ? { ...event, error: this.errors.get(event.id) } : event;
            if (has) this.errors.delete(event.id);
            this.spans?.event(full);
            this.observers.event(full);
        }
        return found;
    }

    /** Whether integers past 2^53 are texts. */
    private get asText(): boolean {
        return this.options.bigint === "text";
    }

    private parsed(): any {
        return parse(this.text(), this.asText);
    }

    private text(): string {
        return this.runner.call(() => this.drive.text());
    }

    /** Waits until a call has ended or the run is cancelled. */
    private async wait(): Promise<void> {
        if (!this.news) await new Promise<void>((resolve) => (this.wake = resolve));
        this.news = false;
        this.wake = undefined;
    }

    private stir(): void {
        this.news = true;
        this.wake?.();
    }

    /** Cancels the run: calls that only read are ended, and so are questions; others are awaited. */
    private readonly cancel = (): void => {
        this.cancelled = true;
        const reason = reasonOf(this.options.signal);
        if (reason) this.runner.call(() => this.drive.because(reason));
        for (const under of [...this.under.values()]) {
            const isHeld = under.isAsked || (under.kind === CHANGE && under.context.isHeld);
            if (under.kind === AHEAD || under.kind === READ || isHeld) this.interrupt(under, "the run is cancelled");
            else if (under.kind === CHANGE) under.context.abort("the run is cancelled");
        }
        this.stir();
    };

    /** Starts a call. If the run can do nothing else meanwhile, returns a promise of its end. */
    private start(): Promise<void> | undefined {
        const [ticket, name, given, kind, alone] = this.parsed();
        const tool = this.tools.get(name) as Tool;
        const begun = kind === AHEAD ? undefined : this.begun;
        const context = begun?.context ?? new Context(this.options.context);
        context.observers = this.observers;
        const under: Under = { ticket, tool, arguments: given, kind, context, begun: now() };
        this.under.set(ticket, under);
        if (begun) this.goOn(under, begun);
        else if (tool.confirm) this.confirm(under);
        else this.begin(under);
        return alone && this.under.has(ticket) ? this.wait() : undefined;
    }

    /** Continues after a call was made. */
    private goOn(under: Under, begun: Begun): void {
        this.begun = undefined;
        if ("error" in begun) this.failed(under, begun.error, 0);
        else this.took(under, begun.value, 0);
    }

    /** Makes a call once a person has allowed it. */
    protected confirm(under: Under): void {
        void this.confirmed(under);
    }

    /** Makes a call; in a run with a store, once its record is there. */
    protected begin(under: Under): void {
        if (this.recording && !under.tool.readOnly) void this.record(under, this.recording);
        else this.attempt(under, 0);
    }

    private async record(under: Under, recording: Recording): Promise<void> {
        try {
            const due = this.due();
            const snapshot = this.runner.call(() => this.drive.snapshot());
            if (!due || !snapshot) throw new Error("no call waits");
            under.context.key = recording.key(due);
            await recording.calling(due, snapshot, under.tool.idempotent, this.until - now());
        } catch (error) {
            this.broken = error;
            return this.stir();
        }
        if (this.isOpen(under)) this.attempt(under, 0);
    }

    /** The call that the run waits for. */
    protected due(): Call | undefined {
        const waiting = this.runner.call(() => this.drive.waiting());
        return waiting === undefined ? undefined : parse(waiting, this.asText);
    }

    private async confirmed(under: Under): Promise<void> {
        const { ask } = this.options;
        let due: Call | undefined;
        try {
            due = this.due();
        } catch (error) {
            this.broken = error;
            return this.stir();
        }
        try {
            if (due && this.recording?.allowed === due.number) return this.begin(under);
            if (!ask || !due) return this.nobody(under, "there is nobody to ask");
            const question = this.shown(under, due);
            if (!question) return;
            under.isAsked = true;
            this.unasked(under);
            const allowed = decision(await ask(question));
            under.isAsked = false;
            clearTimeout(under.timer);
            if (!this.isOpen(under)) return;
            if (allowed === true) return this.begin(under);
            this.refused(under, refusal(allowed));
        } catch (error) {
            under.isAsked = false;
            this.observers.failed("ask", error);
            this.nobody(under, "nobody could be asked");
        }
    }

    /**
     * The call as a person sees it: with the name that the host has given its tool, never another text of the
     * program. A call by the name of a server that is not there is refused; then there is none.
     */
    protected shown(under: Under, due: Call): Call | undefined {
        const { name } = under.tool;
        if (due.tool === name) return due;
        if (!due.tool.startsWith("mcp://")) return { ...due, tool: name };
        this.refused(under, `the program calls it by a server that is not there; write \`${name}\``);
        return undefined;
    }

    /** Ends a question when the time of the run is over. */
    private unasked(under: Under): void {
        const time = Math.min(Math.max(Math.ceil(this.until - now()), 0), LONGEST);
        under.timer = setTimeout(() => {
            if (!this.isOpen(under)) return;
            this.observers.failed("ask", new DOMException("`ask` gave no answer before the time of the run was over", "TimeoutError"));
            this.nobody(under, "nobody could be asked");
        }, time);
    }

    /** Nobody has decided about a call: a run of a store waits for a person, in others the call fails. */
    protected nobody(under: Under, why: string): void {
        if (!this.isOpen(under)) return;
        if (!this.recording) return this.refused(under, why);
        this.suspend(under, `tool \`${under.tool.name}\` needs an approval`, "asking");
    }

    /** Fails a call that nobody has allowed. */
    protected refused(under: Under, why: string): void {
        if (!this.isOpen(under)) return;
        const message = `tool \`${under.tool.name}\` was not called: it needs a confirmation (\`confirm\`), and ${why}`;
        this.end(under, () => this.drive.fail(under.ticket, JSON.stringify(message)));
    }

    /** Makes a call once. */
    protected attempt(under: Under, retry: number): void {
        let answer: unknown;
        // Since the call was announced, somebody may have cancelled the run, or its time may be over.
        if (this.cancelled && under.kind === CHANGE) return this.interrupt(under, "the run is cancelled");
        if (now() >= this.until && under.kind === CHANGE) return this.end(under, () => this.drive.fail(under.ticket, '"the time of the run is over"'));
        try {
            // What a tool changes in its arguments is not for the next attempt.
            const given = under.tool.retries ? structuredClone(under.arguments) : under.arguments;
            const make = (): unknown => under.tool.call(given, under.context);
            answer = this.spans ? this.spans.within(under.ticket, make) : make();
        } catch (error) {
            return this.failed(under, error, retry);
        }
        this.took(under, answer, retry);
    }

    /** Takes what a tool gave: its answer, or a promise of it. */
    private took(under: Under, answer: unknown, retry: number): void {
        let waits: PromiseLike<unknown> | undefined;
        try {
            if (isThenable(answer)) waits = answer;
        } catch (error) {
            return this.failed(under, error, retry);
        }
        if (waits) this.promised(under, waits, retry);
        else this.answered(under, answer);
    }

    /** Awaits the answer of a call. */
    protected promised(under: Under, answer: PromiseLike<unknown>, retry: number): void {
        // A tool may have cancelled the run, which ended its call; a timer would keep the process.
        if (this.isOpen(under)) this.limit(under);
        promiseOf(answer).then(
            (value) => this.answered(under, value),
            (error: unknown) => this.failed(under, error, retry),
        );
    }

    /** Ends a call when its time, or that of the run, is over. */
    private limit(under: Under): void {
        const own = under.tool.timeout ?? this.callTime;
        const left = under.kind === ENTRY ? Infinity : this.until - now();
        const time = Math.min(Math.max(Math.ceil(Math.min(own, left)), 0), LONGEST);
        clearTimeout(under.timer);
        // A timer may be a millisecond early: which time is over is known only here.
        under.timer = setTimeout(() => this.late(under, own, left <= own), time);
    }

    private isOpen(under: Under): boolean {
        return !this.over && this.under.get(under.ticket) === under;
    }

    private answered(under: Under, value: unknown): void {
        if (this.isOpen(under)) this.give(under, value, "answer");
    }

    /** Passes what a tool gave to the module, if it is a value. */
    private give(under: Under, value: unknown, what: "answer" | "failure"): void {
        const text = write(value, this.bounds);
        this.end(under, () => {
            if (text instanceof Past) this.drive.refuse(under.ticket, text.bound);
            else if (typeof text !== "string") this.drive.fail(under.ticket, JSON.stringify(text.message(`the tool's ${what}`)));
            else if (what === "answer") this.drive.settle(under.ticket, text);
            else this.drive.fail(under.ticket, text);
        });
    }

    private failed(under: Under, error: unknown, retry: number): void {
        if (!this.isOpen(under)) return;
        if (this.watched) this.errors.set(under.ticket, error);
        if (isOf(error, Suspend)) return this.suspend(under, textOf(error), "deferred");
        if (this.cancelled && under.kind === CHANGE && isAbort(error, under.context)) {
            // It was given up because of the abort: nobody knows how far it came.
            return this.inDoubt(under, `tool \`${under.tool.name}\` was cancelled before it had answered`);
        }
        const pause = this.runner.call(() => this.drive.pause(under.tool.name, retry));
        const [least = 0, most = 0] = pause ?? [];
        if (pause && most < this.until - now() && !this.cancelled) {
            clearTimeout(under.timer);
            return this.again(under, retry + 1, least + Math.random() * (most - least));
        }
        this.give(under, failureOf(error), "failure");
    }

    /** Makes a call again after a pause. */
    protected again(under: Under, retry: number, pause: number): void {
        under.timer = setTimeout(() => this.isOpen(under) && this.attempt(under, retry), pause);
    }

    /** Settles a call whose result is not known. If its arguments were still being compared, it was not made. */
    protected inDoubt(under: Under, message: string): void {
        this.end(under, () => {
            if (under.context.isHeld) this.drive.fail(under.ticket, JSON.stringify(message));
            else this.drive.inDoubt(under.ticket, message);
        });
    }

    /** Settles a call whose time is over. */
    private late(under: Under, own: number, isRunOver: boolean): void {
        if (!this.isOpen(under)) return;
        under.context.abort("the call is late");
        const message = `tool \`${under.tool.name}\` took longer than its limit of ${Math.round(own)} ms`;
        if (under.context.isHeld) return this.inDoubt(under, message);
        if (this.recording && !under.tool.readOnly) return this.suspend(under, message, "doubt");
        if (isRunOver) this.end(under, () => this.drive.timedOut(under.ticket));
        else this.inDoubt(under, message);
    }

    private interrupt(under: Under, why: string): void {
        under.context.abort(why);
        this.end(under, () => this.drive.interrupted(under.ticket));
    }

    /** Suspends the run, which waits for a person. */
    private suspend(under: Under, reason: string, state: Waits): void {
        const due = this.due();
        if (due && (under.kind !== AHEAD || this.isSame(under, due))) {
            const snapshot = this.runner.call(() => this.drive.snapshot()) ?? new Uint8Array();
            this.outcome = suspended({ snapshot, call: due, reason, ...(this.recording && { state }) });
            this.expects = this.runner.call(() => this.tools.in(this.runner).expects(due.tool));
            this.tell(() => this.drive.left(under.ticket));
            this.close(under, "the run is suspended");
            return this.stir();
        }
        // The run makes the call in its turn, and suspends there.
        this.end(under, () => this.drive.notStarted(under.ticket));
    }

    private isSame(under: Under, due: Call): boolean {
        const catalogue = this.tools.in(this.runner);
        const own = this.runner.call(() => catalogue.ownName(due.tool));
        return own === under.tool.name && write(due.arguments, WIDE) === write(under.arguments, WIDE);
    }

    private close(under: Under, why?: string): void {
        clearTimeout(under.timer);
        this.under.delete(under.ticket);
        if (why) under.context.abort(why);
    }

    /** Passes the result of a call to the module. */
    private end(under: Under, settle: () => void): void {
        this.close(under);
        // The run's clock is stopped while an entry is called.
        if (under.kind === ENTRY) this.until += now() - under.begun;
        try {
            this.tell(settle);
        } catch (error) {
            this.broken = error;
        }
        this.stir();
    }
}

/** What `ask` gave, if it is a decision. */
export function decision(found: unknown): boolean | Deny {
    if (typeof found === "boolean" || found instanceof Deny) return found;
    throw new TypeError("`ask` gives true, false or `new Deny(reason)`, found something else");
}

/** Why a call that was refused is not made. */
export function refusal(found: false | Deny): string {
    return found && found.reason ? `it was refused: ${wellFormed(found.reason)}` : "it was refused";
}

/** The text of a thrown value that is no error: its message, or its JSON. */
function thrownText(thrown: unknown): string {
    if (typeof thrown !== "object" || thrown === null) return textOf(thrown);
    const { message } = thrown as { message?: unknown };
    if (typeof message === "string" && message) return wellFormed(message);
    const text = write(thrown, WIDE);
    return typeof text === "string" ? text : textOf(thrown);
}

/** The failure that a program gets for a thrown value. Never throws. */
function failureOf(error: unknown): unknown {
    try {
        if (isOf(error, Failure)) return error.value;
        if (!(error instanceof Error)) return thrownText(error);
        const [name, message] = [wellFormed(String(error.name)), textOf(error)];
        return message ? `${name}: ${message}` : name;
    } catch {
        return "the tool failed";
    }
}

/** A promise of what a tool gave, which may be a promise or only be like one. Never throws. */
export function promiseOf(answer: PromiseLike<unknown>): Promise<unknown> {
    return new Promise((resolve) => resolve(answer));
}

/** Whether a call has failed because its signal was aborted. */
function isAbort(error: unknown, context: Context): boolean {
    try {
        return error === context.signal.reason || (error as { name?: unknown } | null)?.name === "AbortError";
    } catch {
        return false;
    }
}

/** Why a signal was aborted, if its owner has said so. */
function reasonOf(signal: AbortSignal | undefined): string {
    try {
        const reason: unknown = signal?.reason;
        const isDefault = reason === undefined || (reason instanceof DOMException && reason.name === "AbortError");
        return isDefault ? "" : textOf(reason);
    } catch {
        // A revoked proxy, or a signal of another make.
        return "";
    }
}

/** The outcome of a run that waits. */
export function suspended(found: Omit<Suspended, "status" | keyof Texts>): Suspended {
    const text = (): string => {
        const { snapshot, ...rest } = found;
        return jsonOf("the outcome", { status: "suspended", snapshot: pack(snapshot), ...rest });
    };
    return withTexts({ status: "suspended", ...found }, text);
}

/** Lets the event loop do other work. */
function others(): Promise<void> {
    return new Promise((resolve) => {
        if (typeof setImmediate === "function") setImmediate(resolve);
        else setTimeout(resolve);
    });
}
