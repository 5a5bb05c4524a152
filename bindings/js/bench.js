// Measures the package beside quickjs-emscripten and @pydantic/monty: rounds of all in turn, the best of each.
//
//     node bench.js [--peers FOLDER] [--save]
//     node bench.js --sizes
//
// FOLDER has the two in its node_modules; without it their columns are empty. `--save` writes the table to
// bindings/RESULTS.md. `--sizes` prints only the sizes of the modules. The modules are measured as they were
// built: those of `npm run build` are shipped, those of `PROFILE=trial ./build.sh` are larger and slower.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { brotliCompressSync, constants } from "node:zlib";
import * as ilo from "ilo-vm";

const { values: options } = parseArgs({
    options: { peers: { type: "string" }, save: { type: "boolean" }, sizes: { type: "boolean" } },
});
const file = (path) => new URL(path, import.meta.url);
const NOTIFY = readFileSync(file("../../examples/notify.ilo"), "utf8");
const INPUTS = { "user-id": "7", message: "hi" };
const USER = { email: "ada@example.org", verified: true };
// Many short rounds, so that some of them are not disturbed by other work of the machine.
const ROUNDS = 100;
const CALLS = 100;
const TARGETS = {
    "ilo.wasm, brotli, kB": 670,
    "vm.wasm, brotli, kB": 300,
    "guide.wasm, brotli, kB": 400,
    "compile, ms": 20,
    "notify, run, µs": 8,
    "snapshot, bytes": 39,
    "snapshot, µs": 0.3,
};

// Calls before the measured ones: after the work of others, the caches of the machine contain nothing of this.
const BEFORE = 3;

// Microseconds for each of this number of operations.
async function one(count, work) {
    for (let n = 0; n < BEFORE; n++) await work();
    const begun = performance.now();
    for (let n = 0; n < count; n++) {
        const pending = work();
        if (pending) await pending;
    }
    return ((performance.now() - begun) * 1000) / count;
}

// The times of a run with one call and with many, for the difference of their bests.
async function call(run) {
    return { few: await one(20, () => run(1)), many: await one(2, () => run(1 + CALLS)) };
}

// Kilobytes as sent by a server, compressed.
function packed(bytes) {
    return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length / 1000;
}

function sizes() {
    const modules = ["ilo.wasm", "vm.wasm", "guide.wasm"].map((name) => [name, readFileSync(file(`dist/${name}`))]);
    const rows = modules.flatMap(([name, bytes]) => [
        [`${name}, kB`, bytes.length / 1000],
        [`${name}, brotli, kB`, packed(bytes)],
    ]);
    return Object.fromEntries(rows);
}

function ours() {
    const wasm = readFileSync(file("dist/ilo.wasm"));
    const program = ilo.build(NOTIFY);
    const tools = new ilo.Tools({
        "get-user": { readOnly: true, execute: () => USER },
        "send-email": { execute: () => null },
    });
    const stepped = () => {
        const run = program.start(INPUTS);
        run.step();
        run.answer(USER);
        run.step();
        run.answer(null);
        run.step();
        run.dispose();
    };
    const source = (count) => `; fn f() -> any\n; Tools: 0=t\n${"CALL 0 0\n".repeat(count)}RET LIT 0 "x"\n`;
    const calls = new Map([1, 1 + CALLS].map((count) => [count, ilo.build(source(count))]));
    const t = new ilo.Tools({ t: { execute: () => null } });
    const waiting = program.start(INPUTS);
    waiting.step();
    const all = sizes();
    return async () => ({
        ...all,
        "notify, run, µs": await one(30, () => program.run(INPUTS, { tools })),
        "notify, runSync, µs": await one(30, () => void program.runSync(INPUTS, { tools })),
        "notify, step by step, µs": await one(30, stepped),
        "a call, run, µs": await call((count) => calls.get(count).run({}, { tools: t })),
        "a call, runSync, µs": await call((count) => void calls.get(count).runSync({}, { tools: t })),
        "snapshot, bytes": waiting.snapshot().length,
        "snapshot, µs": await one(200, () => void waiting.snapshot()),
        "build of notify, µs": await one(5, () => ilo.build(NOTIFY).dispose()),
        // This is measured last, because its threads continue and would slow down the others.
        "compile, ms": (await one(1, () => void new WebAssembly.Module(wasm))) / 1000,
    });
}

async function monty({ Monty, runMontyAsync }) {
    const made = new Monty(
        "user = get_user(user_id)\nresult = 'Email not verified'\nif user['verified']:\n" +
            "    result = send_email(user['email'], 'Notification', message)\nresult",
        { inputs: ["user_id", "message"] },
    );
    const inputs = { user_id: "7", message: "hi" };
    const sync = { inputs, externalFunctions: { get_user: () => USER, send_email: () => null } };
    const many = new Monty("for _ in range(n):\n    x = t()\nx", { inputs: ["n"] });
    const calls = (count) => ({ inputs: { n: count }, externalFunctions: { t: () => null } });
    const waiting = made.start({ inputs });
    return async () => ({
        "notify, run, µs": await one(20, () => runMontyAsync(made, sync)),
        "notify, runSync, µs": await one(20, () => void made.run(sync)),
        "a call, run, µs": await call((count) => runMontyAsync(many, calls(count))),
        "a call, runSync, µs": await call((count) => void many.run(calls(count))),
        "snapshot, bytes": waiting.dump().length,
        "snapshot, µs": await one(100, () => void waiting.dump()),
    });
}

async function quickjs({ getQuickJS }) {
    const engine = await getQuickJS();
    const notify = `(() => { const user = JSON.parse(getUser("7")); if (!user.verified) throw new Error("no");
        sendEmail(JSON.stringify({ email: user.email, subject: "Notification", body: "hi" })); return null; })()`;
    // Runs a source in a fresh context, as a host runs a program of a model.
    const run = (source, functions) => {
        const context = engine.newContext();
        for (const [name, answer] of functions) {
            context.newFunction(name, () => context.newString(JSON.stringify(answer))).consume((made) => {
                context.setProp(context.global, name, made);
            });
        }
        context.unwrapResult(context.evalCode(source)).dispose();
        context.dispose();
    };
    return async () => ({
        "notify, runSync, µs": await one(2, () => run(notify, [["getUser", USER], ["sendEmail", null]])),
        "a call, runSync, µs": await call((count) => run(`for (let n = 0; n < ${count}; n++) JSON.parse(t())`, [["t", null]])),
    });
}

async function peers(folder) {
    if (folder === undefined) return [];
    const { resolve: find } = createRequire(join(resolve(folder), "bench.js"));
    const named = [["@pydantic/monty", monty], ["quickjs-emscripten", quickjs]];
    const found = named.map(async ([name, prepare]) => {
        const { version } = JSON.parse(readFileSync(join(resolve(folder), "node_modules", name, "package.json"), "utf8"));
        return { title: `${name} ${version}`, measure: await prepare(await import(pathToFileURL(find(name)))) };
    });
    return Promise.all(found);
}

// The best of each figure.
function least(rounds) {
    return Object.fromEntries(Object.keys(rounds[0]).map((name) => {
        const best = (of) => Math.min(...rounds.map((found) => of(found[name])));
        if (typeof rounds[0][name] === "number") return [name, best((figure) => figure)];
        return [name, (best(({ many }) => many) - best(({ few }) => few)) / CALLS];
    }));
}

if (options.sizes) {
    for (const [name, figure] of Object.entries(sizes())) console.log(`${name}: ${Math.round(figure).toLocaleString("en")}`);
    process.exit();
}
const engines = [{ title: "ilo", measure: ours() }, ...(await peers(options.peers))];
const rounds = engines.map(() => []);
for (let round = 0; round < ROUNDS; round++) {
    for (const [at, { measure }] of engines.entries()) rounds[at].push(await measure());
}
const [mine, ...others] = rounds.map(least);
const shown = (figure) => {
    if (figure === undefined) return "";
    return figure >= 100 ? Math.round(figure).toLocaleString("en") : String(Number(figure.toPrecision(3)));
};
const row = (cells) => `| ${cells.join(" | ")} |`;
const table = [
    row(["", "ilo", "target", ...engines.slice(1).map(({ title }) => title)]),
    row(Array(engines.length + 2).fill("---")),
    ...Object.keys(mine).map((name) => row([name, shown(mine[name]), TARGETS[name] ?? "", ...others.map((of) => shown(of[name]))])),
].join("\n");
console.log(table);

if (options.save) {
    const path = file("../RESULTS.md");
    const head = `## JavaScript

${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, \`bindings/compare.sh\`. Each figure is the best of
${ROUNDS} rounds, in turn with those of the others. quickjs-emscripten reads the source in a fresh context each time, in
which no earlier program has left anything; ilo and monty have read the program before. monty is a native module.
The sizes are those of \`npm run build\`, which is what is shipped; \`node js/bench.js --sizes\` prints only them.
`;
    const parts = readFileSync(path, "utf8").split(/^(?=## )/m);
    const written = parts.map((part) => (part.startsWith("## JavaScript\n") ? `${head}\n${table}\n\n` : part));
    writeFileSync(path, `${written.join("").trimEnd()}\n`);
}
