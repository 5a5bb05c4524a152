// Every case of the corpus: its diagnostics, its outcome in every way to run it, and the same fuel and
// snapshots as in Rust.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import * as ilo from "ilo-vm";
import * as vm from "ilo-vm/vm";
import { handOver } from "../../handover/handover.js";
import { Mock, ROOT, cases, outcomeOf, parts, read, readCase, sameOutcome, same, section, written } from "./corpus.js";

// The codes of findings that a run reports as it starts; the program itself builds.
const AT_THE_START = [
    ...["bad-input", "missing-input", "unknown-input", "input-type", "unknown-function", "no-single-entry"],
];
// The memory that Rust gives a run; the package gives less.
const MEMORY = 64 << 20;
// The options of a case that set limits.
const LIMITS = new Map([
    ["--fuel", "fuel"],
    ["--max-calls", "toolCalls"],
    ["--max-items", "items"],
    ["--max-rollbacks", "rollbacks"],
]);

function options(found) {
    const words = (found.headers.options ?? "").split(/\s+/);
    const value = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
    const limits = { memory: MEMORY };
    const unknown = words.filter((word) => word.startsWith("--max-") && !LIMITS.has(word));
    assert.deepEqual(unknown, [], "options that set no limit here");
    for (const [key, name] of LIMITS) {
        if (value(key) !== undefined) limits[name] = Number(value(key));
    }
    return { limits, function: value("--fn") };
}

// Whether the case is about tools files: commands, servers and time, which this package does not have, or schemas that
// the runs here are not given (rule 3.5.14 reads a text by the schema of its tool; output.test.js has expected values).
function needsAProcess(found, tools) {
    const all = Object.values(tools);
    const waits = all.flatMap(({ mock }) => mock ?? []).some((entry) => "delay_ms" in entry);
    const renamed = all.some((entry) => "input" in entry || "output" in entry || "input_schema" in entry);
    const without = all.some((entry) => entry.mock === undefined);
    const bySchema = (found.headers.rule ?? "").split(/[\s,]+/).includes("3.5.14");
    const expected = section(found, "output") !== undefined;
    return without || waits || renamed || bySchema || expected || (found.headers.options ?? "").includes("--timeout");
}

// Runs step by step, with a snapshot at every call. With `restored`, the run continues from each snapshot.
function steps(program, inputs, tools, given, restored) {
    let run = program.start(inputs, given);
    const [answers, snapshots] = [[], []];
    let call;
    while ((call = run.step()).status === "call") {
        const tool = tools[call.tool] ?? tools[call.tool.split("/").at(-1)];
        const changes = !tool.entry.read_only;
        const snapshot = run.snapshot();
        if (changes) run.mayChange();
        snapshots.push(Buffer.from(snapshot).toString("hex"));
        if (restored) {
            const marked = run.snapshot();
            run.dispose();
            run = program.restore(marked, { limits: given.limits });
        }
        try {
            const answer = tool.call(call.arguments);
            answers.push([true, written(answer), changes]);
            run.answer(answer);
        } catch (failure) {
            if (!(failure instanceof ilo.Failure)) throw failure;
            answers.push([false, written(failure.value), changes]);
            run.fail(failure.value);
        }
    }
    assert.equal(run.fuel, call.fuel);
    run.dispose();
    return { outcome: call, answers, snapshots };
}

// The tools that the check of a case knows.
function catalogue(found) {
    const catalog = section(found, "catalog");
    if (catalog === undefined) return undefined;
    const listed = JSON.parse(catalog);
    const entries = (listed.tools ?? listed).map((entry) => [
        entry.name,
        {
            execute: () => null,
            description: entry.description,
            schema: entry.inputSchema,
            outputSchema: entry.outputSchema,
            validate: entry.validate ?? true,
            requiresRollback: entry.policy?.rollback === "required",
        },
    ]);
    return new ilo.Tools(Object.fromEntries(entries));
}

async function checkRun(found, notation, source) {
    const text = section(found, "tools", notation) ?? "{}";
    const given = read(text);
    if (needsAProcess(found, given)) return false;
    const inputs = new ilo.Json((section(found, "input", notation) ?? "{}").trim());
    const texts = parts(text);
    const wanted = read(section(found, "outcome", notation));
    const program = ilo.build(source, { tools: catalogue(found), notation });
    const more = options(found);
    const mocks = () => Object.fromEntries(Object.entries(given).map(([name, entry]) => [name, new Mock(name, entry, texts.get(name))]));
    const tools = (isAsync) =>
        Object.fromEntries(Object.entries(mocks()).map(([name, mock]) => [name, mock.definition(isAsync)]));
    const stepped = steps(program, inputs, mocks(), more, false);
    const ways = {
        "step by step": stepped.outcome,
        "through snapshots": steps(program, inputs, mocks(), more, true).outcome,
        "over functions": await program.run(inputs, { tools: tools(false), ...more }),
        "in ilo-vm/vm": await vm.load(program.toBytes()).run(inputs, { tools: tools(false), ...more }),
        "over async functions": await ilo.load(program.toBytes()).run(inputs, { tools: tools(true), ...more }),
    };
    for (const [way, outcome] of Object.entries(ways)) {
        const made = outcomeOf(outcome);
        assert.ok(sameOutcome(wanted, made), `${way}: expected ${written(wanted)}, found ${written(made)}`);
        assert.equal(outcome.fuel, stepped.outcome.fuel, way);
    }
    replays.push({
        title: `${found.path} (${notation})`,
        stepped,
        line: `{"input":${inputs.text.replaceAll(/\s*\n\s*/g, " ")},${written({
            program: Buffer.from(program.toBytes()).toString("hex"),
            function: more.function ?? null,
            limits: more.limits,
            answers: stepped.answers,
        }).slice(1)}`,
    });
    program.dispose();
    return true;
}

// The diagnostics of the check, in order.
function checkDiagnostics(found, notation, source, wanted) {
    const output = section(found, "output");
    const all = ilo.check(source, { tools: catalogue(found), notation, outputSchema: output && JSON.parse(output) });
    const lines = wanted.split("\n").filter((line) => line.trim() && !line.trimStart().startsWith("says"));
    let expected = lines.map((line) => line.trim().split(/\s+/));
    if (!all.length) expected = expected.filter(([, code]) => !AT_THE_START.includes(code));
    const strict = (found.headers.options ?? "").includes("--deny-warnings");
    const left = [...all];
    for (const [severity, code, place = ""] of expected) {
        const [line, column] = place.split(":");
        const at = left.findIndex(
            (one) =>
                one.code === code &&
                (strict || one.severity === severity) &&
                (!line || one.line === Number(line)) &&
                (!column || one.column === Number(column)),
        );
        assert.ok(at >= 0, `expected ${severity} ${code} ${place}, found ${left.map((one) => one.text)}`);
        const [one] = left.splice(at, 1);
        assert.ok(one.start <= one.end && one.end <= source.length, "its place is within the source");
    }
    assert.deepEqual(left.map((one) => one.text), [], "not expected");
}

// Rust with the same answers: fuel, snapshots and outcome are the same.
function checkReplays() {
    const path = `${ROOT}bindings/target/trial/examples/replay`;
    const input = replays.map(({ line }) => `${line}\n`).join("");
    const made = spawnSync(path, { input, maxBuffer: 1 << 30, encoding: "utf8" });
    assert.equal(made.status, 0, made.error?.message ?? made.stderr);
    const lines = made.stdout.trimEnd().split("\n");
    assert.equal(lines.length, replays.length);
    const failures = [];
    for (const [at, { title, stepped }] of replays.entries()) {
        const { fuel, snapshots, outcome } = read(lines[at]);
        if (fuel !== stepped.outcome.fuel) failures.push(`${title}: fuel ${fuel} in Rust, ${stepped.outcome.fuel} here`);
        if (!same(snapshots, stepped.snapshots)) failures.push(`${title}: other snapshots in Rust`);
        if (outcome.status !== stepped.outcome.status) failures.push(`${title}: ${outcome.status} in Rust`);
    }
    assert.deepEqual(failures, []);
}

const replays = [];

test("every case holds", async () => {
    const failures = [];
    let [ran, checked] = [0, 0];
    for (const path of cases()) {
        const found = readCase(path);
        for (const [title, source] of found?.sections ?? []) {
            if (!title.startsWith("source ")) continue;
            const notation = title.split(" ")[1];
            try {
                const wanted = section(found, "diagnostics", notation);
                if (wanted !== undefined) {
                    checkDiagnostics(found, notation, source, wanted);
                    checked++;
                }
                const runs = section(found, "outcome", notation) !== undefined;
                if (runs && (await checkRun(found, notation, source))) ran++;
            } catch (error) {
                failures.push(`${path} (${notation}): ${error.name}: ${error.message}`);
            }
        }
    }
    assert.equal(failures.length, 0, `${ran} ran, ${failures.length} did not hold\n${failures.join("\n")}`);
    assert.ok(ran > 1000 && checked > 1000, `${ran} ran, ${checked} checked`);
    console.log(`${ran} programs ran, ${checked} sources were checked`);
});

test("fuel and snapshots of every case are those of Rust", () => {
    assert.ok(replays.length > 1000, `${replays.length} runs`);
    checkReplays();
});

test("a snapshot of each language goes on in each other, with the same outcome and fuel", () => {
    const { snapshots, failures } = handOver(replays.map(({ line }) => line));
    assert.equal(failures.length, 0, `${failures.length} of ${snapshots}\n${failures.slice(0, 20).join("\n")}`);
    assert.ok(snapshots > 500, `${snapshots} snapshots`);
});
