/** Tools: functions with a signature and a policy. */

import type { ToolDefinition } from "./types.js";
import { catalogue, defined, standard, type Result, type Standard } from "./definitions.js";
import { Failure } from "./errors.js";
import { TEXT, expect, isPlain, type Kind } from "./given.js";
import { Held } from "./instance.js";
import { issuesOf } from "./issues.js";
import { isThenable } from "./json.js";
import type { Context } from "./observers.js";
import { INSPECT, shown } from "./shown.js";
import type { Catalogue, Module, Runner } from "./runner.js";

/** The tools that a function of this package takes. */
export type GivenTools = ToolSet | { readonly [name: string]: ToolDefinition };

export const TOOLS: Kind = ["an object of tools by name", (value) => value instanceof ToolSet || isPlain(value)];

/** Continues with a value: at once, unless it is a promise. */
function then(value: unknown, next: (value: unknown) => unknown): unknown {
    return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}

function validated(rich: Standard, value: unknown, what: string): unknown {
    return then(rich.validate(value), (found) => {
        const result = found as Result;
        const why = issuesOf(result);
        if (why === undefined) return result.value;
        throw new Failure(`${what} not fit: ${why}`);
    });
}

/** A tool with all defaults of its definition. */
export interface Tool {
    readonly name: string;
    readonly confirm: boolean;
    readonly readOnly: boolean;
    readonly idempotent: boolean;
    readonly retries: number;
    readonly timeout: number | undefined;
    call(input: unknown, context: Context): unknown;
}

/** The tools that programs may call. Every module that they are used with has its own catalogue of them. */
export class ToolSet implements Iterable<string> {
    /** The definitions by name, as given. */
    readonly definitions: { readonly [name: string]: ToolDefinition };
    private readonly tools = new Map<string, Tool>();
    private readonly texts: readonly [string, string];
    private readonly held = new Map<Runner, Held<Module, Catalogue>>();

    /** @internal */
    constructor(
        private readonly home: Runner,
        definitions: { readonly [name: string]: ToolDefinition },
    ) {
        expect("`tools`", definitions, [TOOLS[0], isPlain]);
        this.definitions = { ...definitions };
        for (const [name, definition] of Object.entries(definitions)) this.tools.set(name, tool(name, definition));
        const policies = Object.entries(definitions).map(([name, definition]) => policy(name, definition));
        this.texts = [catalogue(definitions), JSON.stringify(policies)];
    }

    /** @internal */
    [INSPECT](): object {
        return shown("Tools", { names: () => [...this.tools.keys()] });
    }

    /** @internal Signatures and policies, in a module. */
    in(runner: Runner): Catalogue {
        let held = this.held.get(runner);
        if (!held) {
            held = new Held(runner, (module) => new module.Catalogue(...this.texts));
            this.held.set(runner, held);
        }
        return held.get();
    }

    /** The signatures of the tools, for a model. */
    signatures(): string[] {
        const catalogue = this.in(this.home);
        return JSON.parse(this.home.call(() => catalogue.signatures()));
    }

    /** The own name of the tool that a program calls by this name. */
    ownName(name: string): string | undefined {
        expect("`name`", name, TEXT);
        const catalogue = this.in(this.home);
        return this.home.call(() => catalogue.ownName(name));
    }

    /** These tools and others. */
    and(others: GivenTools): this {
        expect("`tools`", others, TOOLS);
        const more = others instanceof ToolSet ? others.definitions : others;
        const twice = Object.keys(more).find((name) => this.tools.has(name));
        if (twice !== undefined) throw new TypeError(`two tools have the name \`${twice}\``);
        const Own = this.constructor as new (definitions: object) => this;
        return new Own({ ...this.definitions, ...more });
    }

    /** The tool of that name. */
    get(name: string): Tool | undefined {
        return this.tools.get(name);
    }

    has(name: string): boolean {
        return this.tools.has(name);
    }

    /** Frees the memory in the module. The catalogue is made again if the tools are used afterwards. */
    dispose(): void {
        for (const held of this.held.values()) held.free();
    }

    [Symbol.dispose](): void {
        this.dispose();
    }

    get size(): number {
        return this.tools.size;
    }

    [Symbol.iterator](): Iterator<string> {
        return this.tools.keys();
    }
}

function tool(name: string, definition: ToolDefinition): Tool {
    defined(name, definition);
    const { retries = 0, idempotent = false, readOnly = false } = definition;
    if (retries && !(idempotent || readOnly)) {
        throw new TypeError(`tool \`${name}\`: \`retries\` is only for tools that are \`idempotent\` or \`readOnly\``);
    }
    const { confirm = false, timeout } = definition;
    return { name, confirm, readOnly, idempotent, retries, timeout, call: caller(definition) };
}

/** How a tool is called: with the validation of its schemas, if they have one. */
function caller(definition: ToolDefinition): Tool["call"] {
    const [input, output] = [standard(definition.schema), standard(definition.outputSchema)];
    if (!input && !output) return (given, context) => definition.execute(given, context);
    return (given, context) => {
        const fit = input ? validated(input, given, "the arguments do") : given;
        context.isHeld = isThenable(fit);
        const answer = then(fit, (fit) => {
            context.release();
            return definition.execute(fit, context);
        });
        return output ? then(answer, (answer) => validated(output, answer, "the answer does")) : answer;
    };
}

function policy(name: string, definition: ToolDefinition): object {
    const { readOnly = false, idempotent = false, retries = 0, confirm = false } = definition;
    const { timeout = null, onUnanswered, onDoubt = onUnanswered ?? "fail", requiresRollback = false } = definition;
    return { name, readOnly, idempotent, retries, confirm, timeout, onDoubt, requiresRollback };
}

/** The empty catalogues, with which nothing is known about tools. */
const none = new WeakMap<Runner, Held<Module, Catalogue>>();

/** The tools given by a caller. */
export function toolsOf(runner: Runner, given: GivenTools | undefined): ToolSet {
    return given instanceof ToolSet ? given : new ToolSet(runner, given ?? {});
}

/** Works with the catalogue of a caller's tools, or with an empty one. */
export function withCatalogue<T>(runner: Runner, given: GivenTools | undefined, work: (catalogue: Catalogue) => T): T {
    if (given === undefined) {
        const held = none.get(runner) ?? new Held(runner, (module) => new module.Catalogue());
        none.set(runner, held);
        return work(held.get());
    }
    const tools = toolsOf(runner, given);
    try {
        return work(tools.in(runner));
    } finally {
        if (tools !== given) tools.dispose();
    }
}
