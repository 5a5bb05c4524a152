// The list of diagnostics, each with its place, its explanation and its fix.

import type { Diagnostic } from "./core.js";
import { byId, h, setText } from "./dom.js";

/** The most rows of the list. */
const MOST = 100;

/** The actions of the page that the list uses. */
export interface Actions {
    goTo(offset: number): void;
    fix(diagnostic: Diagnostic): void;
    explain(code: string): Promise<string>;
}

/** Shows the diagnostics. */
export function showProblems(diagnostics: readonly Diagnostic[], actions: Actions, empty: boolean): void {
    const list = byId("problems");
    const errors = diagnostics.filter((found) => found.severity === "error").length;
    const count = byId("problem-count");
    count.hidden = diagnostics.length === 0;
    setText(count, String(diagnostics.length));
    count.className = `count ${errors > 0 ? "bad" : "warn"}`;
    byId("fix-all").hidden = !diagnostics.some((found) => found.fix);
    if (diagnostics.length === 0) {
        const [title, text] = empty
            ? ["No program yet.", "Type or paste one in any of the five notations, or choose an example."]
            : ["No problems.", "The program may run. Mistakes appear here as you type, with their fixes."];
        list.replaceChildren(h("div", { class: "hint" }, h("strong", {}, title), text));
        return;
    }
    const rows: HTMLElement[] = diagnostics.slice(0, MOST).map((found) => row(found, actions));
    if (diagnostics.length > MOST) rows.push(h("p", { class: "hint" }, `and ${diagnostics.length - MOST} more`));
    list.replaceChildren(...rows);
}

function row(found: Diagnostic, actions: Actions): HTMLElement {
    const explain = h("button", { class: "code", type: "button", "aria-expanded": "false", title: "Explain this code" }, found.code);
    const place = h(
        "button",
        { class: "place", type: "button", "aria-label": `line ${found.line}, column ${found.column}`, onclick: () => actions.goTo(found.start) },
        `${found.line}:${found.column}`,
    );
    const fix = found.fix && h("button", { class: "small", type: "button", onclick: () => actions.fix(found) }, "Fix");
    const wanted = [
        found.fix ? found.fix.title : found.help,
        ...found.related.map((other) => `${other.line}:${other.column}: ${other.message}`),
    ].filter((text) => text !== undefined);
    const element = h(
        "div",
        { class: `problem ${found.severity}` },
        place,
        h("div", { class: "message" }, `${found.message} `, explain),
        fix ?? h("span"),
        ...wanted.map((text) => h("div", { class: "help" }, text)),
    );
    let page: HTMLElement | null = null;
    explain.addEventListener("click", async () => {
        const open = explain.getAttribute("aria-expanded") === "true";
        explain.setAttribute("aria-expanded", String(!open));
        page?.remove();
        page = null;
        if (open) return;
        page = h("pre", { tabindex: "0" }, await actions.explain(found.code).catch((error: Error) => error.message));
        element.append(page);
    });
    return element;
}
