// Inspects a source in one pass.

import * as core from "./core.js";
import { type MockTool, readTools, ToolsError } from "./mocks.js";
import type { Inspected } from "./protocol.js";

/** The tools of a tools file, for `build` and runs. */
export interface KnownTools {
    readonly definitions: ReadonlyMap<string, MockTool> | null;
    readonly options: { tools?: core.Tools };
    readonly problem: string | null;
}

let last: { text: string; known: KnownTools } | null = null;

/** Reads a tools file. The last one is kept, because every key in the program requests it. */
export function withTools(text: string): KnownTools {
    if (last?.text === text) return last.known;
    const known = read(text);
    last = { text, known };
    return known;
}

function read(text: string): KnownTools {
    try {
        const definitions = readTools(text);
        if (definitions === null) return { definitions, options: {}, problem: null };
        const tools = new core.Tools(Object.fromEntries([...definitions].map(([name, tool]) => [name, definition(tool)])));
        return { definitions, options: { tools }, problem: null };
    } catch (error) {
        if (core.isTrap(error)) throw error;
        const problem = error instanceof ToolsError || error instanceof Error ? error.message : String(error);
        return { definitions: null, options: {}, problem };
    }
}

/** A tool in the form of the package. The run adds its function. */
export function definition(tool: MockTool): core.ToolDefinition {
    return {
        ...(tool.description === undefined ? {} : { description: tool.description }),
        ...(tool.inputSchema === undefined ? {} : { schema: tool.inputSchema }),
        ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
        validate: tool.validate,
        readOnly: tool.readOnly,
        idempotent: tool.idempotent,
        retries: tool.retries,
        requiresRollback: tool.requiresRollback,
        execute: () => null,
    };
}

/** Inspects a source. */
export function inspect(source: string, toolsText: string): Inspected {
    const { options, problem } = withTools(toolsText);
    const notation = core.detect(source) ?? null;
    const common = { notation, toolsProblem: problem };
    if (source.trim() === "") return { ...common, notation: null, diagnostics: [], functions: [], bytes: null };
    try {
        using program = core.build(source, options);
        const functions = Object.entries(program.functions).map(([name, inputs]) => ({ name, inputs: Object.entries(inputs) }));
        return { ...common, diagnostics: program.warnings, functions, bytes: program.toBytes().length };
    } catch (error) {
        if (!(error instanceof core.CompileError)) throw error;
        return { ...common, diagnostics: error.diagnostics, functions: [], bytes: null };
    }
}
