/** Observers of a run, such as `onCall`. What they throw is passed to `onError`; it never changes the run. */

import { isThenable } from "./json.js";
import type { CallContext, CallResult, RunEvent } from "./types.js";

interface Given {
    readonly onCall?: ((made: CallResult) => void) | undefined;
    readonly onEvent?: ((event: RunEvent) => void) | undefined;
    readonly onError?: ((error: unknown) => void) | undefined;
}

/** The most handlers that give a promise and have not ended; `onError` is told of those that are not called then. */
const PENDING = 100;

/** The observers of a run. */
export class Observers {
    private pending = 0;

    constructor(private readonly given: Given) {}

    /** Passes on a call that has ended. */
    made(made: CallResult): void {
        this.call("onCall", this.given.onCall, made);
    }

    /** Passes on an event. */
    event(event: RunEvent): void {
        this.call("onEvent", this.given.onEvent, event);
    }

    /** Passes on what a callback has thrown. */
    failed(what: string, error: unknown): void {
        const { onError } = this.given;
        if (onError) this.call("onError", onError, error);
        else this.warn(what, error);
    }

    private warn(what: string, error: unknown): void {
        try {
            console.warn(`ilo: \`${what}\` threw`, error);
        } catch {
            // What was thrown cannot be shown.
        }
    }

    /** Does something that may throw. */
    guard(work: () => unknown): void {
        this.call("signal", work, undefined);
    }

    private call<T>(what: string, callback: ((given: T) => unknown) | undefined, given: T): void {
        if (!callback) return;
        try {
            const watches = what === "onCall" || what === "onEvent";
            if (watches && this.pending >= PENDING) throw new RangeError(`${PENDING} handlers have not ended; this one was not called`);
            const found = callback(given);
            if (isThenable(found)) this.later(what, found);
        } catch (error) {
            if (what === "onError") this.warn(what, error);
            else this.failed(what, error);
        }
    }

    /** An async callback is not awaited by the run. */
    private later(what: string, found: PromiseLike<unknown>): void {
        this.pending++;
        Promise.resolve(found).then(
            () => this.pending--,
            (error: unknown) => {
                this.pending--;
                if (what === "onError") this.warn(what, error);
                else this.failed(what, error);
            },
        );
    }
}

type Listener = EventListenerOrEventListenerObject;

/** The second argument of a tool. Most tools never use the signal, so it is made late. */
export class Context implements CallContext {
    key: string | undefined;
    observers: Observers | undefined;
    /** Whether its arguments are still being compared, so that the tool was not called. */
    isHeld = false;
    #controller: AbortController | undefined;
    #reason: Error | undefined;

    constructor(readonly context: unknown = undefined) {}

    get signal(): AbortSignal {
        if (!this.#controller) {
            this.#controller = new AbortController();
            this.#guard(this.#controller.signal);
            if (this.#reason) this.#controller.abort(this.#reason);
        }
        return this.#controller.signal;
    }

    /** The arguments fit: the tool is called, unless nobody wants that any more. */
    release(): void {
        this.isHeld = false;
        if (this.#reason) throw this.#reason;
    }

    abort(why: string): void {
        this.#reason ??= new DOMException(why, "AbortError");
        this.#controller?.abort(this.#reason);
    }

    /** A listener that throws would otherwise end the process. */
    #guard(signal: AbortSignal): void {
        const around = new WeakMap<object, EventListener>();
        let own: EventListener | null = null;
        const add = signal.addEventListener.bind(signal);
        const remove = signal.removeEventListener.bind(signal);
        signal.addEventListener = (type: string, listener: Listener, options?: boolean | AddEventListenerOptions) => {
            if (!listener || !["function", "object"].includes(typeof listener)) {
                return add(type, listener, options);
            }
            const guarded = around.get(listener) ?? this.#guarded(listener, signal);
            around.set(listener, guarded);
            add(type, guarded, options);
        };
        signal.removeEventListener = (type: string, listener: Listener, options?: boolean | EventListenerOptions) => {
            remove(type, around.get(listener) ?? listener, options);
        };
        Object.defineProperty(signal, "onabort", {
            configurable: true,
            get: () => own,
            set: (listener: unknown) => {
                if (own) signal.removeEventListener("abort", own);
                own = typeof listener === "function" ? (listener as EventListener) : null;
                if (own) signal.addEventListener("abort", own);
            },
        });
    }

    #guarded(listener: EventListenerOrEventListenerObject, signal: AbortSignal): EventListener {
        return (event) => {
            const call = () => (typeof listener === "function" ? listener.call(signal, event) : listener.handleEvent(event));
            if (this.observers) this.observers.guard(call);
            else new Observers({}).guard(call);
        };
    }
}
