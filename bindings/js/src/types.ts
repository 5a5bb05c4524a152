/** The arguments and results of the functions of this package. */

import type { DiagnosticCode } from "./codes.js";
import type { Texts } from "./json.js";

export type { DiagnosticCode } from "./codes.js";

declare global {
    // So that callers need no library of a later ECMAScript.
    interface SymbolConstructor {
        readonly dispose: unique symbol;
    }
}

export type Notation = "id" | "tool-calling" | "constrained" | "workflow" | "mcp";

/** A value of the language. Integers past 2^53 are `bigint`; a field with `undefined` is left out. */
export type Value = null | boolean | number | bigint | string | Value[] | { [name: string]: Value };

/** A diagnostic: an error or a warning, its place, and the fix. */
export interface Diagnostic {
    /** The stable code. */
    readonly code: DiagnosticCode;
    readonly severity: "error" | "warning";
    /** The line, from 1. */
    readonly line: number;
    /** The column in characters (Unicode scalar values), from 1. */
    readonly column: number;
    /** Where it begins in the source, as an index of a JavaScript string (UTF-16). */
    readonly start: number;
    /** One past where it ends, as an index of a JavaScript string. */
    readonly end: number;
    /** The message. */
    readonly message: string;
    /** What was expected. */
    readonly expected?: string;
    /** What was found. */
    readonly found?: string;
    /** The nearest valid name. */
    readonly nearest?: string;
    /** What to write instead, in words. */
    readonly help?: string;
    /** The correction: what it does, and its edits. */
    readonly fix?: { readonly title: string; readonly edits: readonly Edit[] };
    /** Other places that matter. */
    readonly related: readonly { readonly line: number; readonly column: number; readonly message: string }[];
    /** The whole diagnostic for a model: `LINE:COLUMN: error[CODE]: message; help`. */
    readonly text: string;
}

/** Replaces the text between two indexes of the source. */
export interface Edit {
    readonly start: number;
    readonly end: number;
    readonly text: string;
}

/** One problem that prevents a run. */
export interface Problem {
    readonly code: string;
    /** An input or a tool; empty if neither applies. */
    readonly place: string;
    readonly message: string;
    readonly text: string;
}

/** Limits that differ from their defaults. The default of `memory` is 16 MB. */
export interface Limits {
    fuel?: number | bigint;
    memory?: number | bigint;
    text?: number;
    items?: number;
    valueDepth?: number;
    toolCalls?: number;
    rollbacks?: number;
    resultBytes?: number;
    resultNodes?: number;
}

/** A waiting call. */
export interface Call {
    readonly status: "call";
    /** The tool by the name that the program uses. */
    readonly tool: string;
    readonly arguments: { readonly [name: string]: Value };
    /** The number of the call within the run, from 1: the same after a restore. */
    readonly number: number;
    /** The function that makes the call. */
    readonly function: string;
    /** The line and column in the source; missing in a stripped program. */
    readonly line?: number;
    readonly column?: number;
    readonly isRollback: boolean;
}

/** The common part of all outcomes. */
export interface OutcomeBase extends Texts {
    /** The fuel that the run has used. */
    readonly fuel: number;
    /** The rollbacks that failed. */
    readonly compensationFailures: readonly { readonly tool: string; readonly error: Value }[];
    /** The rollbacks that were made, each with the number of its own call. */
    readonly rolledBack: readonly { readonly tool: string; readonly number: number }[];
    /** The calls that may have changed something and that nothing undid. */
    readonly notRolledBack: readonly { readonly tool: string; readonly why: string }[];
}

/** @deprecated Its name is `OutcomeBase`. */
export type Ending = OutcomeBase;

/** The run ended with a value. */
export interface Ok<T = Value> extends OutcomeBase {
    readonly status: "ok";
    readonly value: T;
}

/** The run ended with a failure, in a function whose output type is a result. */
export interface Err extends OutcomeBase {
    readonly status: "err";
    readonly error: Value;
}

/** The codes of faults; a later release may have more. */
export const FAULT_CODES = [
    "tool-failed", "overflow", "division-by-zero", "not-finite", "type-mismatch", "condition-type", "missing-field",
    "index-out-of-range", "no-case", "fuel", "memory", "depth", "too-many-calls", "too-large", "timed-out",
    "too-many-rollbacks", "cancelled", "in-doubt", "output-mismatch",
] as const;
export type FaultCode = (typeof FAULT_CODES)[number] | (string & {});

/** The run ended with a fault, which no program can handle. */
export interface Fault extends OutcomeBase {
    readonly status: "fault";
    /** The stable code. */
    readonly code: FaultCode;
    readonly message: string;
    /** The function, line and column; no line and column in a stripped program. */
    readonly function: string;
    readonly line?: number;
    readonly column?: number;
    /** The instruction, counted over the whole program. */
    readonly instruction: number;
}

/** A tool threw `Suspend`: `program.resume(snapshot, {answer})` continues, in any process. */
export interface Suspended extends Texts {
    readonly status: "suspended";
    readonly snapshot: Uint8Array;
    readonly call: Call;
    /** The text of the tool, or the information that a person needs. */
    readonly reason: string;
    /**
     * In a store, why it waits: for an approval, for an answer from outside, because nobody knows whether the call was
     * made, or because a tool has changed so that a call that was not made yet no longer fits.
     */
    readonly state?: "asking" | "deferred" | "doubt" | "blocked";
}

export type Finished<T = Value> = Ok<T> | Err | Fault;
export type Outcome<T = Value> = Finished<T> | Suspended;

/** @deprecated Its name is `CallResult`. */
export type Made = CallResult;

/** A call that has ended. */
export interface CallResult {
    /** Counted from 0, in the order in which the run makes its calls. */
    readonly seq: number;
    /** The number within the run, from 1. */
    readonly number: number;
    readonly tool: string;
    readonly arguments: { readonly [name: string]: Value };
    readonly ok: boolean;
    /** The answer if `ok`, else the failure. */
    readonly value: Value;
    readonly rollback: boolean;
    /** Whether it was started before its turn. */
    readonly ahead: boolean;
    /** Whether it may have changed something although there is no answer. */
    readonly inDoubt: boolean;
}

/** A call begins. If its tool needs a confirmation, nobody has been asked yet. */
export interface CallStart {
    readonly type: "start";
    /** The same in the start and the end of a call. */
    readonly id: number;
    /** The number within the run, from 1; null for a call that was started ahead, until the run comes to it. */
    readonly number: number | null;
    /** The tool by the name that the program uses. */
    readonly tool: string;
    readonly arguments: { readonly [name: string]: Value };
    /** The line in the source; missing in a stripped program. */
    readonly line?: number;
    readonly rollback: boolean;
    /** When it began, in milliseconds since the run began. */
    readonly start: number;
    /** What a framework, or the option of that name, calls the whole run. */
    readonly toolCallId?: string;
}

/** A call has ended, after all its attempts. The run may take its answer later, or never. */
export interface CallEnd extends Omit<CallStart, "type"> {
    readonly type: "end";
    /** How long it took, in milliseconds. */
    readonly duration: number;
    readonly ok: boolean;
    /** The answer as the program gets it if `ok`, else the failure. */
    readonly value: Value;
    /** What the tool has thrown. */
    readonly error?: unknown;
}

/** The reader of a stream was slow: that many events before the next one were dropped. */
export interface EventsDropped {
    readonly type: "dropped";
    readonly count: number;
}

/** What happens to the calls of a run, at the moment at which it happens. */
export type RunEvent = CallStart | CallEnd | EventsDropped;

/** The plan for one tool. */
export interface PlannedCalls {
    readonly tool: string;
    /** The most calls, in words. */
    readonly most: string;
    readonly readOnly: boolean;
    readonly confirm: boolean;
    /** What follows a crash during a call of a durable run: it is made again, or a person decides. */
    readonly afterCrash: "again" | "doubt";
    readonly isRollback: boolean;
    /** The tools that roll its calls back. */
    readonly entries: readonly string[];
    /** Calls that nothing rolls back. */
    readonly withoutRollback: readonly { readonly line: number; readonly column: number }[];
}

/** A JSON schema. */
export type Schema = { readonly [name: string]: unknown };

/** The second argument of a tool. */
export interface CallContext {
    /** Aborted when the call is late or its answer is no longer wanted. */
    readonly signal: AbortSignal;
    /** In a run with a store: the same text for every attempt at this call, also after a crash. */
    readonly key: string | undefined;
    /** The option `context` of the run. */
    readonly context: any;
}

/** A tool, as `new Tools({name: {...}})` takes it. */
export interface ToolDefinition<Input = any> {
    /**
     * The schema of the arguments: a JSON schema, as an object or as `Json`, or a schema of zod or another library of
     * Standard Schema.
     */
    schema?: unknown;
    /** The schema of the answer. */
    outputSchema?: unknown;
    description?: string;
    /** Makes the call; may be async. A throw is a failure of the call, which the program can handle. */
    execute(input: Input, context: CallContext): unknown;
    /** The tool changes nothing: it may be called early, in parallel with others, and a cancel ends its calls. */
    readOnly?: boolean;
    /** A failed call may be made again. */
    idempotent?: boolean;
    /** How often a failed call is made again; only with `idempotent` or `readOnly`. */
    retries?: number;
    /** A person is asked before each call. */
    confirm?: boolean;
    /** The time limit of a call in milliseconds. */
    timeout?: number;
    /** Whether a call whose answer never comes fails, or ends the run after its rollback. */
    onUnanswered?: "fail" | "stop";
    /** @deprecated Its name is `onUnanswered`. */
    onDoubt?: "fail" | "stop";
    /** Each call of it must have a rollback. */
    requiresRollback?: boolean;
    /** Whether arguments and answers are compared with the schemas during the run; default true. */
    validate?: boolean;
}

/** The types that a schema of zod or another library of Standard Schema says. */
interface Typed {
    readonly "~standard": { readonly types?: { readonly input: unknown; readonly output: unknown } | undefined };
}
type TypesOf<S extends Typed> = NonNullable<S["~standard"]["types"]>;
type InputOf<S> = S extends Typed ? TypesOf<S>["output"] : any;
type AnswerOf<S> = S extends Typed ? TypesOf<S>["input"] : unknown;

/** The type of a value that a schema says. */
export type ValueOf<S> = S extends Typed ? TypesOf<S>["output"] : Value;

/** A tool whose arguments and answer have the types of its schemas. */
export interface TypedTool<S, O> extends Omit<ToolDefinition, "schema" | "outputSchema" | "execute"> {
    schema?: S;
    outputSchema?: O;
    execute(input: InputOf<S>, context: CallContext): AnswerOf<O> | Promise<AnswerOf<O>>;
}

/** The tool itself: its arguments and its answer have the types of its schemas. */
export function tool<S = undefined, O = undefined>(definition: TypedTool<S, O>): ToolDefinition {
    return definition as ToolDefinition;
}

/** A hover text about the word at a place of a source, as Markdown. Offsets are indexes of the source. */
export interface Hover {
    start: number;
    end: number;
    text: string;
}

/** A completion: a text that may replace a part of a source. */
export interface Completion {
    /** The label in a list. */
    label: string;
    kind: "word" | "tool" | "argument" | "field" | "slot" | "type";
    /** The text to be written between `start` and `end`. */
    text: string;
    start: number;
    end: number;
    /** The text that is compared with the typed one. */
    filter: string;
    /** A type or signature; may be empty. */
    detail: string;
    /** A description; may be empty. */
    about: string;
    /** An edit elsewhere that belongs to it, such as the entry of a registry. */
    also?: { start: number; end: number; text: string };
}
