/** A run whose events are read as they happen. */

import type { Outcome, RunEvent, Value } from "./types.js";

/** The most events that wait for their reader; of more, the oldest are dropped and counted. */
const MOST = 1024;

/**
 * The events of a run: `for await (const event of stream)`, and `await stream.outcome()` for its end.
 *
 * The run begins when it is first read, and goes on beside its reader; one that stops early does not end it.
 */
export class Stream<T = Value> implements AsyncIterableIterator<RunEvent> {
    private running: Promise<Outcome<T>> | undefined;
    private events: RunEvent[] = [];
    private dropped = 0;
    private over = false;
    private wake: (() => void) | undefined;

    /** @internal */
    constructor(private readonly go: (put: (event: RunEvent) => void) => Promise<Outcome<T>>) {}

    private begun(): Promise<Outcome<T>> {
        if (!this.running) {
            this.running = this.go((event) => this.put(event));
            const ended = (): void => {
                this.over = true;
                this.wake?.();
            };
            // Who reads the events or asks for the outcome gets what it throws.
            this.running.then(ended, ended);
        }
        return this.running;
    }

    private put(event: RunEvent): void {
        if (this.events.length >= MOST) {
            this.events.shift();
            this.dropped++;
        }
        this.events.push(event);
        this.wake?.();
    }

    /** How the run has ended. It may be asked before, while and after the events are read. */
    outcome(): Promise<Outcome<T>> {
        return this.begun();
    }

    async next(): Promise<IteratorResult<RunEvent, undefined>> {
        const running = this.begun();
        for (;;) {
            if (this.dropped) {
                const count = this.dropped;
                this.dropped = 0;
                return { done: false, value: { type: "dropped", count } };
            }
            const value = this.events.shift();
            if (value) return { done: false, value };
            if (this.over) {
                await running;
                return { done: true, value: undefined };
            }
            await new Promise<void>((resolve) => (this.wake = resolve));
            this.wake = undefined;
        }
    }

    async return(): Promise<IteratorResult<RunEvent, undefined>> {
        return { done: true, value: undefined };
    }

    [Symbol.asyncIterator](): this {
        return this;
    }
}
