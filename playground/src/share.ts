// The state of the page in the fragment of its address: compressed, and bounded on reading.

import { MOST_TEXT } from "./editor.js";

/** The content of an address. */
export interface Shared {
    readonly source: string;
    readonly tools: string;
    readonly inputs: string;
    readonly fuel?: number;
}

/** The longest fragment that is written or read. */
export const MOST_FRAGMENT = 100_000;
/** The longest text in a fragment after unpacking: a small fragment can contain a very long one. */
export const MOST_UNPACKED = 4_000_000;
/** The version of the fragment. */
const PREFIX = "#1=";

/** The reason why an address cannot be read or written. */
export class ShareError extends Error {}

async function through(bytes: Uint8Array<ArrayBuffer>, stream: GenericTransformStream, most: number): Promise<Uint8Array<ArrayBuffer>> {
    const reader = (new Blob([bytes]).stream().pipeThrough(stream) as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        length += value.length;
        if (length > most) {
            await reader.cancel();
            throw new ShareError("this address holds more than the page reads");
        }
        parts.push(value);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Writes the state as a fragment. Throws `ShareError` if it is too long for an address. */
export async function write(shared: Shared): Promise<string> {
    const state = { s: shared.source, t: shared.tools, i: shared.inputs, ...(shared.fuel === undefined ? {} : { f: shared.fuel }) };
    const json = new TextEncoder().encode(JSON.stringify(state));
    const tooLong = () => new ShareError("too long to share by address; save the program in a file");
    if (json.length > MOST_UNPACKED) throw tooLong();
    const packed = await through(json, new CompressionStream("deflate-raw"), MOST_UNPACKED);
    if (packed.length > MOST_FRAGMENT) throw tooLong();
    const characters = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
    const fragment = PREFIX + btoa(characters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    if (fragment.length > MOST_FRAGMENT) throw tooLong();
    return fragment;
}

/** Reads the state from a fragment; nothing if there is none. Throws `ShareError`. */
export async function read(fragment: string): Promise<Shared | null> {
    if (fragment.length <= 1) return null;
    if (!fragment.startsWith(PREFIX)) throw new ShareError("this address has another form than the page writes");
    if (fragment.length > MOST_FRAGMENT) throw new ShareError("this address is longer than the page reads");
    try {
        const coded = fragment.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/");
        const packed = Uint8Array.from(atob(coded), (character) => character.charCodeAt(0));
        const json = await through(packed, new DecompressionStream("deflate-raw"), MOST_UNPACKED);
        return checked(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(json)));
    } catch (error) {
        if (error instanceof ShareError) throw error;
        throw new ShareError("this address is damaged");
    }
}

function checked(state: unknown): Shared {
    if (typeof state !== "object" || state === null) throw new ShareError("this address is damaged");
    const text = (key: string): string => {
        const value = (state as { [key: string]: unknown })[key];
        if (typeof value !== "string") throw new ShareError("this address is damaged");
        if (value.length > MOST_TEXT) throw new ShareError("this address holds more than the page reads");
        return value;
    };
    const fuel = (state as { f?: unknown }).f;
    const bounded = typeof fuel === "number" && Number.isSafeInteger(fuel) && fuel > 0;
    return { source: text("s"), tools: text("t"), inputs: text("i"), ...(bounded ? { fuel } : {}) };
}
