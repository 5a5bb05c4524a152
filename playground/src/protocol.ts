// The messages between the page and the worker. All of them are plain data.

import type { Completion, Diagnostic, Hover, Notation } from "./core.js";

/** A function of the program: the names and types of its inputs. */
export interface FunctionInputs {
    readonly name: string;
    readonly inputs: readonly (readonly [name: string, type: string])[];
}

/** The result of inspecting a source. */
export interface Inspected {
    readonly notation: Notation | null;
    readonly diagnostics: readonly Diagnostic[];
    /** None if the source has an error. */
    readonly functions: readonly FunctionInputs[];
    /** The packed program; none if the source has an error. */
    readonly bytes: number | null;
    /** The error of the tools file. */
    readonly toolsProblem: string | null;
}

/** The parameters of a run. */
export interface Start {
    readonly source: string;
    readonly tools: string;
    readonly inputs: string;
    readonly function: string | null;
    readonly fuel: number;
    /** Whether each call waits for a person. */
    readonly stepwise: boolean;
}

/** The requests: the argument and the answer of each. */
export interface Requests {
    ping: { takes: null; gives: null };
    inspect: { takes: { source: string; tools: string }; gives: Inspected };
    fix: { takes: { source: string; tools: string }; gives: { source: string; fixed: number } };
    convert: { takes: { source: string; to: Notation }; gives: string | null };
    graph: { takes: { source: string }; gives: string | null };
    listing: { takes: { source: string; tools: string }; gives: string | null };
    complete: { takes: { source: string; tools: string; at: number }; gives: readonly Completion[] };
    hover: { takes: { source: string; tools: string; at: number }; gives: Hover | null };
    explain: { takes: { code: string }; gives: string };
    start: { takes: Start; gives: null };
    answer: { takes: { key: number; ok: boolean; json: string }; gives: string | null };
    stop: { takes: null; gives: null };
}

export type Name = keyof Requests;

/** A call that began. Values are JSON, shortened. */
export interface Began {
    readonly kind: "began";
    readonly key: number;
    readonly tool: string;
    readonly arguments: string;
    /** Milliseconds since the run began. */
    readonly at: number;
    readonly rollback: boolean;
}

/** A call that ended. */
export interface Ended {
    readonly kind: "ended";
    readonly key: number;
    readonly ok: boolean;
    readonly value: string;
    readonly at: number;
}

/** The run has used a call that ended. */
export interface Made {
    readonly kind: "made";
    readonly key: number;
    readonly rollback: boolean;
    /** Whether it was started before its turn. */
    readonly ahead: boolean;
}

/** A call that a person has to answer. */
export interface Waiting {
    readonly kind: "waiting";
    readonly key: number;
    readonly line: number | null;
    /** The answer that the mock would give. */
    readonly suggestion: { readonly ok: boolean; readonly json: string } | null;
    /** The size of the run's snapshot in bytes, if it has one. */
    readonly snapshot: number | null;
    readonly fuel: number | null;
}

/** The end of a run. */
export interface Finish {
    readonly kind: "finish";
    readonly status: "ok" | "err" | "fault" | "refused" | "stopped";
    /** The value, the error, or the message of the fault. */
    readonly text: string;
    /** The code of a fault. */
    readonly code: string | null;
    readonly line: number | null;
    readonly fuel: number | null;
    readonly at: number;
    /** Rollbacks that were made, rollbacks that failed, and calls that nothing undid, one in each line. */
    readonly notes: readonly string[];
}

export type RunEvent = Began | Ended | Made | Waiting | Finish;

/** From the page to the worker. */
export interface Request {
    readonly id: number;
    readonly name: Name;
    readonly takes: unknown;
}

/** From the worker to the page. */
export type Reply =
    | { readonly id: number; readonly gives: unknown }
    | { readonly id: number; readonly failed: string; readonly fatal: boolean }
    | { readonly event: RunEvent };
