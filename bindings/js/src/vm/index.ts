/** Runs programs that were built elsewhere: `ilo` without the parts that build them. */

import { BYTES, expect } from "../given.js";
import type { RunOptions } from "../loop.js";
import { Program, resumeWith, type Decision, type StoreOptions } from "../program.js";
import { ToolSet } from "../tools.js";
import type { Outcome, ToolDefinition } from "../types.js";
import { core } from "./core.js";

export { init } from "./core.js";
export type { Source } from "../instance.js";
export type { Store, Stored } from "../durable.js";
export { BadValue, Crash, Deny, Failure, IloError, NotWaiting, SnapshotError, StartError, StoreError, Suspend } from "../errors.js";
export { Json } from "../json.js";
export type { RunOptions } from "../loop.js";
export { Program, type Decision, type InStore, type Inputs, type StoreOptions, type ResumeOptions, type StartOptions } from "../program.js";
export type { Run } from "../run.js";
export type { Stream } from "../stream.js";
export type { RunSyncOptions } from "../sync.js";
export type { GivenTools, Tool } from "../tools.js";
export * from "../types.js";

/** The tools that programs may call. */
export class Tools extends ToolSet {
    constructor(definitions: { readonly [name: string]: ToolDefinition }) {
        super(core, definitions);
    }
}

/** Reads and verifies a program that `Program.toBytes` packed. */
export function load(packed: Uint8Array): Program {
    expect("`packed`", packed, BYTES);
    return new Program(core, core.call((module) => module.load(packed)), undefined, false);
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
