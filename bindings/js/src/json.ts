/**
 * Values between JavaScript and the language, as JSON with exact integers.
 *
 * What the language has no value for is refused with its path: integers past 64 bits, numbers that are not
 * finite, bytes, instances of classes, functions, circular values.
 */

import { BadValue } from "./errors.js";
import { TEXT, expect, isPlain } from "./given.js";

/** The bounds of a value. */
export interface Bounds {
    readonly depth: number;
    readonly values: number;
    readonly bytes: number;
}

/** The bounds of inputs and other values of the caller: the limits of the run apply. */
export const WIDE: Bounds = { depth: 1025, values: 1 << 24, bytes: Infinity };

/**
 * A value as a text of JSON, exact to the digit and the order of its fields: an input, an answer or a failure may be
 * one. JavaScript itself cannot say `2.0`, and puts fields such as `10` first.
 */
export class Json {
    constructor(readonly text: string) {
        expect("`Json`", text, TEXT);
    }

    toJSON(): unknown {
        return JSON.parse(this.text);
    }
}

/** A value exceeds a bound: depth 0, values 1, bytes 2. */
export class Past {
    constructor(readonly bound: 0 | 1 | 2) {}

    message(what: string, bounds: Bounds): string {
        const texts = [
            `${what} is nested deeper than ${bounds.depth}`,
            `${what} has more than ${bounds.values} values`,
            `${what} has more than ${bounds.bytes} bytes`,
        ];
        return texts[this.bound] as string;
    }
}

/** A value has no form in the language. */
export class NoValue {
    /** The steps of its path, the last one first. */
    readonly path: string[] = [];

    constructor(
        readonly found: string,
        readonly verb = "",
        readonly advice = "",
    ) {}

    message(what: string): string {
        if (this.verb) return `${what} ${this.verb} ${this.found}`;
        const path = shortened([...this.path].reverse().join("").replace(/^\./, ""));
        const message = path ? `${what} has ${this.found} at \`${path}\`` : `${what} is ${this.found}`;
        return message + this.advice;
    }
}

/** Characters of a name or path that are shown in a message. */
const SHOWN = 80;
const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;
/** Short texts that are written without escaping, as most can be. */
const PLAIN = /^[ !#-[\]-~]{0,64}$/;
const LONE = /\p{Surrogate}/gu;
const WHOLE = "; write the whole character, or U+FFFD in its place";

/** The part of a text that a message shows, without halves of surrogate pairs. */
export function shortened(text: string): string {
    return wellFormed(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
}

/** A text without halves of surrogate pairs, which no other language has. */
export function wellFormed(text: string): string {
    return text.replace(LONE, "\ufffd");
}

/** A value as JSON, or the reason why it has none. */
export function write(value: unknown, bounds: Bounds): string | Past | NoValue {
    if (isOf(value, Json)) return value.text;
    try {
        return new Writer(bounds).write(value);
    } catch (thrown) {
        if (isOf(thrown, Past) || isOf(thrown, NoValue)) return thrown;
        // A getter or a proxy has thrown, possibly any value.
        return new NoValue(textOf(thrown), "could not be read:");
    }
}

/** A value of a caller as JSON. */
export function jsonOf(what: string, value: unknown): string {
    const text = write(value, WIDE);
    if (typeof text === "string") return text;
    throw new BadValue(text instanceof Past ? text.message(what, WIDE) : text.message(what));
}

class Writer {
    private values = 0;
    private units = 0;
    /** The containers around a value, to tell a circular value from a deep one. */
    private readonly around: object[] = [];

    constructor(private readonly bounds: Bounds) {}

    write(value: unknown): string {
        if (++this.values > this.bounds.values) throw new Past(1);
        switch (typeof value) {
            case "string":
                return this.text(value);
            case "number":
                return number(value);
            case "boolean":
                return value ? "true" : "false";
            case "undefined":
                return "null";
            case "bigint":
                if (value < LEAST || value > MOST) throw new NoValue("an integer past 64 bits");
                return value.toString();
            case "object":
                return value === null ? "null" : this.container(value);
            default:
                throw new NoValue(`a ${typeof value}`);
        }
    }

    private text(text: string): string {
        this.units += text.length;
        if (this.units > this.bounds.bytes) throw new Past(2);
        if (PLAIN.test(text)) return `"${text}"`;
        if (!isWellFormed(text)) throw new NoValue("a text with half of a surrogate pair", "", WHOLE);
        return JSON.stringify(text);
    }

    private container(value: object): string {
        if (value instanceof Date) return this.text(date(value));
        const list = Array.isArray(value);
        if (!list && !isPlain(value)) throw new NoValue(noForm(value));
        if (this.around.length >= this.bounds.depth) {
            const all = [...this.around, value];
            throw new Set(all).size < all.length ? new NoValue("a value that contains itself") : new Past(0);
        }
        this.around.push(value);
        const text = list ? this.list(value) : this.record(value as Record<string, unknown>);
        this.around.pop();
        return text;
    }

    private list(value: unknown[]): string {
        let out = "[";
        for (let at = 0; at < value.length; at++) {
            try {
                out += (at ? "," : "") + this.write(value[at]);
            } catch (thrown) {
                throw below(thrown, `[${at}]`);
            }
        }
        return out + "]";
    }

    private record(value: Record<string, unknown>): string {
        let out = "";
        for (const name of Object.keys(value)) {
            try {
                const field = value[name];
                if (field === undefined) continue;
                out += (out ? "," : "{") + this.text(name) + ":" + this.write(field);
            } catch (thrown) {
                throw below(thrown, `.${name}`);
            }
        }
        return out ? out + "}" : "{}";
    }
}

/** A time as its ISO text. */
function date(value: Date): string {
    const time = Date.prototype.getTime.call(value);
    if (Number.isNaN(time)) throw new NoValue("a date that is not valid");
    return new Date(time).toISOString();
}

/** Adds a step to the path of an error. */
function below(thrown: unknown, step: string): unknown {
    if (thrown instanceof NoValue) thrown.path.push(step);
    return thrown;
}

/** A number: an integer if JavaScript has it exactly, else a double, which has a point or an exponent. */
function number(value: number): string {
    if (Number.isSafeInteger(value)) return Object.is(value, -0) ? "-0.0" : String(value);
    if (!Number.isFinite(value)) throw new NoValue("a number that is not finite");
    return Number.isInteger(value) ? value.toExponential() : String(value);
}

function isWellFormed(text: string): boolean {
    const own = (text as { isWellFormed?: () => boolean }).isWellFormed;
    return own ? own.call(text) : text.search(LONE) < 0;
}

function noForm(value: object): string {
    const name = value.constructor?.name;
    const shown = shortened(typeof name === "string" && name ? name : "?");
    return `a value of the class \`${shown}\`, which has no form in JSON`;
}

/** Whether a value is of a class. Never throws. */
export function isOf<T>(value: unknown, kind: new (...given: any[]) => T): value is T {
    try {
        return value instanceof kind;
    } catch {
        // A revoked proxy.
        return false;
    }
}

/** The message of a thrown value, without halves of surrogate pairs. Never throws. */
export function textOf(thrown: unknown): string {
    try {
        return wellFormed(thrown instanceof Error ? String(thrown.message) : String(thrown));
    } catch {
        return "";
    }
}

/** Only texts with this number of digits can contain an integer that JavaScript would round. */
const DIGITS = 16;
const LONG = /\d{16}/;
/** What `JSON.stringify` writes for half of a surrogate pair; after another `\` it is something else. */
const HALF = /\\ud[89a-f]/;

/** A schema or another part of a tool as JSON. If it has no long integers, `JSON.stringify` is faster. */
export function partOf(what: string, value: unknown): string {
    let text: string | undefined;
    try {
        text = JSON.stringify(value);
    } catch {
        // `jsonOf` writes it, or says what it is.
    }
    if (text === undefined) return jsonOf(what, value);
    // Also what is in a `Json` is refused here, since the module would not name the tool.
    if (HALF.test(text)) jsonOf(what, JSON.parse(text));
    return LONG.test(text) || value instanceof Json ? jsonOf(what, value) : text;
}

/** The texts of a text of JSON, each with the colon behind a name, and its numbers. */
const TOKENS = /"(?:[^"\\]|\\[^])*"?(\s*:)?|-?\d[\d.eE+-]*/g;
/** The beginning of a text in which an integer is. A text of its own that begins so has it twice. */
const MARK = "\ue000";
const MARKED = /^"(?:\ue000|\\ue000)/i;
const INTEGER = /^-?\d+$/;

/** Reads JSON of the module; integers past 2^53 become `bigint`, or texts. */
export function parse(text: string, asText = false): any {
    if (text.length < DIGITS || !LONG.test(text)) return JSON.parse(text);
    const marked = text.replace(TOKENS, (token: string, colon: string | undefined) => {
        if (colon !== undefined) return token;
        if (token.startsWith('"')) return MARKED.test(token) ? `"${MARK}${token.slice(1)}` : token;
        return INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${MARK}${token}"` : token;
    });
    return JSON.parse(marked, (_, value: unknown) => {
        if (typeof value !== "string" || !value.startsWith(MARK)) return value;
        const rest = value.slice(1);
        return asText || rest.startsWith(MARK) ? rest : BigInt(rest);
    });
}

/** The methods of an outcome, which `JSON.stringify` and comparisons do not see as its fields. */
export interface Texts {
    /** The outcome as JSON, exact to the digit. */
    toText(): string;
    /** What `JSON.stringify` writes: integers past 2^53 as texts. */
    toJSON(): unknown;
}

/** An outcome of the module, with the text that it came from. */
export function outcomeOf(text: string, asText: boolean): any {
    return withTexts(parse(text, asText), () => text);
}

/** Adds the methods of an outcome. */
export function withTexts<T extends object>(outcome: T, toText: () => string): T & Texts {
    // Two calls take two thirds of the time of `defineProperties`.
    Object.defineProperty(outcome, "toText", { value: toText });
    return Object.defineProperty(outcome, "toJSON", { value: () => parse(toText(), true) }) as T & Texts;
}

/** Whether a value is a promise, or has a method `then`. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
    return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
