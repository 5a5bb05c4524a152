/** What a host expects of the value of a run: the option `outputSchema`. */

import { jsonSchema, standard, type Result, type Standard } from "./definitions.js";
import { jsonOf, isThenable, textOf } from "./json.js";
import { issuesOf } from "./issues.js";
import type { Outcome } from "./types.js";

/** The value that is expected. */
export interface Output {
    /** Its JSON schema, as JSON. */
    readonly text: string;
    /** The schema of a library, which converts the value too. */
    readonly rich: Standard | undefined;
}

/** A value as a library has converted it, or why it does not fit. */
export type Looked = { readonly value: unknown } | { readonly why: string };

/** Reads the option `outputSchema`; nothing if there is none. */
export function outputOf(schema: unknown): Output | undefined {
    if (schema === undefined) return undefined;
    const plain = jsonSchema("the option", "outputSchema", "input", schema);
    return { text: jsonOf("`outputSchema`", plain), rich: standard(schema) };
}

/** Compares a value with the schema of a library. What that throws is a misfit too. */
export function looked(rich: Standard, value: unknown): Looked | Promise<Looked> {
    const failed = (error: unknown): Looked => ({ why: textOf(error) });
    try {
        const found = rich.validate(value);
        return isThenable(found) ? Promise.resolve(found).then(read, failed) : read(found);
    } catch (error) {
        return failed(error);
    }
}

function read(found: Result): Looked {
    const why = issuesOf(found);
    return why === undefined ? { value: found.value } : { why };
}

/** An outcome that a store has kept, with its value in the form of the schema. */
export async function typed(outcome: Outcome, output: Output | undefined): Promise<Outcome> {
    if (!output?.rich || outcome.status !== "ok") return outcome;
    const found = await looked(output.rich, outcome.value);
    return "value" in found ? Object.assign(outcome, found as { value: any }) : outcome;
}
