// What a host of agents waits for: from import to the first result, a warm run with two async tools, from source to result, and
// how long 100 concurrent runs hold the event loop up, with a store and without one.
//
//     node host.js [--peers FOLDER]
//
// FOLDER has quickjs-emscripten and @pydantic/monty in its node_modules, as for bench.js; without it their columns are empty.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import * as ilo from "ilo-vm";

const { values: options } = parseArgs({ options: { peers: { type: "string" } } });
const ROUNDS = 5;
const RUNS = 100;
const SOURCE = `{"function": "notify", "input": {"id": "number"}, "output": "text", "steps": [
    {"let": "user", "call": "get_user", "args": {"id": "$input.id"}},
    {"call": "send", "args": {"to": "$user.email"}}, {"return": "$user.email"}]}`;
// Monty's runMontyAsync waits for promises itself: a program that awaits gets a value that cannot be awaited.
const PYTHON = "user = get_user(id)\nsend(user['email'])\nuser['email']";
const JAVASCRIPT = `const user = JSON.parse(get_user("7")); send(user.email); user.email`;
const USER = { email: "ada@example.org" };
const tools = new ilo.Tools({
    get_user: { readOnly: true, execute: async () => USER },
    send: { execute: async () => null },
});

// The address of a peer's module; nothing without it.
function peer(name) {
    if (options.peers === undefined) return undefined;
    return pathToFileURL(createRequire(join(resolve(options.peers), "host.js")).resolve(name)).href;
}

// Milliseconds in a new process, from before its import to the result; the best of the rounds.
function first(code) {
    const timed = `const begun = performance.now(); ${code}; console.log(performance.now() - begun); process.exit(0);`;
    const times = Array.from({ length: ROUNDS }, () => {
        const done = spawnSync(process.execPath, ["--input-type=module", "-e", timed], { encoding: "utf8", cwd: import.meta.dirname });
        if (done.status !== 0) throw new Error(done.stderr);
        return Number(done.stdout);
    });
    return Math.min(...times);
}

// Microseconds of one of this number of operations, the best of the rounds.
async function each(count, work) {
    let best = Infinity;
    for (let round = 0; round < ROUNDS * 4; round++) {
        const begun = performance.now();
        for (let n = 0; n < count; n++) await work();
        best = Math.min(best, ((performance.now() - begun) * 1000) / count);
    }
    return best;
}

// How late a timer of a millisecond is while 100 runs go on at once: the 99th percentile, in milliseconds.
async function lag(given) {
    const slow = (answer) => async () => (await pause(2), answer);
    const waiting = new ilo.Tools({ get_user: { readOnly: true, execute: slow(USER) }, send: { execute: slow(null) } });
    const program = ilo.build(SOURCE, { tools: waiting });
    const late = [];
    let [over, last] = [false, performance.now()];
    const watch = (async () => {
        while (!over) {
            await pause(1);
            const now = performance.now();
            late.push(Math.max(0, now - last - 1));
            last = now;
        }
    })();
    const rounds = Array.from({ length: 10 }, (_, round) => round);
    for (const round of rounds) {
        const runs = Array.from({ length: RUNS }, (_, n) => program.run({ id: n }, { tools: waiting, ...given(`${round}-${n}`) }));
        for (const outcome of await Promise.all(runs)) if (outcome.status !== "ok") throw new Error(outcome.toText());
    }
    over = true;
    await watch;
    late.sort((a, b) => a - b);
    return late[Math.floor(late.length * 0.99)];
}

function stored() {
    const records = new Map();
    const store = {
        read: async (name) => records.get(name),
        write: async (name, version, record) => {
            if ((records.get(name)?.version ?? 0) !== version - 1) return false;
            records.set(name, { version, record });
            return true;
        },
    };
    return (name) => ({ store, name });
}

async function ours() {
    const program = ilo.build(SOURCE, { tools });
    const code = `const ilo = await import("ilo-vm"); const tools = new ilo.Tools({ get_user: { execute: async () => (${JSON.stringify(USER)}) },
        send: { execute: async () => null } }); await ilo.build(${JSON.stringify(SOURCE)}, { tools }).run({ id: 7 }, { tools })`;
    const lags = { with: [], without: [] };
    for (let round = 0; round < ROUNDS; round++) {
        lags.without.push(await lag(() => ({})));
        lags.with.push(await lag(stored()));
    }
    const middle = (all) => all.sort((a, b) => a - b)[ROUNDS >> 1];
    return {
        "import to first result, ms": first(code),
        "warm run, two async tools, µs": await each(100, () => program.run({ id: 7 }, { tools })),
        "source to result, µs": await each(30, async () => {
            const made = ilo.build(SOURCE, { tools });
            await made.run({ id: 7 }, { tools });
            made.dispose();
        }),
        "lag of 100 runs, p99, ms": middle(lags.without),
        "lag with a store, p99, ms": middle(lags.with),
    };
}

async function monty(address) {
    const { Monty, runMontyAsync } = await import(address);
    const given = { inputs: { id: 7 }, externalFunctions: { get_user: async () => USER, send: async () => null } };
    const make = () => new Monty(PYTHON, { inputs: ["id"] });
    const code = `const { Monty, runMontyAsync } = await import(${JSON.stringify(address)}); await runMontyAsync(new Monty(
        ${JSON.stringify(PYTHON)}, { inputs: ["id"] }), { inputs: { id: 7 }, externalFunctions: { get_user: async () =>
        (${JSON.stringify(USER)}), send: async () => null } })`;
    const made = make();
    return {
        "import to first result, ms": first(code),
        "warm run, two async tools, µs": await each(100, () => runMontyAsync(made, given)),
        "source to result, µs": await each(30, () => runMontyAsync(make(), given)),
    };
}

async function quickjs(address) {
    const run = `const engine = await (await import(${JSON.stringify(address)})).getQuickJS(); const go = () => {
        const context = engine.newContext(); for (const [name, answer] of [["get_user", ${JSON.stringify(JSON.stringify(USER))}], ["send", "null"]])
        context.newFunction(name, () => context.newString(answer)).consume((made) => context.setProp(context.global, name, made));
        context.unwrapResult(context.evalCode(${JSON.stringify(JAVASCRIPT)})).dispose(); context.dispose(); }; go()`;
    const engine = await (await import(address)).getQuickJS();
    const go = () => {
        const context = engine.newContext();
        for (const [name, answer] of [["get_user", JSON.stringify(USER)], ["send", "null"]]) {
            context.newFunction(name, () => context.newString(answer)).consume((made) => context.setProp(context.global, name, made));
        }
        context.unwrapResult(context.evalCode(JAVASCRIPT)).dispose();
        context.dispose();
    };
    return { "import to first result, ms": first(run), "source to result, µs": await each(10, go) };
}

const named = [["ilo", await ours()]];
for (const [name, measure] of [["@pydantic/monty", monty], ["quickjs-emscripten", quickjs]]) {
    const address = peer(name);
    if (address !== undefined) named.push([name, await measure(address)]);
}
console.log(`| | ${named.map(([name]) => name).join(" | ")} |\n|${"---|".repeat(named.length + 1)}`);
for (const row of Object.keys(named[0][1])) {
    const figures = named.map(([, found]) => (found[row] === undefined ? "" : Number(found[row].toPrecision(3))));
    console.log(`| ${row} | ${figures.join(" | ")} |`);
}
