/** Vocabularies of tokenizers: the bytes of each token. */

import { NUMBER, TEXT, checkOptions, expect, type Kinds } from "../given.js";
import { Owned, bytesOf, core, natural } from "./core.js";
import type { Vocabulary } from "../guide_glue.js";

/** The tokens of a model. Special tokens have no bytes and are never allowed. Many guides share a vocabulary. */
export class Vocab extends Owned<Vocabulary> {
    /** The number of tokens. */
    readonly length: number;
    /** The token that ends a text. */
    readonly eos: number;

    /** `tokens` are the bytes of each token, or its text; `eos` is the number of the one that ends a text. */
    constructor(tokens: Iterable<Uint8Array | string>, eos: number) {
        // A text is iterable too: its characters would be the tokens.
        expect("`tokens`", tokens, ["the bytes of each token, or its text", (value) => !TEXT[1](value)]);
        const all: Uint8Array[] = [];
        for (const token of tokens) all.push(bytesOf(`token ${all.length}`, token));
        const lengths = Uint32Array.from(all, (token) => token.length);
        const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
        let at = 0;
        for (const token of all) {
            bytes.set(token, at);
            at += token.length;
        }
        const end = natural("eos", eos);
        super(core.call((module) => new module.Vocabulary(bytes, lengths, end)));
        this.length = all.length;
        this.eos = end;
    }

    /** The number of words of a mask. Bit `t % 32` of word `t >>> 5` is that of token `t`. */
    get maskWords(): number {
        return Math.ceil(this.length / 32);
    }

    /** The bytes of a token. */
    token(token: number): Uint8Array {
        const number = natural("token", token);
        return this.use((handle) => handle.token(number));
    }

    /** Splits a text into tokens, the longest first; nothing if a part of it is not a token. */
    cut(text: string | Uint8Array): Uint32Array | undefined {
        const bytes = bytesOf("`text`", text);
        return this.use((handle) => handle.cut(bytes));
    }
}

/** The parts of a `tokenizer.json` that define the bytes of tokens. */
interface Tokenizer {
    readonly model?: { readonly vocab?: { readonly [token: string]: number } | readonly (readonly [string, number])[] };
    readonly decoder?: Decoder | null;
    readonly added_tokens?: readonly { readonly id: number; readonly content: string; readonly special: boolean }[];
}

interface Decoder {
    readonly type?: string;
    readonly decoders?: readonly Decoder[];
}

/** The options of `readVocab`. */
export interface ReadOptions {
    /** The token that ends a text: its number, or its text, such as `"<|im_end|>"`. */
    eos: number | string;
    /** The number of token numbers of the model, if it has more than the tokenizer. The others are never allowed. */
    size?: number;
}

const READ: Kinds<ReadOptions> = { eos: ["a number or a string", (value) => NUMBER[1](value) || TEXT[1](value)], size: NUMBER };

/** The vocabulary of a `tokenizer.json`, byte-level or with byte tokens, given as an object or as text. */
export function readVocab(tokenizer: string | object, options: ReadOptions): Vocab {
    checkOptions(options, READ);
    const given: Tokenizer = (typeof tokenizer === "string" ? JSON.parse(tokenizer) : tokenizer) ?? {};
    const vocab = given.model?.vocab;
    if (typeof vocab !== "object" || vocab === null) {
        throw new TypeError("cannot read the tokens: expected a `tokenizer.json` with `model.vocab`");
    }
    const numbers = new Map<string, number>(
        Array.isArray(vocab) ? vocab.map(([piece], number) => [piece, number]) : Object.entries(vocab),
    );
    const read = reader(kinds(given.decoder));
    const tokens: Uint8Array[] = [];
    const put = (number: number, bytes: Uint8Array): void => {
        if (!(Number.isInteger(number) && number >= 0 && number < MOST)) {
            throw new RangeError(`the number of a token: expected one from 0 to ${MOST - 1}, found ${number}`);
        }
        while (tokens.length <= number) tokens.push(NONE);
        tokens[number] = bytes;
    };
    for (const [piece, number] of numbers) put(number, read(piece));
    for (const { id, content, special } of given.added_tokens ?? []) {
        put(id, special ? NONE : encoder.encode(content));
        numbers.set(content, id);
    }
    const { eos, size } = options;
    const end = typeof eos === "number" ? eos : numbers.get(eos);
    if (end === undefined) throw new RangeError(`the tokenizer has no token ${JSON.stringify(eos)}`);
    if (size !== undefined) {
        tokens.length = Math.min(tokens.length, size);
        if (size > 0) put(size - 1, tokens[size - 1] ?? NONE);
    }
    return new Vocab(tokens, end);
}

/** The most tokens of a vocabulary. */
const MOST = 10_000_000;
const NONE = new Uint8Array(0);
const encoder = new TextEncoder();

/** The kinds of a decoder and of its parts. */
function kinds(decoder: Decoder | null | undefined): Set<string> {
    const found = new Set<string>();
    const rest = [decoder];
    for (let one = rest.pop(); rest.length > 0 || one; one = rest.pop()) {
        if (one?.type !== undefined) found.add(one.type);
        rest.push(...(one?.decoders ?? []));
    }
    return found;
}

function reader(found: Set<string>): (piece: string) => Uint8Array {
    if (found.has("ByteLevel")) {
        const alphabet = byteAlphabet();
        return (piece) => Uint8Array.from([...piece].flatMap((char) => alphabet.get(char) ?? [...encoder.encode(char)]));
    }
    if (["Metaspace", "ByteFallback", "Replace"].some((kind) => found.has(kind))) return sentencepiece;
    throw new RangeError(
        `cannot read the tokens: expected a byte-level or sentencepiece decoder, found ${[...found].sort().join(", ") || "none"}; ` +
            "make `new Vocab(tokens, eos)` of the bytes of each token",
    );
}

/** The bytes of a sentencepiece token: a byte token, or a text in which a bar stands for a blank. */
function sentencepiece(piece: string): Uint8Array {
    const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(piece)?.[1];
    return byte ? Uint8Array.of(parseInt(byte, 16)) : encoder.encode(piece.replaceAll("\u2581", " "));
}

/** The characters for bytes in a byte-level vocabulary. Printable characters represent themselves. */
function byteAlphabet(): Map<string, number[]> {
    const printable = (byte: number): boolean => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    let others = 0;
    const bytes = Array.from({ length: 0x100 }, (_, byte) => byte);
    return new Map(bytes.map((byte) => [String.fromCodePoint(printable(byte) ? byte : 0x100 + others++), [byte]]));
}
