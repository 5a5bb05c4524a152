// The client of the worker: requests with deadlines, and a new worker in place of one that hangs or traps.

import type { Name, Reply, Request, Requests, RunEvent } from "./protocol.js";

/** Milliseconds after which a silent worker is replaced. */
const PATIENCE = 8_000;
/** Milliseconds between checks of a worker that runs a program. */
const LOOK = 1_000;

/** The reason why a request has no answer. */
export class EngineError extends Error {}

interface Open {
    readonly resolve: (gives: unknown) => void;
    readonly reject: (error: EngineError) => void;
    timer: number;
}

/** The worker, or its replacement. */
export class Engine {
    #worker: Worker | null = null;
    #module: Promise<WebAssembly.Module>;
    #open = new Map<number, Open>();
    #next = 1;
    #looking = 0;
    #generation = 0;

    /**
     * @param core the WebAssembly module
     * @param code the worker's script
     * @param onEvent gets what happens in a run
     * @param onReplaced gets the reason why a worker was replaced
     */
    constructor(
        core: Promise<WebAssembly.Module>,
        readonly code: string,
        readonly onEvent: (event: RunEvent) => void,
        readonly onReplaced: (reason: string) => void,
    ) {
        this.#module = core;
    }

    /** Sends a request to the worker. Rejects with `EngineError`. */
    async ask<N extends Name>(name: N, takes: Requests[N]["takes"]): Promise<Requests[N]["gives"]> {
        const worker = await this.#started();
        const id = this.#next++;
        return new Promise((resolve, reject) => {
            const late = () => this.#replace(`it gave no answer to \`${name}\` for ${PATIENCE / 1000} seconds`);
            const timer = window.setTimeout(late, PATIENCE);
            this.#open.set(id, { resolve: resolve as (gives: unknown) => void, reject, timer });
            worker.postMessage({ id, name, takes } satisfies Request);
        });
    }

    /** Checks the worker from time to time while a program runs in it. */
    watch(on: boolean): void {
        clearInterval(this.#looking);
        if (on) this.#looking = window.setInterval(() => void this.ask("ping", null).catch(() => {}), LOOK);
    }

    async #started(): Promise<Worker> {
        const module = await this.#module;
        if (this.#worker) return this.#worker;
        const generation = ++this.#generation;
        const url = URL.createObjectURL(new Blob([this.code], { type: "text/javascript" }));
        const worker = new Worker(url, { name: "ilo" });
        worker.onmessage = (message: MessageEvent<Reply>) => generation === this.#generation && this.#reply(message.data);
        worker.onerror = (event) => {
            event.preventDefault();
            if (generation === this.#generation) this.#replace(`it failed: ${event.message}`);
        };
        worker.postMessage(module);
        this.#worker = worker;
        return worker;
    }

    #reply(reply: Reply): void {
        if ("event" in reply) return this.onEvent(reply.event);
        const open = this.#open.get(reply.id);
        if (open === undefined) return;
        this.#open.delete(reply.id);
        clearTimeout(open.timer);
        if ("gives" in reply) return open.resolve(reply.gives);
        open.reject(new EngineError(reply.failed));
        if (reply.fatal) this.#replace(reply.failed);
    }

    /** Ends the worker. The next request starts another one. */
    #replace(reason: string): void {
        this.#worker?.terminate();
        this.#worker = null;
        this.watch(false);
        const open = [...this.#open.values()];
        this.#open.clear();
        for (const { timer } of open) clearTimeout(timer);
        this.onReplaced(reason);
        for (const { reject } of open) reject(new EngineError(reason));
    }
}
