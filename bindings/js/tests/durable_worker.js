// A process that runs a program in a store, or continues it, until it has ended or is killed:
//
//     node durable_worker.js FOLDER EFFECTS [HOLD]
//
// Each call writes a line with its key to EFFECTS, between two pauses in which the test kills the process. Of a call in
// doubt it decides as a person would who looks whether the payment is there. The call of the tool HOLD stays under way after its
// effect.
import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import * as ilo from "ilo-vm";
import { FileStore } from "../examples/file-store.js";

export const STEPS = 5;
const all = Array.from({ length: STEPS }, (_, n) => n);
const lines = all.map(
    (n) => `LET ${3 * n} CALL 0 1 0 LIT 1 ${n}\nLET ${3 * n + 1} CALL 1 1 0 REF ${3 * n}\nLET ${3 * n + 2} CALL 2 1 0 REF ${3 * n + 1}\n`,
);
const SOURCE = `; fn f() -> any\n; Tools: 0=look 1=pay 2=post\n; Fields: 0=n\n${lines.join("")}RET LIST ${STEPS} ${all
    .map((n) => `REF ${3 * n + 2}`)
    .join(" ")}\n`;

// A read, a call that changes something, and one that may be made twice with the same key.
export function tools(effects, hold) {
    const call = (name, add) => async ({ n }, { key }) => {
        await sleep(10);
        appendFileSync(effects, `${name} ${n} ${key}\n`, { flush: true });
        await sleep(name === hold ? 3_600_000 : 10);
        return n + add;
    };
    return {
        look: { readOnly: true, execute: ({ n }) => n },
        pay: { execute: call("pay", 10) },
        post: { idempotent: true, execute: call("post", 100) },
    };
}

export async function go(folder, effects, hold) {
    const at = { store: new FileStore(folder), name: "job" };
    const given = { tools: tools(effects, hold) };
    let outcome = await ilo.build(SOURCE).run({}, { ...at, ...given });
    while (outcome.status === "suspended") {
        const { call, state } = outcome;
        if (state !== "doubt" || call.tool !== "pay") throw new Error(`${state} at ${call.tool}`);
        const paid = readFileSync(effects, "utf8").includes(`pay ${call.arguments.n} `);
        appendFileSync(`${effects}.doubts`, `${call.number}\n`);
        outcome = await ilo.resume(at, given, { call: call.number, ...(paid ? { answer: call.arguments.n + 10 } : { make: true }) });
    }
    return outcome;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await go(...process.argv.slice(2));
