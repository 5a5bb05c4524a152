// Hands runs over between languages: a snapshot of one is continued in each other, with the same outcome and fuel.
//
// The runs are lines as shared/examples/replay.rs takes them. For each of the calls at which a run waits, one language
// runs it up to there, and another continues from the snapshot to the end.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parse } from "../js/dist/json.js";
import { parts, same } from "../js/tests/corpus.js";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const LANGUAGES = {
    Rust: [path("../target/trial/examples/replay")],
    JavaScript: [process.execPath, path("leg.js")],
    Python: [path("../.venv/bin/python"), path("leg.py")],
};
// Runs with more calls are handed over at this number of them.
const CUTS = 4;

// The numbers of answers after which a run is handed over.
function cuts(calls) {
    if (calls <= CUTS) return [...Array(calls).keys()];
    return Array.from({ length: CUTS }, (_, at) => Math.floor((at * (calls - 1)) / (CUTS - 1)));
}

// The output of a language for some lines.
function legs(language, lines) {
    const [command, ...given] = LANGUAGES[language];
    const input = lines.map((line) => `${line}\n`).join("");
    const done = spawnSync(command, given, { input, maxBuffer: 1 << 30, encoding: "utf8" });
    if (done.status !== 0) throw new Error(`${language} failed: ${done.error?.message ?? done.stderr.slice(-2000)}`);
    return done.stdout.trimEnd().split("\n").map((line) => parse(line));
}

// Whether a run that was handed over ended as the whole run did.
function isSame(whole, found) {
    const [wanted, outcome] = [whole, found].map(({ outcome }) => {
        const { at, ...rest } = outcome;
        // The message has a number of bytes, which differs after a restore.
        if (rest.code === "memory") delete rest.message;
        return rest;
    });
    return whole.fuel === found.fuel && same(wanted, outcome);
}

// Hands every run over in every direction. Returns the number of snapshots, and the runs that ended differently.
export function handOver(lines) {
    const runs = lines.map((text) => ({ ...JSON.parse(text), input: parts(text).get("input") }));
    const places = runs.flatMap((run) => cuts(run.answers.length).map((cut) => ({ run, cut })));
    // Inputs stay texts: JavaScript would write 2.0 as 2.
    const line = ({ input, ...run }, answers, snapshot) =>
        `{"input":${input},${JSON.stringify({ ...run, answers, snapshot }).slice(1)}`;
    const wholes = new Map();
    for (const [at, whole] of legs("Rust", runs.map((run) => line(run, run.answers))).entries()) wholes.set(runs[at], whole);
    const failures = [];
    for (const from of Object.keys(LANGUAGES)) {
        const taken = legs(from, places.map(({ run, cut }) => line(run, run.answers.slice(0, cut))));
        const rests = places.map(({ run, cut }, at) => line(run, run.answers.slice(cut), taken[at].snapshots.at(-1)));
        for (const to of Object.keys(LANGUAGES).filter((name) => name !== from)) {
            for (const [at, found] of legs(to, rests).entries()) {
                const { run, cut } = places[at];
                const whole = wholes.get(run);
                if (isSame(whole, found)) continue;
                const [wanted, got] = [whole, found].map(({ fuel, outcome }) => JSON.stringify({ fuel, outcome }, plain));
                failures.push(`${from} to ${to}, after ${cut} answers: expected ${wanted}, found ${got}, ${rests[at]}`);
            }
        }
    }
    return { snapshots: places.length, failures };
}

const plain = (_, value) => (typeof value === "bigint" ? String(value) : value);
