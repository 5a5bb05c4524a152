/** The tool `run_program` for the AI SDK (package `ai`), over the tools of that package. */

import { asSchema, jsonSchema, tool, type Tool, type ToolExecutionOptions, type ToolSet } from "ai";
import { Tools, type ToolDefinition } from "ilo-vm";
import { PARAMETERS, checked, description, runSource, type RunProgramOptions } from "./adapter.js";
import { RECORD, expect } from "./given.js";

export type { RunProgramOptions } from "./adapter.js";

/** The second argument that a tool gets from the SDK. */
type Around = ToolExecutionOptions;

async function definitions(set: ToolSet, readOnly: readonly string[], around: Around): Promise<Tools> {
    const all: { [name: string]: ToolDefinition } = {};
    for (const [name, one] of Object.entries(set)) {
        const { execute } = one;
        if (!execute) continue;
        all[name] = {
            ...(one.description === undefined ? {} : { description: one.description }),
            schema: await asSchema(one.inputSchema).jsonSchema,
            ...(one.outputSchema === undefined ? {} : { outputSchema: await asSchema(one.outputSchema).jsonSchema }),
            readOnly: readOnly.includes(name),
            confirm: one.needsApproval !== undefined && one.needsApproval !== false,
            execute: (input, { signal }) => answer(execute(input, { ...around, abortSignal: signal })),
        };
    }
    return new Tools(all);
}

/** The last value of a tool, which may give partial values before. */
async function answer(given: unknown): Promise<unknown> {
    const parts = (given as AsyncIterable<unknown> | undefined)?.[Symbol.asyncIterator];
    if (typeof parts !== "function") return given;
    let last: unknown;
    for await (const part of given as AsyncIterable<unknown>) last = part;
    return last;
}

/** A tool that runs programs over these tools. Give it to a model in place of them. */
export async function runProgram(tools: ToolSet, options: RunProgramOptions = {}): Promise<Tool> {
    expect("`tools`", tools, RECORD);
    checked(options);
    const readOnly = options.readOnly ?? [];
    const about = await definitions(tools, readOnly, { toolCallId: "", messages: [] });
    return tool({
        description: description(about, options),
        inputSchema: jsonSchema<{ source: string; input?: object }>(PARAMETERS as never),
        async execute(given: unknown, around: Around) {
            const signals = [options.signal, around.abortSignal].filter((signal) => signal !== undefined);
            const signal = signals.length ? AbortSignal.any(signals) : undefined;
            const toolCallId = options.toolCallId ?? around.toolCallId;
            return runSource(given, await definitions(tools, readOnly, around), { ...options, signal, toolCallId });
        },
    }) as Tool;
}
