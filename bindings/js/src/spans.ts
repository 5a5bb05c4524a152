/** Spans of runs and their calls, where OpenTelemetry is installed and in use. They hold no arguments, answers or messages. */

import type { RunEvent } from "./types.js";

/** The parts of `@opentelemetry/api` that are used here. */
interface Span {
    setAttribute(name: string, value: string): unknown;
    setStatus(status: { code: number }): unknown;
    end(): void;
}

interface Around {
    setValue(key: symbol, value: unknown): Around;
}

interface Api {
    readonly trace?: {
        getTracer(name: string): { startSpan(name: string, options: { attributes: object }, around?: Around): Span };
        getDelegate?(): unknown;
    };
    readonly context?: { active(): Around; with<T>(around: Around, work: () => T): T };
}

/** Where the package keeps what an application has registered, and the key of the span of a context: both by name. */
const API = Symbol.for("opentelemetry.js.api.1");
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");
/** The status of a span that has failed. */
const ERROR = { code: 2 };

function api(): Api | undefined {
    return (globalThis as { [API]?: Api })[API];
}

/** Whether somebody in this process records spans. */
export function isTraced(): boolean {
    return api()?.trace !== undefined;
}

/** A span for a run, and one for each of its calls. Whatever fails here changes nothing of the run. */
export class Spans {
    private readonly open = new Map<number, Span>();
    private readonly context = this.guard(() => api()?.context);
    private readonly tracer = this.guard(() => api()?.trace?.getTracer("ilo"));
    private readonly run: Span | undefined;

    constructor(name: string) {
        this.run = this.guard(() => this.begin(`invoke_workflow ${name}`, "invoke_workflow", "gen_ai.workflow.name", name, this.context?.active()));
    }

    private begin(title: string, operation: string, key: string, name: string, around?: Around): Span | undefined {
        return this.tracer?.startSpan(title, { attributes: { "gen_ai.operation.name": operation, [key]: name } }, around);
    }

    /** Does something that may throw. */
    private guard<T>(work: () => T): T | undefined {
        try {
            return work();
        } catch {
            return undefined;
        }
    }

    event(event: RunEvent): void {
        this.guard(() => {
            if (event.type === "start") {
                const around = this.context?.active().setValue(SPAN, this.run);
                const span = this.begin(`execute_tool ${event.tool}`, "execute_tool", "gen_ai.tool.name", event.tool, around);
                if (span) this.open.set(event.id, span);
            } else if (event.type === "end") {
                const span = this.open.get(event.id);
                this.open.delete(event.id);
                if (!event.ok && span) failed(span, event.error instanceof Error ? event.error.name : "tool_error");
                span?.end();
            }
        });
    }

    /** Does the work of a call with its span as the current one, so that spans of the tool are below it. */
    within<T>(id: number, work: () => T): T {
        const span = this.open.get(id);
        const around = span && this.guard(() => this.context?.active().setValue(SPAN, span));
        return around && this.context ? this.context.with(around, work) : work();
    }

    /** The run has ended with this status; nothing if it has ended in another way. */
    end(status: string | undefined): void {
        this.guard(() => {
            if (this.run && status !== "ok" && status !== "suspended") failed(this.run, status ?? "interrupted");
            this.run?.end();
        });
    }
}

function failed(span: Span, kind: string): void {
    span.setAttribute("error.type", kind);
    span.setStatus(ERROR);
}
