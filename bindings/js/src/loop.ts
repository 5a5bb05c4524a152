/** Runs over tools: the loop that makes the calls, in parallel if their tools only read. */

import type { Recording, Waits } from "./durable.js";
import { Failure, IloError, Suspend } from "./errors.js";
import { FUNCTION, NUMBER, SIGNAL, type Kinds } from "./given.js";
import { Past, WIDE, isOf, isThenable, parse, textOf, write, type Bounds } from "./json.js";
import type { Begun, Left } from "./quick.js";
import { Run, boundsOf } from "./run.js";
import type { Drive, Runner } from "./runner.js";
import { TOOLS, type GivenTools, type Tool, type ToolSet } from "./tools.js";
import type { Call, CallContext, Made, Outcome, Suspended } from "./types.js";

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
    atOnce?: number | undefined;
    /** Gets each ended call. If it throws, the run ends and `run` throws the same. */
    onCall?: ((made: Made) => void) | undefined;
    /** Asks a person before each call of a tool with `confirm`; `true` allows it. */
    ask?: ((call: Call) => boolean | Promise<boolean>) | undefined;
}

export const RUN: Kinds<RunOptions> = {
    tools: TOOLS,
    signal: SIGNAL,
    timeout: NUMBER,
    callTimeout: NUMBER,
    atOnce: NUMBER,
    onCall: FUNCTION,
    ask: FUNCTION,
};

/** The next action, as the module numbers it. */
const [START, DROP, MADE, COMPUTING, WAIT, DONE] = [0, 1, 2, 3, 4, 5];
/** The role of a call in its run. */
const [AHEAD, READ, ENTRY] = [0, 1, 4];
/** The bounds of time limits in milliseconds: a timer has 31 bits. */
const LONGEST = 2 ** 31 - 1;
/** Milliseconds of computing after which other work of the event loop is let in. */
const HELD = 4;

export const now = (): number => performance.now();

/** The second argument of a tool. Most tools never use the signal, so it is made late. */
export class Context implements CallContext {
    key: string | undefined;
    #controller: AbortController | undefined;
    #reason: Error | undefined;

    get signal(): AbortSignal {
        if (!this.#controller) {
            this.#controller = new AbortController();
            if (this.#reason) this.#controller.abort(this.#reason);
        }
        return this.#controller.signal;
    }

    abort(why: string): void {
        this.#reason ??= new DOMException(why, "AbortError");
        this.#controller?.abort(this.#reason);
    }
}

/** A call that is under way. */
export interface Under {
    readonly ticket: number;
    readonly tool: Tool;
    readonly arguments: { [name: string]: unknown };
    readonly kind: number;
    readonly context: Context;
    readonly begun: number;
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
export type Times = Pick<RunOptions, "timeout" | "callTimeout" | "atOnce">;

/** The same within bounds, in milliseconds. */
export function timesOf({ timeout, callTimeout, atOnce = 16 }: Times): { run: number; call: number; atOnce: number } {
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
    private readonly callTime: number;
    private until: number;
    private readonly under = new Map<number, Under>();
    private outcome: Suspended | undefined;
    private cancelled = false;
    private over = false;
    private wake: (() => void) | undefined;
    private news = false;
    /** The error of a trap while a call was settled, or of a store. */
    private broken: unknown;
    /** The result of the call that the run waits for, if it was made before. */
    private begun: Begun | undefined;

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
        const catalogue = tools.in(this.runner);
        this.drive = this.runner.call((module) => new module.Drive(handle, catalogue, atOnce, time, observed));
        this.until = given instanceof Run ? now() + time : given.until;
        this.begun = given instanceof Run ? undefined : given.begun;
    }

    async go(): Promise<Outcome> {
        const leave = this.enter();
        try {
            return await this.steps();
        } finally {
            leave();
        }
    }

    /** As `go`, if no call takes time: each has ended when it is started. */
    goAtOnce(): Outcome {
        const leave = this.enter();
        try {
            return this.stepsAtOnce();
        } finally {
            leave();
        }
    }

    /** Listens to the signal. The function that it returns ends calls under way, and frees the memory. */
    private enter(): () => void {
        const { signal } = this.options;
        const cancel = (): void => this.cancel();
        if (signal?.aborted) this.cancel();
        else signal?.addEventListener("abort", cancel, { once: true });
        return () => {
            this.over = true;
            signal?.removeEventListener("abort", cancel);
            for (const under of this.under.values()) this.close(under, "the run is over");
            try {
                this.drive.free();
            } catch {
                // The instance is gone, and the memory with it.
            }
        };
    }

    private async steps(): Promise<Outcome> {
        let since = now();
        for (;;) {
            const next = this.next();
            if (next === START) {
                const pending = this.start();
                if (pending) await pending;
            } else if (next === MADE) {
                this.options.onCall?.(parse(this.text()));
            } else if (next === COMPUTING) {
                if (now() - since < HELD) continue;
                await others();
                since = now();
            } else if (next === WAIT) {
                await this.wait();
            } else if (next === DROP) {
                const dropped = this.under.get(parse(this.text()));
                if (dropped) this.interrupt(dropped, "the answer is not wanted any more");
            } else {
                const outcome = this.text();
                await this.recording?.ended(outcome);
                return parse(outcome);
            }
            if (this.broken !== undefined) throw this.broken;
            if (this.outcome) {
                await this.recording?.waits(this.outcome, this.until - now());
                return this.outcome;
            }
        }
    }

    private stepsAtOnce(): Outcome {
        for (;;) {
            const next = this.next();
            if (next === START) this.start();
            else if (next === MADE) this.options.onCall?.(parse(this.text()));
            else if (next === DONE) return parse(this.text());
            else if (next !== COMPUTING && next !== DROP) throw new IloError("a call of a run without promises is under way");
            if (this.broken !== undefined) throw this.broken;
            if (this.outcome) return this.outcome;
        }
    }

    private next(): number {
        // A call that was made is settled first, even if it is late.
        return this.runner.call(() => this.drive.next(!this.begun && now() >= this.until, this.cancelled));
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

    /** Cancels the run: calls that only read are ended, others are awaited. */
    private cancel(): void {
        this.cancelled = true;
        for (const under of [...this.under.values()]) {
            if (under.kind === AHEAD || under.kind === READ) this.interrupt(under, "the run is cancelled");
        }
        this.stir();
    }

    /** Starts a call. If the run can do nothing else meanwhile, returns a promise of its end. */
    private start(): Promise<void> | undefined {
        const [ticket, name, given, kind, alone] = parse(this.text());
        const tool = this.tools.get(name) as Tool;
        const begun = kind === AHEAD ? undefined : this.begun;
        const context = begun?.context ?? new Context();
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
        else if (isThenable(begun.value)) this.promised(under, begun.value, 0);
        else this.answered(under, begun.value);
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
        return waiting === undefined ? undefined : parse(waiting);
    }

    private async confirmed(under: Under): Promise<void> {
        const { name } = under.tool;
        let why = "there is nobody to ask";
        try {
            const due = this.due();
            if (due && this.recording?.allowed === due.number) return this.begin(under);
            if (this.options.ask && due) {
                this.limit(under);
                const allowed = await this.options.ask(due);
                clearTimeout(under.timer);
                if (!this.isOpen(under)) return;
                if (allowed === true) return this.begin(under);
                why = "it was refused";
            } else if (this.recording) {
                return this.suspend(under, `tool \`${name}\` needs an approval`, "asking");
            }
        } catch (error) {
            why = `asking for it failed: ${failureText(error)}`;
        }
        this.refused(under, why);
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
        try {
            answer = under.tool.call(under.arguments, under.context);
            if (!isThenable(answer)) return this.answered(under, answer);
        } catch (error) {
            return this.failed(under, error, retry);
        }
        this.promised(under, answer, retry);
    }

    /** Awaits the answer of a call. */
    protected promised(under: Under, answer: PromiseLike<unknown>, retry: number): void {
        this.limit(under);
        Promise.resolve(answer).then(
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
        if (!this.isOpen(under)) return;
        const text = write(value, this.bounds);
        this.end(under, () => {
            if (typeof text === "string") this.drive.settle(under.ticket, text);
            else if (text instanceof Past) this.drive.refuse(under.ticket, text.bound);
            else this.drive.fail(under.ticket, JSON.stringify(text.message("the tool's answer")));
        });
    }

    private failed(under: Under, error: unknown, retry: number): void {
        if (!this.isOpen(under)) return;
        if (isOf(error, Suspend)) return this.suspend(under, textOf(error), "deferred");
        const pause = this.runner.call(() => this.drive.pause(under.tool.name, retry));
        const [least = 0, most = 0] = pause ?? [];
        if (pause && most < this.until - now() && !this.cancelled) {
            clearTimeout(under.timer);
            return this.again(under, retry + 1, least + Math.random() * (most - least));
        }
        const value = isOf(error, Failure) ? error.value : failureText(error);
        const text = write(value, this.bounds);
        this.end(under, () => {
            if (typeof text === "string") this.drive.fail(under.ticket, text);
            else if (text instanceof Past) this.drive.refuse(under.ticket, text.bound);
            else this.drive.fail(under.ticket, JSON.stringify(text.message("the tool's failure")));
        });
    }

    /** Makes a call again after a pause. */
    protected again(under: Under, retry: number, pause: number): void {
        under.timer = setTimeout(() => this.isOpen(under) && this.attempt(under, retry), pause);
    }

    /** Settles a call whose result is not known. */
    protected inDoubt(under: Under, message: string): void {
        this.end(under, () => this.drive.inDoubt(under.ticket, message));
    }

    /** Settles a call whose time is over. */
    private late(under: Under, own: number, isRunOver: boolean): void {
        if (!this.isOpen(under)) return;
        under.context.abort("the call is late");
        const message = `tool \`${under.tool.name}\` took longer than its limit of ${Math.round(own)} ms`;
        if (this.recording && !under.tool.readOnly) return this.suspend(under, message, "doubt");
        this.end(under, () => {
            if (isRunOver) return this.drive.timedOut(under.ticket);
            this.drive.inDoubt(under.ticket, message);
        });
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
            this.outcome = { status: "suspended", snapshot, call: due, reason, ...(this.recording && { state }) };
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
            this.runner.call(settle);
        } catch (error) {
            this.broken = error;
        }
        this.stir();
    }
}

/** The failure that a program gets for a thrown value. */
export function failureText(error: unknown): string {
    try {
        if (!(error instanceof Error)) return String(error);
        const [name, message] = [String(error.name), textOf(error)];
        return message ? `${name}: ${message}` : name;
    } catch {
        return "the tool failed";
    }
}

/** Lets the event loop do other work. */
function others(): Promise<void> {
    return new Promise((resolve) => {
        if (typeof setImmediate === "function") setImmediate(resolve);
        else setTimeout(resolve);
    });
}
