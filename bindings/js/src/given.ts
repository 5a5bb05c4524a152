/** Checks the arguments of callers. The module cannot check them, and JavaScript ignores unknown options. */

/** What is expected of a value, in words, and whether a value is that. */
export type Kind = readonly [expected: string, fits: (value: any) => boolean];

/** The kind of each field of an object. */
export type Kinds<T> = { readonly [name in keyof Required<T>]: Kind };

export const ANY: Kind = ["a value", () => true];
export const TEXT: Kind = ["a string", (value) => typeof value === "string"];
export const FLAG: Kind = ["true or false", (value) => typeof value === "boolean"];
export const NUMBER: Kind = ["a number", (value) => typeof value === "number" && !Number.isNaN(value)];
export const FUNCTION: Kind = ["a function", (value) => typeof value === "function"];
export const BYTES: Kind = ["a Uint8Array", (value) => value instanceof Uint8Array];
export const SIGNAL: Kind = ["an AbortSignal", (value) => typeof value?.addEventListener === "function"];
export const BIGINT: Kind = ['"text"', (value) => value === "text"];
export const RECORD: Kind = ["an object", isPlain];
export const NAMES: Kind = ["an array of strings", (value) => Array.isArray(value) && value.every(TEXT[1])];

/** Characters of a text that a message shows. */
const SHOWN = 40;

/** Whether a value is a plain object: of any realm, or without a prototype. */
export function isPlain(value: unknown): value is { readonly [name: string]: unknown } {
    if (typeof value !== "object" || value === null) return false;
    const prototype = Object.getPrototypeOf(value);
    return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

/** A value, for a message. */
function shown(value: unknown): string {
    if (typeof value === "string") return JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);
    if (Array.isArray(value)) return "an array";
    const simple = value === null || !["object", "function", "symbol"].includes(typeof value);
    return simple ? String(value) : `a value of type \`${typeof value}\``;
}

/** Checks one argument. If it expects a text and got something else, the module would read outside its memory. */
export function expect<T>(name: string, value: T, [expected, fits]: Kind): T {
    if (fits(value)) return value;
    throw new TypeError(`${name} expects ${expected}, found ${shown(value)}`);
}

/** Checks that an object has no other fields than these, and that each is undefined or of its kind. */
export function checkFields<T extends object>(what: string, given: T, kinds: Kinds<T>): void {
    const wrong = Object.keys(given).find((name) => !Object.hasOwn(kinds, name));
    if (wrong !== undefined) {
        throw new TypeError(`${what}: there is no \`${wrong}\`, only ${Object.keys(kinds).join(", ")}`);
    }
    for (const name in kinds) {
        if (given[name] !== undefined) expect(`${what}: \`${name}\``, given[name], kinds[name]);
    }
}

/** Checks the options of a function, or another object that has no class. */
export function checkOptions<T extends object>(given: T, kinds: Kinds<T>, what = "options"): void {
    if (!isPlain(given)) throw new TypeError(`${what}: expected an object, found ${shown(given)}`);
    checkFields(what, given, kinds);
}
