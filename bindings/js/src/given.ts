/** Checks the types of arguments from callers, which the module cannot check. */

/** The kind of a value, for a message. */
function kindOf(value: unknown): string {
    if (value === null || value === undefined) return String(value);
    return Array.isArray(value) ? "an array" : `a value of type \`${typeof value}\``;
}

/** Checks a text from a caller. Given anything else, the module would read outside its memory. */
export function string(name: string, value: string): string {
    if (typeof value === "string") return value;
    throw new TypeError(`\`${name}\` expects a string, found ${kindOf(value)}`);
}

/** Checks bytes from a caller. */
export function bytes(name: string, value: Uint8Array): Uint8Array {
    if (value instanceof Uint8Array) return value;
    throw new TypeError(`\`${name}\` expects a Uint8Array, found ${kindOf(value)}`);
}

/** Checks a function from a caller; nothing is allowed too. */
export function checkFunction(name: string, value: unknown): void {
    if (value === undefined || typeof value === "function") return;
    throw new TypeError(`\`${name}\` expects a function, found ${kindOf(value)}`);
}

/** Checks a signal from a caller; nothing is allowed too. */
export function checkSignal(value: AbortSignal | undefined): void {
    if (value === undefined || typeof (value as AbortSignal | null)?.addEventListener === "function") return;
    throw new TypeError(`\`signal\` expects an AbortSignal, found ${kindOf(value)}`);
}
