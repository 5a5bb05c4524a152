// Runs a part of a run in JavaScript, as shared/examples/replay.rs does in Rust, with the same lines.
import { createInterface } from "node:readline";
import * as ilo from "../js/dist/node.js";
import { WIDE, parse, write } from "../js/dist/json.js";
import { outcomeOf, parts } from "../js/tests/corpus.js";

const hexadecimal = (bytes) => Buffer.from(bytes).toString("hex");

for await (const line of createInterface({ input: process.stdin })) {
    const { program: packed, function: name, limits, answers, snapshot } = JSON.parse(line);
    const program = ilo.load(Buffer.from(packed, "hex"));
    const run = snapshot
        ? program.restore(Buffer.from(snapshot, "hex"), { limits })
        // Input and answers stay texts: JavaScript would write 2.0 as 2.
        : program.start(new ilo.Json(parts(line).get("input")), { limits, function: name ?? undefined });
    const snapshots = [];
    for (const [ok, value, changes] of answers) {
        if (run.step().status !== "call") throw new Error("more answers than calls");
        snapshots.push(hexadecimal(run.snapshot()));
        if (changes) run.mayChange();
        if (ok) run.answer(new ilo.Json(value));
        else run.fail(new ilo.Json(value));
    }
    const end = run.step();
    const waits = end.status === "call";
    if (waits) snapshots.push(hexadecimal(run.snapshot()));
    const outcome = waits ? "null" : write(outcomeOf(end), WIDE);
    console.log(`{"fuel":${run.fuel},"snapshots":${JSON.stringify(snapshots)},"outcome":${outcome}}`);
    run.dispose();
    program.dispose();
}
