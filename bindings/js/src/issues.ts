/** What a schema of Standard Schema says of a value that does not fit. */

import type { Result } from "./definitions.js";

/** The most issues that are listed. */
const ISSUES = 20;

/** The issues as one text; nothing if there are none. */
export function issuesOf({ issues = [] }: Result): string | undefined {
    if (!issues.length) return undefined;
    const texts = issues.slice(0, ISSUES).map(({ path, message }) => {
        const steps = path?.map((step) => String(typeof step === "object" ? step.key : step)) ?? [];
        return `${steps.length ? `${steps.join(".")}: ` : ""}${message}`;
    });
    if (issues.length > ISSUES) texts.push(`and ${issues.length - ISSUES} more`);
    return texts.join("; ");
}
