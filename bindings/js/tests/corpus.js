// Cases of the corpus, read for the tests, and the mocks that they hold. The format: spec/corpus/README.md.
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as ilo from "ilo-vm";
import { WIDE, parse, write } from "../dist/json.js";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const FOLDERS = ["spec/corpus", "spec/programs"];

// The paths of all cases.
export function cases() {
    const all = FOLDERS.flatMap((folder) =>
        readdirSync(ROOT + folder, { recursive: true }).map((name) => `${folder}/${name}`),
    );
    return all.filter((path) => path.endsWith(".case")).sort();
}

// Reads a case; nothing if it is not UTF-8.
export function readCase(path) {
    let text;
    try {
        text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(ROOT + path));
    } catch {
        return undefined;
    }
    const [headers, sections] = [{}, []];
    for (const line of text.split(/(?<=\n)/)) {
        if (line.startsWith("=== ")) sections.push([line.slice(4).trim(), ""]);
        else if (sections.length) sections.at(-1)[1] += line;
        else if (line.includes(":")) {
            const at = line.indexOf(":");
            headers[line.slice(0, at).trim()] = line.slice(at + 1).trim();
        }
    }
    return { path, headers, sections };
}

// A section. A section for a notation precedes the one for all notations.
export function section(found, title, notation) {
    const all = Object.fromEntries(found.sections);
    return all[`${title} ${notation}`] ?? all[title];
}

// JSON with exact integers.
export const read = (text) => parse(text.trim());

// A value as JSON.
export const written = (value) => write(value, WIDE);

// The fields of a record in JSON, or the items of a list, each with its own text: numbers and the order of
// fields stay as they were written.
export function parts(text) {
    const token = /\s*("(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+)/gy;
    const tokens = [...text.matchAll(token)].map((found) => found[1]);
    const open = tokens[0];
    const all = [];
    let [depth, name, own] = [0, undefined, ""];
    for (const word of tokens.slice(1)) {
        const end = depth === 0 && (word === "," || word === "]" || word === "}");
        if (end && own) all.push([name ?? all.length, own]);
        if (end) [name, own] = [undefined, ""];
        else if (depth === 0 && open === "{" && word === ":") [name, own] = [JSON.parse(own), ""];
        else own += word;
        if (!end && (word === "[" || word === "{")) depth++;
        if (!end && (word === "]" || word === "}")) depth--;
    }
    return new Map(all);
}

// A tool that answers as a case says.
export class Mock {
    constructor(name, entry, text) {
        const { mock } = entry;
        this.name = name;
        this.entry = entry;
        const own = parts(text).get("mock");
        const texts = Array.isArray(mock) ? [...parts(own).values()] : [own];
        this.entries = texts.map((one, at) => {
            const [exact, entry] = [parts(one), Array.isArray(mock) ? mock[at] : mock];
            const json = (key) => (key in entry ? { [key]: new ilo.Json(exact.get(key)) } : {});
            return { ...entry, ...json("returns"), ...json("fails") };
        });
    }

    call(given) {
        for (const entry of this.entries) {
            if ("when" in entry && !fits(entry.when, given)) continue;
            if ("times" in entry && entry.times-- === 0) {
                entry.times = 0;
                continue;
            }
            if ("fails" in entry) throw new ilo.Failure(entry.fails);
            return entry.returns;
        }
        throw new ilo.Failure(`no entry of the mock \`${this.name}\` fits the arguments ${written(given)}`);
    }

    definition(isAsync, readOnly) {
        const { entry } = this;
        return {
            execute: isAsync ? async (given) => this.call(given) : (given) => this.call(given),
            readOnly: readOnly ?? entry.read_only ?? false,
            idempotent: entry.idempotent ?? false,
            retries: entry.retries ?? 0,
            onDoubt: entry.on_doubt ?? "fail",
            requiresRollback: entry.rollback === "required",
        };
    }
}

const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// Whether the value contains all of the pattern: a record may have more fields.
export function fits(pattern, value) {
    if (isRecord(pattern) && isRecord(value)) {
        return Object.keys(pattern).every((key) => Object.hasOwn(value, key) && fits(pattern[key], value[key]));
    }
    if (Array.isArray(pattern) && Array.isArray(value)) {
        return pattern.length === value.length && pattern.every((item, at) => fits(item, value[at]));
    }
    return same(pattern, value);
}

// Whether two values are equal as JSON.
export function same(a, b) {
    if (isRecord(a) && isRecord(b)) {
        const keys = Object.keys(a);
        const both = keys.length === Object.keys(b).length;
        return both && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
    }
    if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => same(item, b[at]));
    return a === b;
}

// An outcome in the form of the corpus.
export function outcomeOf(outcome) {
    const { status, value, error, code, message } = outcome;
    const made = { status };
    if (status === "ok") made.value = value;
    else if (status === "err") made.error = error;
    else {
        const at = { function: outcome.function };
        if (outcome.line !== undefined) Object.assign(at, { line: outcome.line, column: outcome.column });
        Object.assign(made, { code, message, at });
    }
    const { compensationFailures, rolledBack, notRolledBack } = outcome;
    if (compensationFailures.length) made.compensation_failures = compensationFailures;
    if (rolledBack.length) made.rolled_back = rolledBack;
    if (notRolledBack.length) made.not_rolled_back = notRolledBack;
    return made;
}

// Whether an outcome is the expected one. The message and place of a fault are compared only if the case has them.
export function sameOutcome(expected, found) {
    if (expected.status !== "fault") return same(expected, found);
    const { at = {}, ...rest } = found;
    const { at: wantedAt = {}, ...wanted } = expected;
    if (!("message" in wanted)) delete rest.message;
    return Object.entries(wantedAt).every(([key, value]) => same(value, at[key])) && same(wanted, rest);
}
