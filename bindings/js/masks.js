// Measures the masks of ilo-vm/guide: random walks with the vocabulary o200k, and catalogues of 50 and 1,000 tools.
//
//     node masks.js --peers FOLDER [--module FILE]
//
// FOLDER has gpt-tokenizer in its node_modules: `compare.sh` installs it. FILE is measured in place of
// dist/guide.wasm. Each state of a walk gives one mask. All walks are repeated with new sessions, and each mask
// counts with its least time.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Guide, Session, Vocab, init } from "ilo-vm/guide";
import { random } from "./tests/random.js";

const { values: options } = parseArgs({ options: { peers: { type: "string" }, module: { type: "string" } } });
const ROUNDS = 5;
const WALKS = 40;
// The tokens within which a program must end.
const TOKENS = 150;
const SIGNATURE = "f(id: text, n: number, items: list text) -> result text, text";
const VERBS = ["get", "list", "create", "update", "delete", "search", "send", "approve"];
const NOUNS = ["user", "order", "invoice", "ticket", "message", "file", "event", "contact", "report", "payment"];
const ARGUMENTS = {
    id: { type: "string" },
    query: { type: "string" },
    limit: { type: "integer", minimum: 1, maximum: 100 },
    status: { type: "string", enum: ["open", "closed", "pending"] },
    amount: { type: "number" },
    tags: { type: "array", items: { type: "string" } },
    urgent: { type: "boolean" },
};
const ITEM = {
    type: "object",
    properties: { id: { type: "string" }, name: { type: "string" }, total: { type: "number" } },
    required: ["id"],
};

function catalogue(count) {
    const next = random(11);
    const below = (end) => Math.floor(next() * end);
    const tools = Array.from({ length: count }, (_, number) => {
        const verb = VERBS[number % VERBS.length];
        const noun = NOUNS[Math.floor(number / VERBS.length) % NOUNS.length];
        const names = Object.keys(ARGUMENTS);
        const given = Array.from({ length: 1 + below(5) }, () => {
            const name = names[below(names.length)];
            // A third of the arguments have names that few other tools use.
            return [below(3) === 0 ? `${name}_${number % 97}` : name, ARGUMENTS[name]];
        });
        const properties = Object.fromEntries(given);
        const many = verb === "list" || verb === "search";
        const name = number < 80 ? `${verb}-${noun}` : `${verb}-${noun}-${Math.floor(number / 80)}`;
        const required = Object.keys(properties).filter(() => below(2) === 0);
        const outputSchema = many ? { type: "array", items: ITEM } : ITEM;
        return [name, { schema: { type: "object", properties, required }, outputSchema, execute: () => null }];
    });
    return Object.fromEntries(tools);
}

function ones(word) {
    let count = 0;
    for (; word !== 0; word &= word - 1) count++;
    return count;
}

/** The allowed token with a number among them. */
function chosen(bits, share) {
    let rest = Math.floor(share * bits.reduce((sum, word) => sum + ones(word), 0));
    for (const [at, word] of bits.entries()) {
        const here = ones(word);
        if (rest >= here) {
            rest -= here;
            continue;
        }
        for (let bit = 0; ; bit++) {
            if ((word >>> bit) & 1 && rest-- === 0) return 32 * at + bit;
        }
    }
    throw new Error("the mask has no token");
}

/** The tokens of a walk: of all that may come next, each is equally likely. */
function walk(session, vocab, seed) {
    const next = random(seed);
    const guide = new Guide(session, vocab);
    const bits = new Uint32Array(vocab.maskWords);
    const tokens = [];
    for (let left = TOKENS; !guide.ended; left--) {
        guide.fillMask(bits, left);
        const token = chosen(bits, next());
        guide.accept(token);
        tokens.push(token);
    }
    guide.free();
    return tokens;
}

/** The least time of each state of some walks. With a budget, a mask leaves a way to end in time. */
function masks(begin, vocab, walks, budget) {
    const bits = new Uint32Array(vocab.maskWords);
    const least = [];
    for (let round = 0; round < ROUNDS; round++) {
        const session = begin();
        let state = 0;
        for (const tokens of walks) {
            const guide = new Guide(session, vocab);
            for (const [at, token] of tokens.entries()) {
                const left = budget ? TOKENS - at : undefined;
                const begun = performance.now();
                guide.fillMask(bits, left);
                const time = (performance.now() - begun) * 1000;
                least[state] = Math.min(least[state] ?? Infinity, time);
                state++;
                guide.accept(token);
            }
            guide.free();
        }
        session.free();
    }
    return least.sort((a, b) => a - b);
}

function o200k(folder) {
    const { default: ranks } = createRequire(join(resolve(folder), "masks.js"))("gpt-tokenizer/bpeRanks/o200k_base");
    const encoder = new TextEncoder();
    const bytes = (token) => (typeof token === "string" ? encoder.encode(token) : Uint8Array.from(token ?? []));
    return [...Array.from(ranks, bytes), new Uint8Array()];
}

if (options.module) await init(readFileSync(options.module));
const tokens = o200k(options.peers);
let vocab;
let made = Infinity;
for (let round = 0; round < ROUNDS; round++) {
    vocab?.free();
    const begun = performance.now();
    vocab = new Vocab(tokens, tokens.length - 1);
    made = Math.min(made, performance.now() - begun);
}
const shown = (figure) => (figure >= 100 ? Math.round(figure).toLocaleString("en") : String(Number(figure.toPrecision(2))));
console.log(`Node ${process.versions.node}. The vocabulary has ${tokens.length} tokens and took ${made.toFixed(0)} ms.\n`);
console.log(`| mask, µs | tools | masks | p50 | p90 | p99 |\n| --- | --- | --- | --- | --- | --- |`);
for (const notation of ["id", "constrained"]) {
    for (const count of [50, 1000]) {
        const tools = catalogue(count);
        const begin = () => new Session(SIGNATURE, { tools, notation });
        const session = begin();
        const walks = Array.from({ length: WALKS }, (_, seed) => walk(session, vocab, seed));
        session.free();
        for (const budget of [false, true]) {
            const times = masks(begin, vocab, walks, budget);
            const at = (share) => shown(times[Math.floor((times.length - 1) * share)]);
            const name = `${notation}${budget ? `, within ${TOKENS} tokens` : ""}`;
            console.log(`| ${name} | ${count} | ${times.length} | ${at(0.5)} | ${at(0.9)} | ${at(0.99)} |`);
        }
    }
}
