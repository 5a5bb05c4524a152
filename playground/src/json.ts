// JSON whose integers past 2^53 are exact, and JSON for people to read.

import type { Value } from "./core.js";

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

/** Reads JSON. Throws `SyntaxError`. */
export function parse(text: string): Value {
    const exact: Reviver = (_, value, context) => {
        const source = context?.source;
        const rounded = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
        return rounded && source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
    };
    try {
        return JSON.parse(text, exact as (key: string, value: unknown) => unknown) as Value;
    } catch (error) {
        // The browser's stack, whose size it does not tell.
        if (error instanceof RangeError) throw new SyntaxError("the JSON is nested too deeply");
        throw error;
    }
}

/** Writes JSON on one line if it is short, else with an item in each line. */
export function print(value: Value, indent = ""): string {
    if (typeof value === "bigint") return value.toString();
    if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
    const inner = `${indent}  `;
    const list = Array.isArray(value);
    const parts = list
        ? value.map((item) => print(item, inner))
        : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${print(item, inner)}`);
    const [open, close] = list ? ["[", "]"] : ["{", "}"];
    if (parts.length === 0) return open + close;
    const line = `${open}${parts.join(", ")}${close}`;
    if (line.length + indent.length <= 76 && !line.includes("\n")) return line;
    return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
}

/** The first characters of a text, and the number of those left out. */
export function shortened(text: string, most: number): string {
    return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more characters)`;
}
