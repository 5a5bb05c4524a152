/** Sources: checking, fixing, converting, laying out, drawing; cards and explanations. */

import { call, core } from "./core.js";
import { SCHEMA } from "./definitions.js";
import { FLAG, NUMBER, TEXT, expect, checkOptions, type Kinds } from "./given.js";
import { outputOf } from "./output.js";
import type { Catalogue } from "./runner.js";
import { TOOLS, withCatalogue, type GivenTools } from "./tools.js";
import type { Completion, Diagnostic, Hover, Notation } from "./types.js";

export interface SourceOptions {
    /** The notation of the source; by default it is detected. */
    notation?: Notation | undefined;
}

export interface CheckOptions extends SourceOptions {
    /** The tools that the source is checked against. */
    tools?: GivenTools | undefined;
    /** What the caller expects, such as `"email(id: text) -> result answer, text"`: another name, input or output is an error. */
    signature?: string | undefined;
    /**
     * The value that the caller expects: a JSON schema, or a schema of zod or another library of Standard Schema.
     * Another value is an error of the check, or, where only the run shows it, fault `output-mismatch` after the rollback.
     */
    outputSchema?: unknown;
    /** Whether warnings are errors that foretell a fault of the run, or another result than meant. */
    strict?: boolean | undefined;
}

const SOURCE: Kinds<SourceOptions> = { notation: TEXT };
export const CHECK: Kinds<CheckOptions> = { ...SOURCE, tools: TOOLS, signature: TEXT, outputSchema: SCHEMA, strict: FLAG };

/** The notation given for a source. */
export function checked<T extends SourceOptions>(source: string, options: T, kinds: Kinds<T>): Notation | undefined {
    expect("`source`", source, TEXT);
    checkOptions(options, kinds);
    return options.notation;
}

/** What the module says of a source that is checked against the tools, if they are given. */
function judged(source: string, options: CheckOptions, work: "check" | "fix"): any {
    const notation = checked(source, options, CHECK);
    const { signature, strict = false } = options;
    const output = outputOf(options.outputSchema)?.text;
    const found = (tools: Catalogue): string => call((module) => module[work](source, tools, notation, signature, output, strict));
    return withCatalogue(core, options.tools, (tools) => JSON.parse(found(tools)));
}

/** The diagnostics of a source, checked against the tools if they are given. */
export function check(source: string, options: CheckOptions = {}): Diagnostic[] {
    return judged(source, options, "check");
}

/** Applies every unambiguous fix. Returns the new source, the number of fixes, and the remaining diagnostics. */
export function fix(source: string, options: CheckOptions = {}): { source: string; fixed: number; left: Diagnostic[] } {
    return judged(source, options, "fix");
}

/** The hover text for the word at an index of the source, for an editor. */
export function hover(source: string, index: number, options: CheckOptions = {}): Hover | undefined {
    const notation = checked(source, options, CHECK);
    expect("`index`", index, NUMBER);
    const found = withCatalogue(core, options.tools, (tools) => call((module) => module.hover(source, tools, notation, index)));
    return found === undefined ? undefined : JSON.parse(found);
}

/** The completions at an index of the source, the likeliest first, for an editor. */
export function complete(source: string, index: number, options: CheckOptions = {}): Completion[] {
    const notation = checked(source, options, CHECK);
    expect("`index`", index, NUMBER);
    return withCatalogue(core, options.tools, (tools) => JSON.parse(call((module) => module.complete(source, tools, notation, index))));
}

/** The source in another notation; throws `CompileError`. */
export function convert(source: string, to: Notation, options: SourceOptions = {}): string {
    const notation = checked(source, options, SOURCE);
    expect("`to`", to, TEXT);
    return call((module) => module.convert(source, to, notation));
}

/** The source in its canonical layout; throws `CompileError`. */
export function format(source: string, options: SourceOptions = {}): string {
    const notation = checked(source, options, SOURCE);
    return call((module) => module.layout(source, notation));
}

/** A drawing of the source; throws `CompileError`. */
export function graph(
    source: string,
    form: "svg" | "dot" | "mermaid" | "text" = "svg",
    options: SourceOptions = {},
): string {
    const notation = checked(source, options, SOURCE);
    expect("`form`", form, TEXT);
    return call((module) => module.graph(source, form, notation));
}

/** The detected notation of a source. */
export function detect(source: string): Notation | undefined {
    expect("`source`", source, TEXT);
    return call((module) => module.detect(source)) as Notation | undefined;
}

/** What a card may have beside its notation. */
export type CardOptions = Pick<CheckOptions, "tools" | "signature" | "outputSchema">;

/** The card that teaches a model a notation, with the signatures of the tools, and what is expected of the program. */
export function card(notation: Notation = "tool-calling", options: CardOptions = {}): string {
    expect("`notation`", notation, TEXT);
    checkOptions(options, { tools: TOOLS, signature: TEXT, outputSchema: SCHEMA });
    const output = outputOf(options.outputSchema)?.text;
    return withCatalogue(core, options.tools, (tools) => call((module) => module.card(notation, tools, options.signature, output)));
}

/** The explanation of an error code. */
export function explain(code: string): string {
    expect("`code`", code, TEXT);
    return call((module) => module.explain(code));
}
