/** Building programs, and the other functions that need the module that builds them. */

import { call, core } from "./core.js";
import { BYTES, FLAG, expect } from "./given.js";
import type { Core } from "./glue.js";
import type { RunOptions } from "./loop.js";
import { Program as Runnable, resumeWith, type Decision, type StoreOptions } from "./program.js";
import { CHECK, checked, type CheckOptions } from "./source.js";
import { ToolSet, toolsOf, withCatalogue } from "./tools.js";
import { outputOf } from "./output.js";
import type { Outcome, ToolDefinition, Value, ValueOf } from "./types.js";

export interface BuildOptions<S = unknown> extends CheckOptions {
    outputSchema?: S;
    /** Whether source positions are left out of the program. */
    strip?: boolean;
}

/** The tools that programs may call. */
export class Tools extends ToolSet {
    constructor(definitions: { readonly [name: string]: ToolDefinition }) {
        super(core, definitions);
    }
}

/** A verified program; any number of runs may share it. */
export class Program<T = Value> extends Runnable<T> {
    /** A listing of the bytecode. */
    disassemble(): string {
        const program = this.core as Core;
        return call((module) => module.disassemble(program));
    }
}

/** Builds a program; throws `CompileError`, whose message is for the model that wrote the source. */
export function build<S = undefined>(source: string, options: BuildOptions<S> = {}): Program<ValueOf<S>> {
    const notation = checked(source, options, { ...CHECK, strip: FLAG });
    const { strip = false, signature, strict = false } = options;
    const output = outputOf(options.outputSchema);
    const tools = options.tools === undefined ? undefined : toolsOf(core, options.tools);
    try {
        const built = withCatalogue(core, tools, (known) => call((module) => module.build(source, known, notation, strip, signature, output?.text, strict)));
        return new Program(core, built, tools, tools !== options.tools, options.outputSchema);
    } catch (error) {
        if (tools !== options.tools) tools?.dispose();
        throw error;
    }
}

/** Reads and verifies a program that `Program.toBytes` packed. */
export function load(packed: Uint8Array): Program {
    expect("`packed`", packed, BYTES);
    return new Program(core, call((module) => module.load(packed)), undefined, false);
}

/**
 * Continues a run of a store, after a crash or after a person's decision.
 *
 * A call that may have been made before a crash is made again only if its tool is `idempotent`; else the run waits,
 * in state `doubt`, for a decision.
 */
export function resume(in_: StoreOptions, options: RunOptions = {}, decision?: Decision): Promise<Outcome> {
    return resumeWith(load, in_, options, decision);
}
