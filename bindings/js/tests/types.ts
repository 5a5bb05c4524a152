/** Code of callers in TypeScript, which is type-checked and never run. */

import * as ilo from "ilo-vm";
import { runProgram } from "ilo-vm/ai";
import { Guide, Refused, Session, Vocab, readVocab } from "ilo-vm/guide";
import { toolsFromMcp } from "ilo-vm/mcp";
import * as vm from "ilo-vm/vm";
import { runProgram as runProgramOfAgents } from "ilo-vm/openai-agents";
import { tool } from "ai";
import { z } from "zod";

const tools = new ilo.Tools({
    getUser: {
        schema: z.object({ id: z.number() }),
        readOnly: true,
        timeout: 1000,
        execute: async ({ id }: { id: number }, { signal }) => ({ id, late: signal.aborted }),
    },
});

export async function go(program: ilo.Program, signal: AbortSignal): Promise<ilo.Value> {
    const outcome = await program.run({ id: 7n }, { tools, signal, limits: { fuel: 10n ** 9n }, atOnce: 4 });
    switch (outcome.status) {
        case "ok":
            return outcome.value;
        case "err":
            return outcome.error;
        case "fault":
            return `${outcome.code} at ${outcome.line ?? "?"}: ${outcome.message}`;
        case "suspended":
            return go2(await program.resume(outcome.snapshot, { answer: true, tools }));
    }
}

function go2(outcome: ilo.Outcome): string {
    // @ts-expect-error: only an outcome with status `ok` has a value.
    return String(outcome.value);
}

export function atOnce(program: ilo.Program): ilo.Outcome {
    // @ts-expect-error: it makes one call after another.
    program.runSync({}, { atOnce: 2 });
    return program.runSync({ id: 7 }, { tools: { t: { execute: () => 1 } }, timeout: 1000, ask: (call) => call.number === 1 });
}

export function byHand(program: ilo.Program): number {
    using run = program.start({ id: 1 }, { limits: { memory: 1 << 20 } });
    for (;;) {
        const step = run.step();
        if (step.status !== "call") return step.fuel;
        run.answer({ tool: step.tool, exact: new ilo.Json("2.0").text });
    }
}

export function found(source: string): string[] {
    try {
        // @ts-expect-error: there is no such notation.
        ilo.build(source, { notation: "python" });
    } catch (error) {
        if (error instanceof ilo.CompileError) return error.diagnostics.map(({ code, start, end }) => `${code} ${start} ${end}`);
    }
    // @ts-expect-error: a tool has a function `execute`.
    return [new ilo.Tools({ nothing: {} }).size.toFixed()];
}

export const adapters = { runProgram, runProgramOfAgents, toolsFromMcp, tool };

export function guided(tokenizer: object, pick: (mask: Uint32Array) => number): string {
    using vocab = readVocab(tokenizer, { eos: "</s>", size: 50_000 });
    using session = new Session("f(id: text) -> text", { tools, above: "" });
    using guide = new Guide(session, vocab);
    const bits = new Uint32Array(vocab.maskWords);
    try {
        for (let left = 100; !guide.ended; left--) {
            guide.fillMask(bits, left);
            guide.accept(pick(bits));
        }
    } catch (error) {
        if (error instanceof Refused) return `${error.at}: ${error.message}`;
    }
    // @ts-expect-error: the end is the number of a token.
    new Vocab(["a"], "</s>");
    // @ts-expect-error: a guide needs a session.
    new Guide();
    return guide.finish();
}

export async function elsewhere(program: ilo.Program): Promise<number> {
    const loaded: vm.Program = vm.load(program.toBytes());
    const outcome: vm.Outcome = await loaded.run({}, { tools: new vm.Tools({ t: { execute: () => 1 } }) });
    // @ts-expect-error a program that only runs has no listing
    loaded.disassemble();
    return outcome.status === "ok" ? outcome.fuel : 0;
}

/** The value has the type of the schema that the host expects. */
export async function typedValue(source: string): Promise<string[]> {
    const program = ilo.build(source, { outputSchema: z.object({ title: z.string() }) });
    const titles: string[] = [];
    for (const outcome of [await program.run(), program.runSync(), await program.stream().outcome()]) {
        if (outcome.status === "ok") titles.push(outcome.value.title);
    }
    return titles;
}
