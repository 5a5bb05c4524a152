/** The tool `run_program` for the OpenAI Agents SDK (package `@openai/agents`), over its function tools. */

import { tool, type FunctionTool, type RunContext } from "@openai/agents";
import { Failure, Tools, type ToolDefinition } from "ilo-vm";
import { NAME, PARAMETERS, checked, description, runSource, type RunProgramOptions } from "./adapter.js";

export type { RunProgramOptions } from "./adapter.js";

type AnyTool = FunctionTool<any, any, any>;

function definitions(tools: readonly AnyTool[], readOnly: readonly string[], context?: RunContext<any>): Tools {
    const all: { [name: string]: ToolDefinition } = {};
    for (const one of tools) {
        all[one.name] = {
            description: one.description,
            schema: one.parameters,
            readOnly: readOnly.includes(one.name),
            async execute(input) {
                if (!context) throw new Failure("there is no run of the agent");
                return value(await one.invoke(context, JSON.stringify(input)));
            },
        };
    }
    return new Tools(all);
}

/** The answer of a tool. An object of a class is converted by JSON. */
function value(answer: unknown): unknown {
    return answer !== null && typeof answer === "object" ? JSON.parse(JSON.stringify(answer)) : answer;
}

/** A tool that runs programs over these tools. Give it to an agent in place of them. */
export function runProgram(tools: readonly AnyTool[], options: RunProgramOptions = {}): FunctionTool<any, any, string> {
    checked(options);
    const readOnly = options.readOnly ?? [];
    return tool({
        name: options.name ?? NAME,
        description: description(definitions(tools, readOnly), options),
        parameters: PARAMETERS as never,
        strict: false,
        execute: (given: unknown, context?: RunContext<any>, details?: { toolCall?: { callId: string } }) => {
            const toolCallId = options.toolCallId ?? details?.toolCall?.callId;
            return runSource(given, definitions(tools, readOnly, context), { ...options, toolCallId });
        },
    }) as unknown as FunctionTool<any, any, string>;
}
