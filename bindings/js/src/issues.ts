/** What a schema of Standard Schema says of a value that does not fit. */

import type { Result } from "./definitions.js";

/** The most issues that are listed. */
const ISSUES = 20;

/** The issues as one text; nothing if it fits. A result that has issues is a misfit, whatever they are. */
export function issuesOf(found: Result): string | undefined {
    if (typeof found !== "object" || found === null) return "its schema gives no result";
    const { issues } = found;
    if (issues === undefined) return undefined;
    const list = Array.isArray(issues) ? (issues as NonNullable<Result["issues"]>) : [];
    if (!list.length) return "its schema gives no reason";
    const texts = list.slice(0, ISSUES).map(({ path, message }) => {
        const steps = path?.map((step) => String(typeof step === "object" ? step.key : step)) ?? [];
        return `${steps.length ? `${steps.join(".")}: ` : ""}${message}`;
    });
    if (list.length > ISSUES) texts.push(`and ${list.length - ISSUES} more`);
    return texts.join("; ");
}
