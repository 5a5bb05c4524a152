/** The errors of the package. */

import type { Json } from "./json.js";
import type { Diagnostic, Problem, Value } from "./types.js";

/** The class of every error of this package, except those that a tool throws. */
export class IloError extends Error {
    override name = "IloError";
}

/** A source has errors. The message is for the model, which corrects the program with it. */
export class CompileError extends IloError {
    override name = "CompileError";
    readonly diagnostics: readonly Diagnostic[];

    constructor(diagnostics: readonly Diagnostic[]) {
        const errors = diagnostics.filter((found) => found.severity === "error").length;
        const number = errors === 1 ? "1 error" : `${errors} errors`;
        const head = `the program has ${number}; each is LINE:COLUMN: error[CODE]: what is wrong; what to write`;
        super([head, ...diagnostics.map((found) => found.text)].join("\n"));
        this.diagnostics = diagnostics;
    }
}

/** A run could not start. `problems` lists every reason. */
export class StartError extends IloError {
    override name = "StartError";
    readonly problems: readonly Problem[];

    constructor(problems: readonly Problem[]) {
        super(problems.map((problem) => problem.text).join("\n"));
        this.problems = problems;
    }
}

/** Bytes are not a snapshot of this program, or exceed a limit; `code` is the stable code. */
export class SnapshotError extends IloError {
    override name = "SnapshotError";
    readonly code: string;

    constructor(message: string, code: string) {
        super(message);
        this.code = code;
    }
}

/** A run got an answer, or was asked for a snapshot, while no call waits; or it has been freed. */
export class NotWaiting extends IloError {
    override name = "NotWaiting";
}

/** A value of JavaScript that has no form in the language. The message has its path. */
export class BadValue extends IloError {
    override name = "BadValue";
}

/** A run of a store cannot be started or continued; `code` is the stable code. */
export class StoreError extends IloError {
    override name = "StoreError";
    readonly code: "name-taken" | "no-such-run" | "run-owned" | "other-call" | "not-in-this-state" | "unreadable" | "store-failed" | "store-late";

    constructor(message: string, code: StoreError["code"]) {
        super(message);
        this.code = code;
    }
}

/** Bytes or a token that may not come next in a program that a model writes; `at` of the bytes could have come. */
export class Refused extends IloError {
    override name = "Refused";
    readonly at: number;

    constructor(message: string, at: number) {
        super(message);
        this.at = at;
    }
}

/** No token may come next, or none that leaves an end within the tokens left. */
export class CannotEnd extends IloError {
    override name = "CannotEnd";
}

/** The WebAssembly module failed, and a new instance was made. Runs in progress are lost. */
export class Crash extends IloError {
    override name = "Crash";
}

/**
 * Thrown by a tool: the call fails with this text, or with this record or other value.
 *
 * Any other error is a failure too; its text then begins with the name of its class.
 */
export class Failure extends Error {
    override name = "Failure";
    readonly value: Value | Json;

    constructor(value: Value | Json) {
        super(typeof value === "string" ? value : "the tool failed");
        this.value = value;
    }
}

/** Thrown by a tool: the run stops at this call, and `program.resume` continues with the answer. */
export class Suspend extends Error {
    override name = "Suspend";
}

/** What `ask` gives to refuse a call: a reason, which the program gets with its failure. */
export class Deny {
    constructor(readonly reason = "") {
        if (typeof reason !== "string") throw new TypeError("the reason of `Deny` is a string");
    }
}

/** The error that the module has thrown as a text. */
/** @internal */
export function errorOf(thrown: string): Error {
    const { name, message, diagnostics, problems, code, at } = JSON.parse(thrown);
    switch (name) {
        case "CompileError":
            return new CompileError(diagnostics);
        case "StartError":
            return new StartError(problems);
        case "SnapshotError":
            return new SnapshotError(message, code);
        case "NotWaiting":
            return new NotWaiting(message);
        case "BadValue":
            return new BadValue(message);
        case "Refused":
            return new Refused(message, at);
        case "CannotEnd":
            return new CannotEnd(message);
        case "TypeError":
            return new TypeError(message);
        default:
            return new RangeError(message);
    }
}
