/** What a caller gave, held against what it must be: the module itself cannot look. */

/** What a value is, for a message. */
function kindOf(value: unknown): string {
    if (value === null || value === undefined) return String(value);
    return Array.isArray(value) ? "an array" : `a value of type \`${typeof value}\``;
}

/** A text that a caller gave. The module would read anything else from outside its memory. */
export function string(name: string, value: string): string {
    if (typeof value === "string") return value;
    throw new TypeError(`\`${name}\` expects a string, found ${kindOf(value)}`);
}

/** Bytes that a caller gave. */
export function bytes(name: string, value: Uint8Array): Uint8Array {
    if (value instanceof Uint8Array) return value;
    throw new TypeError(`\`${name}\` expects a Uint8Array, found ${kindOf(value)}`);
}

/** A function that a caller gave, or nothing. */
export function checkFunction(name: string, value: unknown): void {
    if (value === undefined || typeof value === "function") return;
    throw new TypeError(`\`${name}\` expects a function, found ${kindOf(value)}`);
}

/** A signal that a caller gave, or nothing. */
export function checkSignal(value: AbortSignal | undefined): void {
    if (value === undefined || typeof (value as AbortSignal | null)?.addEventListener === "function") return;
    throw new TypeError(`\`signal\` expects an AbortSignal, found ${kindOf(value)}`);
}
