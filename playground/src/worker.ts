// The worker: it does all work on programs, so that the page always answers keys.

import * as core from "./core.js";
import { inspect, withTools } from "./inspect.js";
import type { Name, Reply, Request, Requests } from "./protocol.js";
import { Runner } from "./runner.js";

const say = (reply: Reply): void => self.postMessage(reply);
const runner = new Runner((event) => say({ event }));

type Handlers = { [N in Name]: (takes: Requests[N]["takes"]) => Requests[N]["gives"] | Promise<Requests[N]["gives"]> };

/** The text, or nothing for a source with errors, which are shown with the source. */
function textOf(make: () => string): string | null {
    try {
        return make();
    } catch (error) {
        if (error instanceof core.CompileError) return null;
        throw error;
    }
}

const handlers: Handlers = {
    ping: () => null,
    inspect: ({ source, tools }) => inspect(source, tools),
    fix: ({ source, tools }) => {
        const { source: text, fixed } = core.fix(source, withTools(tools).options);
        return { source: text, fixed };
    },
    convert: ({ source, to }) => textOf(() => core.convert(source, to)),
    graph: ({ source }) => textOf(() => core.graph(source, "svg")),
    listing: ({ source, tools }) =>
        textOf(() => {
            using program = core.build(source, withTools(tools).options);
            return program.disassemble();
        }),
    complete: ({ source, tools, at }) => core.complete(source, at, withTools(tools).options),
    hover: ({ source, tools, at }) => core.hover(source, at, withTools(tools).options) ?? null,
    explain: ({ code }) => core.explain(code),
    start: (start) => {
        runner.start(start);
        return null;
    },
    answer: ({ key, ok, json }) => runner.answer(key, ok, json),
    stop: () => {
        runner.stop();
        return null;
    },
};

async function handle(request: Request): Promise<void> {
    const { id, name } = request;
    try {
        const gives = await handlers[name](request.takes as never);
        say({ id, gives });
    } catch (error) {
        // A trap leaves the memory of the module in an unknown state, so the page starts another worker.
        say({ id, failed: error instanceof Error ? error.message : String(error), fatal: core.isTrap(error) });
    }
}

// The module comes first, then requests.
const ready = new Promise<void>((resolve, reject) => {
    self.onmessage = (message: MessageEvent<WebAssembly.Module | Request>) => {
        const data = message.data;
        if (data instanceof WebAssembly.Module) core.begin(data).then(resolve, reject);
        else ready.then(() => handle(data), (error) => say({ id: data.id, failed: String(error), fatal: true }));
    };
});
