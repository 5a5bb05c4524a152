/** Reads the definition of a tool, in the form of a catalogue. */

import { FLAG, FUNCTION, NUMBER, TEXT, checkFields, type Kind, type Kinds } from "./given.js";
import { isThenable, partOf, shortened, textOf } from "./json.js";
import type { Schema, ToolDefinition } from "./types.js";

export const SCHEMA: Kind = [
    "an object, `Json` or a schema of Standard Schema",
    (value) => typeof value === "function" || (typeof value === "object" && value !== null && !Array.isArray(value)),
];
const UNANSWERED: Kind = ['"fail" or "stop"', (value) => value === "fail" || value === "stop"];
const DEFINITION: Kinds<ToolDefinition> = {
    schema: SCHEMA,
    outputSchema: SCHEMA,
    description: TEXT,
    execute: FUNCTION,
    readOnly: FLAG,
    idempotent: FLAG,
    retries: NUMBER,
    confirm: FLAG,
    timeout: NUMBER,
    onUnanswered: UNANSWERED,
    onDoubt: UNANSWERED,
    requiresRollback: FLAG,
    validate: FLAG,
};

/** Refuses a value that is not a definition of a tool. */
export function defined(name: string, definition: ToolDefinition): void {
    if (typeof definition?.execute !== "function") {
        throw new TypeError(`tool \`${name}\`: expected an object with the function \`execute\``);
    }
    checkFields(`tool \`${name}\``, definition, DEFINITION);
}

/** The parts of zod and other libraries of Standard Schema that are used here. */
export interface Standard {
    readonly vendor: string;
    validate(value: unknown): Result | Promise<Result>;
    readonly jsonSchema?: {
        input(options: { target: string }): Schema;
        output(options: { target: string }): Schema;
    };
}

export interface Result {
    readonly value?: unknown;
    readonly issues?: readonly { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[] }[] | undefined;
}

const TARGET = { target: "draft-2020-12" };

export function standard(schema: unknown): Standard | undefined {
    const has = typeof schema === "object" || typeof schema === "function";
    return has && schema !== null ? (schema as { "~standard"?: Standard })["~standard"] : undefined;
}

/** What to write in place of a schema that its library cannot convert by itself. */
const INSTEAD: { readonly [vendor: string]: string } = {
    zod: "write it with zod 4, or pass a JSON schema",
    valibot: "wrap it in `toStandardJsonSchema` of `@valibot/to-json-schema`",
};

type Convert = (schema: unknown) => Schema | undefined;

/** Converts a schema of a library to JSON, if the library can. */
function converter(side: "input" | "output"): Convert {
    return (schema) => {
        const rich = standard(schema);
        if (rich?.jsonSchema) return rich.jsonSchema[side](TARGET);
        const own = (schema as { toJSONSchema?: (options: { io: string }) => Schema }).toJSONSchema;
        return typeof own === "function" ? own.call(schema, { io: side }) : undefined;
    };
}

/** The path to the innermost part of a schema of zod that cannot be converted. */
function place(schema: unknown, convert: Convert, deep = 8): string {
    const def = (schema as { def?: { shape?: object; element?: unknown; innerType?: unknown } }).def;
    const parts: [string, unknown][] = Object.entries(def?.shape ?? {}).map(([name, part]) => [`.${name}`, part]);
    parts.push(["[]", def?.element], ["", def?.innerType]);
    for (const [step, part] of deep > 0 ? parts : []) {
        if (!standard(part)) continue;
        try {
            convert(part);
        } catch {
            return `${step}${place(part, convert, deep - 1)}`;
        }
    }
    return "";
}

/** A schema as JSON: of what goes into its library, or of what comes out of it. */
export function jsonSchema(of: string, which: string, side: "input" | "output", schema: unknown): unknown {
    const rich = standard(schema);
    const convert = converter(side);
    let found = schema;
    try {
        if (rich) found = convert(schema);
        if (isThenable(found)) throw new TypeError("it is a promise; await it before");
    } catch (error) {
        const path = place(schema, convert).replace(/^\./, "");
        const where = path ? ` at \`${shortened(path)}\`` : "";
        throw new TypeError(`${of}: its \`${which}\` has no JSON schema${where}: ${textOf(error)}`);
    }
    if (found !== undefined || !rich) return found;
    const instead = INSTEAD[rich.vendor] ?? "pass a JSON schema";
    throw new TypeError(`${of}: the \`${which}\` of ${rich.vendor} has no JSON schema; ${instead}`);
}

/** A catalogue of tools in MCP's form, as JSON. */
export function catalogue(definitions: { readonly [name: string]: ToolDefinition }): string {
    return `[${Object.entries(definitions).map(([name, definition]) => entry(name, definition)).join(",")}]`;
}

/** What a card says of the policy. */
function policy({ requiresRollback, confirm }: ToolDefinition): object | undefined {
    if (!requiresRollback && !confirm) return undefined;
    return { ...(requiresRollback && { rollback: "required" }), ...(confirm && { confirm: true }) };
}

function entry(name: string, definition: ToolDefinition): string {
    const of = `tool \`${shortened(name)}\``;
    const parts: { [key: string]: unknown } = {
        name,
        description: definition.description,
        inputSchema: jsonSchema(of, "schema", "input", definition.schema),
        outputSchema: jsonSchema(of, "outputSchema", "output", definition.outputSchema),
        validate: definition.validate ?? true,
        policy: policy(definition),
    };
    const given = Object.entries(parts).filter(([, value]) => value !== undefined);
    const text = given.map(([key, value]) => {
        const what = `${of}: its ${key === "inputSchema" ? "schema" : key}`;
        return `"${key}":${partOf(what, value)}`;
    });
    return `{${text.join(",")}}`;
}
