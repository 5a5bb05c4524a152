// Reads a JSON list of texts; prints the number of tokens of each in o200k.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const { encode } = createRequire(join(resolve(process.argv[2]), "x.js"))("gpt-tokenizer/encoding/o200k_base");
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((text) => encode(text).length)));
