/** Guided generation: at each point, a model that writes a program gets exactly what may come next. */

import { catalogue, defined } from "../definitions.js";
import { ANY, TEXT, checkOptions, expect, type Kind, type Kinds } from "../given.js";
import * as glue from "../guide_glue.js";
import type { GuideCore, GuideSession, HeaderCore } from "../guide_glue.js";
import { jsonOf, parse } from "../json.js";
import { TOOLS, ToolSet, type GivenTools } from "../tools.js";
import { Owned, bytesOf, core, natural } from "./core.js";
import { Vocab } from "./vocab.js";

export { BadValue, CannotEnd, Crash, IloError, Refused } from "../errors.js";
export type { Source } from "../instance.js";
export { init } from "./core.js";
export { Vocab, readVocab, type ReadOptions } from "./vocab.js";

/** The options of a session. */
export interface SessionOptions {
    /** The tools that the program may call. */
    tools?: GivenTools | undefined;
    /** Whole functions in ID text that the program may call, each one that a guide could have written. */
    above?: string | undefined;
    /** The notation that the model writes: ID text, which is the default, or `constrained`. */
    notation?: "id" | "constrained" | undefined;
}

/**
 * Something that may come next: a word, a slot, a tool, an argument, a constant. In `constrained` it is the text that may come, or
 * a record such as `{"name": true}` for what is free.
 */
export type Next = string | { readonly [key: string]: unknown };

/** No budget. */
const UNLIMITED = 2 ** 32 - 1;

/** A session in the form for another process. */
interface Parts {
    readonly signature: string;
    readonly tools?: unknown;
    readonly above?: string;
    readonly notation?: "id" | "constrained";
}

const SESSION: Kinds<SessionOptions> = { tools: TOOLS, above: TEXT, notation: TEXT };
const PARTS: Kinds<Parts> = { signature: TEXT, tools: ANY, above: TEXT, notation: TEXT };

/** The signature of a program, such as `f(id: text) -> text`, and its tools. Many guides share a session. */
export class Session extends Owned<GuideSession> {
    readonly #json: string;

    constructor(signature: string, options?: SessionOptions);
    /** @internal `tools` is a catalogue in MCP's form, as JSON. */
    constructor(signature: string, options: SessionOptions, tools: string);
    constructor(signature: string, options: SessionOptions = {}, tools?: string) {
        expect("`signature`", signature, TEXT);
        checkOptions(options, SESSION);
        const { above = "", notation = "id" } = options;
        const listed = tools ?? entries(options.tools);
        super(core.call((module) => new module.GuideSession(signature, listed, above, notation)));
        const [first, last] = [signature, above].map((text) => JSON.stringify(text));
        this.#json = `{"signature":${first},"tools":${listed},"above":${last},"notation":"${notation}"}`;
    }

    /** The text before the body: the header and the registries. It belongs into the prompt. */
    get prefix(): string {
        return this.use((handle) => handle.prefix());
    }

    /** The session as text, for an engine in another process. The tools' functions are not in it. */
    toJson(): string {
        return this.#json;
    }

    /** A session that `toJson` wrote, here or in Python; `tools` may also be an MCP server's answer to `tools/list`. */
    static fromJson(text: string): Session {
        expect("`text`", text, TEXT);
        JSON.parse(text);
        // Of integers past 2^53, `JSON.parse` would lose the last digits.
        const parts: Parts = parse(text);
        checkOptions(parts, PARTS, "a session");
        const { signature, tools = [], above, notation } = parts;
        return new Session(signature, { above, notation }, jsonOf("the tools of a session", tools));
    }
}

function entries(given: GivenTools = {}): string {
    const definitions = given instanceof ToolSet ? given.definitions : given;
    for (const [name, definition] of Object.entries(definitions)) defined(name, definition);
    return catalogue(definitions);
}

const VOCAB: Kind = ["a `Vocab`", (value) => value instanceof Vocab];
const MASK: Kind = ["a Uint32Array", (value) => value instanceof Uint32Array];
const TOKENS: Kind = ["the numbers of tokens", (value) => typeof value?.[Symbol.iterator] === "function"];

/** The common part of guides and headers: text that a model writes, in steps. */
abstract class Written<Core extends GuideCore | HeaderCore> extends Owned<Core> {
    readonly #vocab: Vocab | undefined;

    /** @internal */
    constructor(handle: Core, vocab: Vocab | undefined) {
        super(handle);
        if (vocab !== undefined) expect("`vocab`", vocab, VOCAB);
        this.#vocab = vocab;
    }

    /** The vocabulary that it was given. */
    get vocab(): Vocab {
        if (this.#vocab) return this.#vocab;
        throw new TypeError(`the ${this.constructor.name} has no vocabulary: pass one to \`new ${this.constructor.name}\``);
    }

    /** @internal */
    protected get vocabOrNone(): Vocab | undefined {
        return this.#vocab;
    }

    /** The text so far. */
    get text(): Uint8Array {
        return this.use((handle) => handle.text());
    }

    /** The number of steps. A step is a call of `accept` or `acceptBytes`. */
    get steps(): number {
        return this.use((handle) => handle.steps());
    }

    /** Whether the text has ended. */
    get ended(): boolean {
        return this.use((handle) => handle.ended());
    }

    /** Takes a token. Throws `Refused` if it may not come next; then nothing has changed. */
    accept(token: number): void {
        const [vocab, number] = [this.vocab.handle, natural("token", token)];
        this.use((handle) => handle.accept(vocab, number));
    }

    /** Takes bytes, as one step. Throws `Refused` if they may not come next; then nothing has changed. */
    acceptBytes(text: string | Uint8Array): void {
        const bytes = bytesOf("`text`", text);
        this.use((handle) => handle.acceptBytes(bytes));
    }

    /** The number of these tokens, from the first, that may come next in order. */
    validate(tokens: Iterable<number>): number {
        const [vocab, given] = [this.vocab.handle, tokensOf(tokens)];
        return this.use((handle) => handle.validate(vocab, given));
    }

    /** Takes back this number of steps. */
    rollback(steps = 1): void {
        const number = natural("steps", steps);
        this.use((handle) => handle.rollback(number));
    }

    /**
     * Fills a mask of `vocab.maskWords` words: bit `t % 32` of word `t >>> 5` is set where token `t` may come next.
     * `left` is how many tokens may come, this one and the one that ends the text included; without it there is no
     * budget. Throws `CannotEnd` where no token is left.
     */
    fillMask(bits: Uint32Array, left?: number): void {
        expect("`bits`", bits, MASK);
        const [vocab, number] = [this.vocab.handle, left === undefined ? UNLIMITED : natural("left", left)];
        this.use((handle) => handle.fillMask(vocab, number, bits));
    }

    /** A new mask, as `fillMask` fills it. */
    mask(left?: number): Uint32Array {
        const bits = new Uint32Array(this.vocab.maskWords);
        this.fillMask(bits, left);
        return bits;
    }

    /** The bytes that must come next. */
    forced(): Uint8Array {
        return this.use((handle) => handle.forced());
    }
}

function tokensOf(tokens: Iterable<number>): Uint32Array {
    expect("`tokens`", tokens, TOKENS);
    return Uint32Array.from(tokens, (token) => natural("token", token));
}

/** The body of a program that a model is writing. Without a vocabulary it takes bytes only. */
export class Guide extends Written<GuideCore> {
    constructor(session: Session, vocab?: Vocab);
    /** @internal */
    constructor(handle: GuideCore, vocab?: Vocab);
    constructor(from: Session | GuideCore, vocab?: Vocab) {
        super(from instanceof glue.GuideCore ? from : begun(from, (module, of) => new module.GuideCore(of)), vocab);
    }

    /** A copy of the guide that continues independently. */
    copy(): Guide {
        return new Guide(this.use((handle) => handle.copy()), this.vocabOrNone);
    }

    /** Whether the program may end here. */
    get mayEnd(): boolean {
        return this.use((handle) => handle.mayEnd());
    }

    /** The approximate number of bytes of the guide in the module. */
    get memory(): number {
        return this.use((handle) => handle.memory());
    }

    /** The tokens that must come next. `cut` has the tokens into which the model's tokenizer splits `forced()`. */
    forcedTokens(cut?: Iterable<number>): Uint32Array {
        const [vocab, given] = [this.vocab.handle, cut === undefined ? undefined : tokensOf(cut)];
        return this.use((handle) => handle.forcedTokens(vocab, given));
    }

    /** A text that ends the program. */
    close(): Uint8Array | undefined {
        return this.use((handle) => handle.close());
    }

    /** What may come next, as words, slots, tools and constants. */
    next(): Next[] {
        return JSON.parse(this.use((handle) => handle.next())).next;
    }

    /** The whole file. Throws `Refused` if the program cannot end here. */
    finish(): string {
        return this.use((handle) => handle.finish());
    }
}

/**
 * The header of the next function of a file: that of a helper, whose name and types the model chooses, or that of the
 * program of the session. It ends with its line.
 */
export class Header extends Written<HeaderCore> {
    constructor(session: Session, vocab?: Vocab);
    /** @internal */
    constructor(handle: HeaderCore, vocab?: Vocab);
    constructor(from: Session | HeaderCore, vocab?: Vocab) {
        super(from instanceof glue.HeaderCore ? from : begun(from, (module, of) => new module.HeaderCore(of)), vocab);
    }

    /** A copy of the header that continues independently. */
    copy(): Header {
        return new Header(this.use((handle) => handle.copy()), this.vocabOrNone);
    }

    /** Whether it is, or can only become, the header of the program itself. */
    get isOwn(): boolean {
        return this.use((handle) => handle.isOwn());
    }

    /** A text that completes the header. */
    close(): Uint8Array {
        return this.use((handle) => handle.close());
    }
}

function begun<T>(session: Session, begin: (module: typeof glue, of: GuideSession) => T): T {
    expect("`session`", session, ["a `Session`", (value) => value instanceof Session]);
    const of = session.handle;
    return core.call((module) => begin(module, of));
}
