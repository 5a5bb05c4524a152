// Guided generation: a program that a guide allows builds and runs, whatever the tokens are.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as ilo from "ilo-vm";
import { CannotEnd, Crash, Guide, Header, IloError, Refused, Session, Vocab, readVocab } from "ilo-vm/guide";
import { core } from "../dist/guide/core.js";
import { random } from "./random.js";

const utf8 = (text) => new TextEncoder().encode(text);
const text = (bytes) => new TextDecoder().decode(bytes);

// A made-up tokenizer: each byte, pieces of the language that cross words, numbers and lines, special tokens.
const PIECES = [
    ...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
    ...["RET", " REF", " REF 0", 'RET LIT 0 "', "L", "LET ", "\n  ", "\n", '"\n', "MATCH ", "ER", "R 2 1\n", "CALL 0", " 1 "],
    ...[" 0 ", "12", " LIT 1 ", "LIT", "hello", "ü", "true", "nil", "ADD ", "RE", "", "", ""],
];
const EOS = PIECES.length - 1;
const VOCAB = new Vocab(PIECES, EOS);
const DOUBLE = "double(n: number) -> number";
const TOOLS = new ilo.Tools({
    get_user: {
        schema: { type: "object", properties: { user_id: { type: "integer" } }, required: ["user_id"] },
        outputSchema: { type: "object", properties: { email: { type: "string" } }, required: ["email"] },
        execute: () => ({ email: "ada@example.org" }),
    },
    send: {
        schema: { type: "object", properties: { to: { type: "string" }, urgent: { type: "boolean" } }, required: ["to"] },
        execute: ({ to }) => {
            if (!to.includes("@")) throw new ilo.Failure("no address");
            return null;
        },
    },
});

/** The tokens whose bits are set. */
function allowed(mask) {
    return Array.from(mask).flatMap((word, at) =>
        Array.from({ length: 32 }, (_, bit) => 32 * at + bit).filter((token) => (word >>> (token % 32)) & 1),
    );
}

/** A model that likes each token equally. */
function write(written, seed, left) {
    const next = random(seed);
    const bits = new Uint32Array(VOCAB.maskWords);
    for (; left > 0 && !written.ended; left--) {
        written.fillMask(bits, left);
        const tokens = allowed(bits);
        written.accept(tokens[Math.floor(next() * tokens.length)]);
    }
    assert.ok(written.ended, `no end within the tokens: ${text(written.text)}`);
    return written;
}

for (const [signature, inputs] of [
    [DOUBLE, { n: 4 }],
    ["f(id: number, names: list) -> result text, text", { id: 1, names: ["a"] }],
    ["g(user: map) -> nil", { user: { email: "x" } }],
    ["h() -> list number", {}],
]) {
    test(`all that a model writes builds and runs: ${signature}`, async () => {
        const session = new Session(signature, { tools: TOOLS });
        const ends = new Set();
        for (let seed = 0; seed < 60; seed++) {
            const guide = write(new Guide(session, VOCAB), seed, 20 + seed);
            const program = ilo.build(guide.finish(), { tools: TOOLS });
            ends.add((await program.run(inputs)).status);
        }
        assert.ok(ends.has("ok"));
        assert.ok(!ends.has("suspended"));
    });
}

test("what a model writes in constrained builds and runs", async () => {
    const session = Session.fromJson(new Session("f(id: number) -> result text, text", { tools: TOOLS, notation: "constrained" }).toJson());
    assert.match(session.prefix, /^\{"fn":"f"/);
    for (let seed = 0; seed < 60; seed++) {
        const guide = write(new Guide(session, VOCAB), seed, 60 + seed);
        const program = ilo.build(guide.finish(), { tools: TOOLS, notation: "constrained" });
        assert.notEqual((await program.run({ id: 1 })).status, "suspended");
    }
    const guide = new Guide(session);
    assert.ok(guide.next().includes('{"let":"'));
    assert.throws(() => guide.acceptBytes('{"x'), /1:3 of the body: expected .*`let":"`.*; found "x"/);
    assert.throws(() => new Header(session), /a header is ID text/);
    assert.throws(() => new Session(DOUBLE, { notation: "yaml" }), /expected "id" or "constrained", found "yaml"/);
});

test("a mask has what can be accepted alone", () => {
    const session = new Session("f(id: number) -> result text, text", { tools: TOOLS });
    for (let seed = 0; seed < 4; seed++) {
        const end = write(new Guide(session, VOCAB), seed, 40);
        const guide = new Guide(session, VOCAB);
        for (const token of VOCAB.cut(end.text)) {
            const alone = PIECES.map((_, token) => token).filter((token) => guide.validate([token]) === 1);
            assert.deepEqual(allowed(guide.mask()), alone);
            guide.accept(token);
        }
        guide.accept(EOS);
        assert.ok(guide.ended);
    }
});

test("the first token of the documentation", () => {
    const vocab = new Vocab(["</s>", "RET", " REF", " ", "0", "\n", " MUL", ...PIECES.slice(0, 256)], 0);
    const guide = new Guide(new Session(DOUBLE), vocab);
    assert.deepEqual([vocab.length, vocab.maskWords, vocab.eos], [263, 9, 0]);
    assert.deepEqual(guide.mask()[0] & 0b1111111, 0b10);
    guide.accept(1);
    assert.equal(guide.validate([2, 3, 4, 0]), 4);
    assert.equal(guide.validate([2, 3, 5]), 2);
    assert.equal(text(guide.text), "RET");
    assert.equal(text(vocab.token(2)), " REF");
});

test("tokens split characters", () => {
    const guide = new Guide(new Session("f() -> text"), VOCAB);
    guide.acceptBytes('RET LIT 0 "');
    const [first, second] = utf8("ü");
    guide.accept(first);
    // RFC 3629: a byte from 0x80 to 0xBF follows 0xC3.
    assert.deepEqual(allowed(guide.mask()), Array.from({ length: 0x40 }, (_, at) => 0x80 + at));
    guide.accept(second);
    guide.acceptBytes(utf8('"'));
    assert.match(guide.finish(), /RET LIT 0 "ü"/);
});

test("the end", () => {
    const guide = new Guide(new Session(DOUBLE), VOCAB);
    assert.equal(guide.mayEnd, false);
    assert.ok(guide.next().some(({ word }) => word === "RET"));
    assert.throws(() => guide.finish(), Refused);
    guide.acceptBytes("RET REF 0");
    assert.ok(guide.mayEnd && allowed(guide.mask()).includes(EOS));
    guide.accept(EOS);
    assert.deepEqual(allowed(guide.mask()), [EOS]);
    assert.equal(guide.validate([EOS]), 0);
    assert.throws(() => guide.accept(EOS), /the text has ended/);
});

test("what may not come says what was expected", () => {
    const guide = new Guide(new Session(DOUBLE), VOCAB);
    assert.throws(() => guide.acceptBytes("RET x"), (error) => {
        assert.ok(error instanceof Refused && error instanceof IloError && error.name === "Refused");
        assert.match(error.message, /^1:5 of the body: expected .*REF, LIT, .* more; found "x"$/);
        assert.equal(error.at, 4);
        return true;
    });
    assert.deepEqual([guide.text.length, guide.steps], [0, 0]);
    assert.throws(
        () => guide.acceptBytes("LET 1 LIT 1 2\nRET REF 9"),
        /^Refused: 2:9 of the body: expected 0 .slot n: number., 1 .slot: number.; found "9"$/,
    );
});

test("steps are taken back, and a copy goes on by itself", () => {
    const session = new Session("f(id: number) -> result text, text", { tools: TOOLS });
    const end = write(new Guide(session, VOCAB), 3, 60);
    const tokens = [...VOCAB.cut(end.text), EOS];
    const guide = new Guide(session, VOCAB);
    const masks = tokens.map((token) => {
        const mask = guide.mask();
        guide.accept(token);
        return mask;
    });
    assert.ok(guide.ended && guide.steps === tokens.length);
    const copy = guide.copy();
    while (guide.steps > 0) {
        guide.rollback();
        assert.deepEqual(guide.mask(), masks[guide.steps]);
    }
    assert.deepEqual([copy.ended, copy.steps], [true, tokens.length]);
    assert.ok(copy instanceof Guide && guide.memory > 0);
    copy.rollback(tokens.length);
    assert.equal(copy.text.length, 0);
});

test("forced text and an end are what may come", () => {
    // send has one required argument, and two optional ones.
    const session = new Session("f() -> result nil, text", { tools: TOOLS });
    const covered = new Guide(session, new Vocab([...PIECES.slice(0, 256), " 1", ""], 257));
    covered.acceptBytes("LET 0 CALL 1");
    assert.equal(text(covered.forced()), " ");
    // A longer token could cover the blank and the text after it.
    assert.deepEqual([...covered.forcedTokens()], []);
    const guide = new Guide(session, new Vocab([...PIECES.slice(0, 256), ""], 256));
    guide.acceptBytes("LET 0 CALL 1");
    assert.deepEqual([...guide.forcedTokens()], [0x20]);
    assert.deepEqual([...guide.forcedTokens([0x20])], [0x20]);
    assert.deepEqual([...guide.forcedTokens([0x78])], []);
    guide.acceptBytes(guide.close());
    ilo.build(guide.finish(), { tools: TOOLS }).dispose();
});

test("files with helper functions build", () => {
    let helpers = 0;
    for (let seed = 0; seed < 12; seed++) {
        let above = "";
        for (let own = false; !own; ) {
            const of = new Session("main(n: number) -> number", { above });
            const header = write(new Header(of, VOCAB), seed, 150);
            own = header.isOwn;
            helpers += own ? 0 : 1;
            const session = new Session(text(header.text), { above });
            const guide = write(new Guide(session, VOCAB), seed + helpers, 150);
            above = guide.finish();
        }
        ilo.build(above).dispose();
    }
    assert.ok(helpers > 0);
    const header = new Header(new Session(DOUBLE));
    assert.throws(() => header.acceptBytes("; fn 1"), /1:6 of the header: expected one of .*; found "1"/);
    header.acceptBytes(header.close());
    assert.ok(header.ended && header.isOwn && header.copy().steps === 1);
    header.rollback();
    assert.equal(text(header.forced()), "; fn ");
});

test("a session as text", () => {
    const session = new Session("f(id: number) -> text", { tools: TOOLS, above: "; fn one() -> number\nRET LIT 1 1\n" });
    const again = Session.fromJson(session.toJson());
    assert.equal(again.prefix, session.prefix);
    assert.match(again.prefix, /Tools: 0=one 1=get_user 2=send/);
    assert.equal(again.toJson(), session.toJson());
    for (const wrong of ["7", "null", "{}", '{"signature": 1}', '{"signature": "f() -> nil", "tool": []}', "{"]) {
        assert.throws(() => Session.fromJson(wrong), /expect|there is no/i);
    }
    // Definitions without `Tools` are the same.
    assert.equal(new Session("f(id: number) -> text", { tools: TOOLS.definitions }).prefix, new Session("f(id: number) -> text", { tools: TOOLS }).prefix);
});

test("a byte-level vocabulary", () => {
    // In byte-level vocabularies a blank is written as U+0120, a line end as U+010A, and the bytes of an "ü" as "Ã¼".
    const pieces = ["RET", "</s>", "\u0120REF", "\u010a\u0120\u0120", "\u00c3\u00bc", "\u00c3", "<tool>"];
    const tokenizer = {
        model: { vocab: Object.fromEntries(pieces.map((piece, number) => [piece, number])) },
        decoder: { type: "ByteLevel" },
        added_tokens: [{ id: 1, content: "</s>", special: true }, { id: 6, content: "<tool>", special: false }],
    };
    for (const given of [tokenizer, JSON.stringify(tokenizer)]) {
        const vocab = readVocab(given, { eos: "</s>", size: 9 });
        const expected = [utf8("RET"), utf8(""), utf8(" REF"), utf8("\n  "), utf8("ü"), Uint8Array.of(0xc3), utf8("<tool>"), utf8(""), utf8("")];
        assert.deepEqual(expected.map((_, token) => vocab.token(token)), expected);
        assert.deepEqual([vocab.eos, vocab.length], [1, 9]);
    }
    assert.equal(readVocab(tokenizer, { eos: 1, size: 2 }).length, 2);
    assert.throws(() => readVocab(tokenizer, { eos: "<end>" }), /no token "<end>"/);
});

test("a sentencepiece vocabulary", () => {
    const decoder = { type: "Sequence", decoders: [{ type: "Replace" }, { type: "ByteFallback" }, { type: "Fuse" }] };
    const vocab = ["<unk>", "</s>", "\u2581REF", "RET", "<0x0A>", "<0xC3>", "ü"].map((piece) => [piece, 0]);
    const added_tokens = [{ id: 0, content: "<unk>", special: true }, { id: 1, content: "</s>", special: true }];
    const read = readVocab({ model: { vocab }, decoder, added_tokens }, { eos: 1 });
    const expected = [utf8(""), utf8(""), utf8(" REF"), utf8("RET"), utf8("\n"), Uint8Array.of(0xc3), utf8("ü")];
    assert.deepEqual(expected.map((_, token) => read.token(token)), expected);
    for (const decoder of [null, undefined, { type: "WordPiece" }, { type: "Sequence", decoders: [] }]) {
        assert.throws(() => readVocab({ model: { vocab }, decoder }, { eos: 1 }), /byte-level or sentencepiece decoder, found/);
    }
    assert.throws(() => readVocab({}, { eos: 0 }), /model.vocab/);
    assert.throws(() => readVocab({ model: { vocab: { a: 1e12 } }, decoder: { type: "ByteLevel" } }, { eos: 0 }), /the number of a token/);
});

test("wrong arguments are errors of JavaScript", () => {
    const guide = new Guide(new Session(DOUBLE), VOCAB);
    for (const [wrong, kind, message] of [
        [() => new Vocab([], 0), RangeError, /at least one token/],
        [() => new Vocab(["RET"], 1), RangeError, /the end is token 1, but the last token is 0/],
        [() => new Vocab(["RET"], -1), RangeError, /`eos` expects a number from 0/],
        [() => new Vocab([7], 0), TypeError, /token 0 expects a string or a Uint8Array, found 7/],
        [() => new Vocab(7, 0), TypeError, /iterable/],
        [() => VOCAB.token(EOS + 1), RangeError, /the last is/],
        [() => new Session("f("), RangeError, /./],
        [() => new Session(null), TypeError, /`signature` expects a string, found null/],
        [() => new Session(7), TypeError, /`signature` expects a string, found 7/],
        [() => new Session(DOUBLE, { above: 7 }), TypeError, /options: `above` expects a string, found 7/],
        [() => new Session(DOUBLE, { tools: { a: 7 } }), TypeError, /tool `a`: expected an object with the function `execute`/],
        ...[[], [{ execute() {} }], new Map(), "a", null].map((tools) => [
            () => new Session(DOUBLE, { tools }),
            TypeError,
            /options: `tools` expects an object of tools by name, found (an array|"a"|null|a value of type `object`)$/,
        ]),
        [() => new Session(DOUBLE, []), TypeError, /options: expected an object, found an array/],
        [() => new Session(DOUBLE, { tool: {} }), TypeError, /options: there is no `tool`, only tools, above, notation/],
        [() => new Session(DOUBLE, { notation: 7 }), TypeError, /options: `notation` expects a string, found 7/],
        [() => new Session({ signature: DOUBLE, above: "", notation: "id" }), TypeError, /`signature` expects a string/],
        [() => Session.fromJson('["f() -> nil"]'), TypeError, /a session: expected an object, found an array/],
        [() => new Vocab("RET", 0), TypeError, /`tokens` expects the bytes of each token, or its text, found "RET"/],
        [() => readVocab(null, { eos: 0 }), TypeError, /expected a `tokenizer.json` with `model.vocab`/],
        [() => readVocab({}), TypeError, /options: expected an object, found undefined/],
        [() => readVocab({}, { eos: null }), TypeError, /`eos` expects a number or a string, found null/],
        [() => readVocab({}, { eos: 0, size: "9" }), TypeError, /`size` expects a number, found "9"/],
        [() => guide.validate(5), TypeError, /`tokens` expects the numbers of tokens, found 5/],
        [() => guide.forcedTokens(0), TypeError, /`tokens` expects the numbers of tokens, found 0/],
        [() => new Guide(VOCAB), TypeError, /`session` expects a `Session`/],
        [() => new Guide(new Session(DOUBLE), {}), TypeError, /`vocab` expects a `Vocab`/],
        [() => new Guide(new Session(DOUBLE)).mask(), TypeError, /the Guide has no vocabulary: pass one to `new Guide`/],
        [() => guide.accept(-1), RangeError, /`token` expects a number from 0/],
        [() => guide.accept("RET"), RangeError, /`token` expects a number from 0/],
        [() => guide.accept(2 ** 40), RangeError, /`token` expects a number from 0/],
        [() => guide.accept(2 ** 31), Refused, /the vocabulary has only/],
        [() => guide.acceptBytes(7), TypeError, /`text` expects a string or a Uint8Array, found 7/],
        [() => guide.mask(-1), RangeError, /`left` expects/],
        [() => guide.rollback(1), RangeError, /only 0 were taken/],
        [() => guide.validate([0, -1]), RangeError, /`token` expects/],
        [() => guide.fillMask(new Uint32Array(1)), RangeError, /a mask of this vocabulary has \d+ words, found 1/],
        [() => guide.fillMask([0]), TypeError, /`bits` expects a Uint32Array, found an array/],
        [() => guide.mask(2), CannotEnd, /tokens left: it takes \d+/],
        [() => new Guide(new Session(DOUBLE), new Vocab(["x", ""], 1)).mask(), CannotEnd, /the vocabulary has no token for `\\n`, /],
    ]) {
        assert.throws(wrong, (error) => {
            assert.ok(error instanceof kind, `${wrong}: ${error}`);
            assert.match(error.message, message);
            return true;
        });
    }
    assert.equal(guide.steps, 0);
});

test("hostile names of tools", () => {
    const names = ["a", "ab", 'x"y', "new\nline", "; fn f() -> text", "ü", "0=a", " ", "\u202e", "mcp://s/a", "=", "\0"];
    const tools = Object.fromEntries(names.map((name) => [name, { execute: () => 1 }]));
    const session = new Session("f() -> any", { tools });
    for (let seed = 0; seed < 40; seed++) {
        const guide = write(new Guide(session, VOCAB), seed, 120);
        ilo.build(guide.finish(), { tools }).dispose();
    }
});

test("a vocabulary of a million tokens", () => {
    const tokens = Array.from({ length: 1_000_000 }, (_, token) => (token < 256 ? Uint8Array.of(token) : `t${token}`));
    const vocab = new Vocab(tokens, 999_999);
    const guide = new Guide(new Session(DOUBLE), vocab);
    assert.equal(guide.mask().length, 31_250);
    assert.deepEqual(allowed(guide.mask()), allowed(new Guide(new Session(DOUBLE), new Vocab([...tokens.slice(0, 256), "#"], 256)).mask()));
});

test("what is freed is not used, and memory comes back", () => {
    const round = () => {
        const vocab = new Vocab(PIECES, EOS);
        const session = new Session(DOUBLE, { tools: TOOLS });
        const guide = new Guide(session, vocab);
        guide.acceptBytes("RET ");
        const copy = guide.copy();
        copy.mask();
        for (const owned of [copy, guide, session, vocab]) owned.free();
    };
    const bytes = () => core.call((module) => module.initSync({}).memory.buffer.byteLength);
    for (let n = 0; n < 100; n++) round();
    const before = bytes();
    for (let n = 0; n < 1000; n++) round();
    assert.ok(bytes() - before <= 1 << 17, `${bytes() - before} bytes more after 1,000 rounds`);
    const guide = new Guide(new Session(DOUBLE), VOCAB);
    guide.free();
    guide.free();
    assert.throws(() => guide.mask(), /^IloError: the Guide was freed/);
});

test("a trap is a clear error, and the next call has a new instance", () => {
    const guide = new Guide(new Session(DOUBLE), VOCAB);
    // An invalid pointer: the module reads outside its memory.
    assert.throws(() => core.call((module) => module.initSync({}).guidesession_prefix(0x7fff_fff0)), (error) => {
        assert.ok(error instanceof Crash, String(error));
        assert.match(error.message, /a new instance has taken its place, and vocabularies, sessions and guides are lost/);
        return true;
    });
    assert.throws(() => guide.mask(), /was lost when the ilo module failed in itself/);
    guide.free();
    assert.ok(allowed(new Guide(new Session(DOUBLE), new Vocab(["RET", "", ...PIECES.slice(0, 256)], 1)).mask()).includes(0));
});
