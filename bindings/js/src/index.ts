/** Small programs that agents write. They are checked before they run, and their tools are your functions. */

export { init, type Source } from "./core.js";
export type { Store, Stored } from "./durable.js";
export {
    BadValue, CannotEnd, CompileError, Crash, Deny, Failure, IloError, NotWaiting, Refused, SnapshotError, StartError, StoreError, Suspend,
} from "./errors.js";
export { Json } from "./json.js";
export { Program, Tools, build, load, resume, type BuildOptions } from "./build.js";
export type { Decision, InStore, Inputs, StoreOptions, ResumeOptions, StartOptions } from "./program.js";
export type { RunOptions } from "./loop.js";
export type { Stream } from "./stream.js";
export type { RunSyncOptions } from "./sync.js";
export type { Run } from "./run.js";
export { card, check, complete, convert, detect, explain, fix, format, graph, hover, type CheckOptions, type SourceOptions } from "./source.js";
export type { GivenTools, Tool } from "./tools.js";
export * from "./types.js";
