// Tools files: the tools with their schemas and policies, and the fixed answers of their mocks.

import type { Schema, Value } from "./core.js";
import { parse } from "./json.js";

/** A tool in the form of a tools file. */
export interface MockTool {
    readonly description?: string;
    readonly inputSchema?: Schema;
    readonly outputSchema?: Schema;
    readonly validate: boolean;
    readonly readOnly: boolean;
    readonly idempotent: boolean;
    readonly retries: number;
    readonly requiresRollback: boolean;
    /** No answers: a person answers. */
    readonly answers: readonly Answer[] | null;
}

/** One answer of a mock. */
export interface Answer {
    readonly when: Value | undefined;
    readonly times: number;
    readonly delay: number;
    readonly ok: boolean;
    readonly value: Value;
}

type Fields = { [name: string]: Value };

/** The longest delay of an answer. */
const LONGEST_DELAY = 60_000;

/** The error of a tools file. */
export class ToolsError extends Error {}

const isRecord = (value: Value | undefined): value is Fields =>
    typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads a tools file: a record of tools, also below `tools`, or the list of tools of an MCP server. */
export function readTools(text: string): Map<string, MockTool> | null {
    if (text.trim() === "") return null;
    let file: Value;
    try {
        file = parse(text);
    } catch (error) {
        throw new ToolsError(error instanceof Error ? error.message : String(error));
    }
    const inner = isRecord(file) && (isRecord(file["tools"]) || Array.isArray(file["tools"])) ? file["tools"] : file;
    const tools = new Map<string, MockTool>();
    if (Array.isArray(inner)) {
        inner.forEach((item, at) => {
            const name = isRecord(item) ? item["name"] : undefined;
            if (!isRecord(item) || typeof name !== "string") throw new ToolsError(`tools[${at}]: expected a record with \`name\``);
            tools.set(name, readTool(name, item));
        });
    } else if (isRecord(inner)) {
        for (const [name, item] of Object.entries(inner)) {
            if (!isRecord(item)) throw new ToolsError(`tool \`${name}\`: expected a record`);
            tools.set(name, readTool(name, item));
        }
    } else {
        throw new ToolsError("expected a record with a tool for each name");
    }
    return tools;
}

function readTool(name: string, fields: Fields): MockTool {
    const flag = (key: string): boolean => fields[key] === true;
    const schema = (...keys: string[]): Schema | undefined => keys.map((key) => fields[key]).find(isRecord) as Schema | undefined;
    const hints = isRecord(fields["annotations"]) ? fields["annotations"] : {};
    const retries = fields["retries"];
    const inputSchema = schema("input_schema", "inputSchema");
    const outputSchema = schema("output_schema", "outputSchema");
    return {
        ...(typeof fields["description"] === "string" ? { description: fields["description"] } : {}),
        ...(inputSchema ? { inputSchema } : {}),
        ...(outputSchema ? { outputSchema } : {}),
        validate: fields["validate"] !== false,
        readOnly: flag("read_only") || hints["readOnlyHint"] === true,
        idempotent: flag("idempotent") || hints["idempotentHint"] === true,
        retries: typeof retries === "number" ? retries : 0,
        requiresRollback: fields["rollback"] === "required",
        answers: readAnswers(name, fields["mock"]),
    };
}

function readAnswers(name: string, mock: Value | undefined): Answer[] | null {
    if (mock === undefined) return null;
    const entries = Array.isArray(mock) ? mock : [mock];
    if (entries.length === 0) throw new ToolsError(`tool \`${name}\`: a mock without an answer; give it \`returns\` or \`fails\``);
    return entries.map((entry, at) => {
        const place = `tool \`${name}\`, answer ${at + 1}`;
        if (!isRecord(entry)) throw new ToolsError(`${place}: expected a record`);
        const [returns, fails] = ["returns" in entry, "fails" in entry];
        if (returns === fails) {
            throw new ToolsError(`${place}: expected \`returns\` or \`fails\`, found ${returns ? "both" : "neither"}`);
        }
        const stray = Object.keys(entry).find((key) => !["when", "times", "delay_ms", "returns", "fails"].includes(key));
        if (stray !== undefined) throw new ToolsError(`${place}: there is no key \`${stray}\``);
        return {
            when: entry["when"],
            times: count(place, entry, "times", Infinity),
            delay: Math.min(count(place, entry, "delay_ms", 0), LONGEST_DELAY),
            ok: returns,
            value: (returns ? entry["returns"] : entry["fails"]) ?? null,
        };
    });
}

function count(place: string, fields: Fields, key: string, without: number): number {
    const value = fields[key];
    if (value === undefined) return without;
    if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
    throw new ToolsError(`${place}: \`${key}\` is a whole number`);
}

/** The mock of one tool during a run, which counts how often each answer was used. */
export class Mock {
    readonly #used: number[];

    constructor(
        readonly name: string,
        readonly answers: readonly Answer[],
    ) {
        this.#used = answers.map(() => 0);
    }

    /** The answer to a call; the call counts as made. */
    answer(args: Value): { delay: number; ok: boolean; value: Value } {
        const at = this.#find(args);
        if (at === -1) return { delay: 0, ok: false, value: `no entry of the mock \`${this.name}\` fits the arguments` };
        this.#used[at]! += 1;
        return this.answers[at]!;
    }

    /** The answer that it would give. */
    peek(args: Value): { ok: boolean; value: Value } | null {
        return this.answers[this.#find(args)] ?? null;
    }

    /** Whether calls may begin in any order. */
    get mayRunAhead(): boolean {
        return this.answers.every((answer) => answer.times === Infinity);
    }

    #find(args: Value): number {
        return this.answers.findIndex(
            (answer, at) => (answer.when === undefined || fits(answer.when, args)) && this.#used[at]! < answer.times,
        );
    }
}

/** Whether `found` contains all of `wanted`: its records may have more fields. */
export function fits(wanted: Value, found: Value | undefined): boolean {
    if (Array.isArray(wanted)) {
        return Array.isArray(found) && wanted.length === found.length && wanted.every((item, at) => fits(item, found[at]));
    }
    if (isRecord(wanted)) {
        return isRecord(found) && Object.entries(wanted).every(([name, value]) => Object.hasOwn(found, name) && fits(value, found[name]));
    }
    const number = (value: Value | undefined) => typeof value === "number" || typeof value === "bigint";
    return number(wanted) && number(found) ? wanted == found : wanted === found;
}
