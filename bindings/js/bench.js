// Measures the package, and quickjs-emscripten beside it where that is installed: `node bench.js`.
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";
import * as ilo from "ilo";

const notify = readFileSync(new URL("../../examples/notify.ilo", import.meta.url), "utf8");
const inputs = { "user-id": "7", message: "hi" };
const user = { email: "ada@example.org", verified: true };
const ROUNDS = 9;

// The best of several rounds, in microseconds.
async function best(count, work) {
    let least = Infinity;
    for (let round = 0; round < ROUNDS; round++) {
        const begun = performance.now();
        for (let n = 0; n < count; n++) {
            const pending = work();
            if (pending) await pending;
        }
        least = Math.min(least, ((performance.now() - begun) * 1000) / count);
    }
    return least.toPrecision(3);
}

function print(what, value) {
    console.log(`| ${what} | ${value} |`);
}

const wasm = readFileSync(new URL("dist/ilo.wasm", import.meta.url));
print("ilo.wasm, kB", Math.round(wasm.length / 1000));
const begun = performance.now();
const compiled = new WebAssembly.Module(wasm);
print("compile, ms", (performance.now() - begun).toPrecision(3));
print("imports of the module", WebAssembly.Module.imports(compiled).length);

const program = ilo.build(notify);
const tools = new ilo.Tools({
    "get-user": { readOnly: true, execute: () => user },
    "send-email": { execute: () => null },
});
print("notify, run, µs", await best(2000, () => program.run(inputs, { tools })));
print(
    "notify, step by step, µs",
    await best(2000, () => {
        const run = program.start(inputs);
        run.step();
        run.answer(user);
        run.step();
        run.answer(null);
        run.step();
        run.dispose();
    }),
);
const waiting = program.start(inputs);
waiting.step();
print("snapshot, bytes", waiting.snapshot().length);
print("snapshot, µs", await best(5000, () => void waiting.snapshot()));
print("build, µs", await best(500, () => ilo.build(notify).dispose()));

// One call more, from 8 calls to 108.
const calls = (count) => ilo.build(`; fn f() -> any\n; Tools: 0=t\n${"CALL 0 0\n".repeat(count)}RET LIT 0 "x"\n`);
const one = new ilo.Tools({ t: { execute: () => null } });
const times = [];
for (const count of [8, 108]) {
    const many = calls(count);
    times.push(Number(await best(100, () => many.run({}, { tools: one }))));
}
print("a call, run, µs", ((times[1] - times[0]) / 100).toPrecision(3));

try {
    const { getQuickJS } = await import("quickjs-emscripten");
    const quickjs = await getQuickJS();
    const source = `(() => { const user = JSON.parse(getUser("7")); if (!user.verified) throw new Error("no");
        sendEmail(JSON.stringify({ email: user.email, subject: "Notification", body: "hi" })); return null; })()`;
    print(
        "notify, quickjs-emscripten, a fresh context, µs",
        await best(50, () => {
            const context = quickjs.newContext();
            for (const [name, answer] of [["getUser", user], ["sendEmail", null]]) {
                context.newFunction(name, () => context.newString(JSON.stringify(answer))).consume((made) => {
                    context.setProp(context.global, name, made);
                });
            }
            context.unwrapResult(context.evalCode(source)).dispose();
            context.dispose();
        }),
    );
} catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
}

const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
print("ilo.wasm, brotli, kB", Math.round(brotliCompressSync(wasm, quality).length / 1000));
