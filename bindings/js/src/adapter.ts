/** Shared by the adapters for agent frameworks: the tool that runs a program which a model has written. */

import { CompileError, IloError, build, card, type GivenTools, type Limits, type Notation, type RunOptions } from "ilo-vm";
import { FLAG, NAMES, RECORD, TEXT, checkOptions, type Kinds } from "./given.js";
import { WIDE, write } from "./json.js";
import { RUN } from "./loop.js";

export interface RunProgramOptions extends Omit<RunOptions, "tools"> {
    /** The name of the tool; by default `run_program`. */
    name?: string;
    /** The notation that the model writes; by default `tool-calling`. */
    notation?: Notation;
    limits?: Limits;
    /** Whether the check is strict; by default it is. `false` lets programs run of which it foretells a fault. */
    strict?: boolean;
    /** Names of tools that change nothing: a program may call them in parallel. */
    readOnly?: readonly string[];
}

export const NAME = "run_program";

/** The arguments of the tool. */
export const PARAMETERS = {
    type: "object" as const,
    properties: {
        source: { type: "string", description: "The program." },
        input: { type: "object", description: "The input of the program by name.", additionalProperties: true },
    },
    required: ["source"],
    additionalProperties: true as const,
};

const { tools: _, ...run } = RUN;
const OPTIONS: Kinds<RunProgramOptions> = { ...run, name: TEXT, notation: TEXT, limits: RECORD, strict: FLAG, readOnly: NAMES };

/** Checks the options of an adapter. */
export function checked(options: RunProgramOptions): void {
    checkOptions(options, OPTIONS);
}

/** The text that teaches a model to write programs, and the tools. */
export function description(tools: GivenTools, options: RunProgramOptions): string {
    return `Runs a program that calls tools.\n\n${card(options.notation ?? "tool-calling", { tools })}`;
}

/** Builds and runs a program of a model. Returns its outcome as JSON, or the diagnostics for the model. */
export async function runSource(given: unknown, tools: GivenTools, options: RunProgramOptions): Promise<string> {
    const { source, input = {} } = (given ?? {}) as { source?: unknown; input?: { [name: string]: unknown } };
    if (source === undefined) return "`source` is missing; give the program as a text";
    // Models also pass a program in JSON as an object.
    const text = typeof source === "string" ? source : JSON.stringify(source);
    const { notation, limits, strict = true, name: _, readOnly: __, ...run } = options;
    try {
        using program = build(text, { tools, notation, strict });
        const outcome = await program.run(input, { ...run, tools, limits });
        if (outcome.status === "suspended") return "the program waits for a person, and was stopped";
        const warnings = program.warnings.map((warning) => warning.text);
        const shown = write(warnings.length ? { ...outcome, warnings } : outcome, WIDE);
        return typeof shown === "string" ? shown : "the outcome could not be written";
    } catch (error) {
        if (error instanceof CompileError) return `${error.message}\nCorrect the program and call this tool again.`;
        if (error instanceof IloError) return error.message;
        throw error;
    }
}
