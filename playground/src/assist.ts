// Help at the cursor of the program: completions while typing, and the meaning of a word.

import { autocompletion, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { type EditorState, type Extension, Prec, StateEffect, StateField } from "@codemirror/state";
import { type Command, hoverTooltip, keymap, showTooltip, type Tooltip } from "@codemirror/view";
import type { Completion as Choice, Hover } from "./core.js";
import { setText } from "./dom.js";

/** From this number of characters on, completions are shown only on request. */
const LARGE = 100_000;
/** Characters after which a list of completions opens by itself. */
const OPENS = /[\w$.]$/;

/** Requests something about a place of a text; rejects if the worker has no answer. */
export interface Knows {
    complete(source: string, at: number): Promise<readonly Choice[]>;
    hover(source: string, at: number): Promise<Hover | null>;
}

/** How well a completion fits the typed text: from its start, inside it, or not at all. */
function rank(choice: Choice, typed: string): number {
    if (typed === "") return 0;
    const found = Math.min(...[choice.filter, choice.label].map((text) => text.toLowerCase().indexOf(typed)).map((at) => (at < 0 ? Infinity : at)));
    return found === 0 ? 0 : found === Infinity ? Infinity : 1;
}

const TYPES: Record<Choice["kind"], string> = { word: "keyword", tool: "function", argument: "property", field: "property", slot: "variable", type: "type" };

function option(choice: Choice): Completion {
    const { also } = choice;
    return {
        label: choice.label,
        type: TYPES[choice.kind],
        detail: choice.detail === choice.label ? "" : choice.detail,
        ...(choice.about === "" ? {} : { info: choice.about }),
        apply(view, _, from, to) {
            // Text that was typed since the list was made is replaced too.
            const end = Math.max(to, choice.end);
            const changes = [{ from, to: end, insert: choice.text }, ...(also ? [{ from: also.start, to: also.end, insert: also.text }] : [])];
            const transaction = view.state.changes(changes);
            view.dispatch({ changes: transaction, selection: { anchor: transaction.mapPos(end, 1) }, userEvent: "input.complete" });
        },
    };
}

async function completions(knows: Knows, context: CompletionContext): Promise<CompletionResult | null> {
    const { state, pos, explicit } = context;
    if (!explicit && (state.doc.length > LARGE || !OPENS.test(state.sliceDoc(Math.max(pos - 1, 0), pos)))) return null;
    const all = await knows.complete(state.doc.toString(), pos).catch(() => []);
    const from = all[0]?.start;
    if (from === undefined || context.aborted) return null;
    const typed = state.sliceDoc(from, pos).toLowerCase();
    const fitting = all.filter((choice) => choice.start === from).map((choice) => ({ choice, rank: rank(choice, typed) }));
    const options = fitting
        .filter((one) => one.rank !== Infinity)
        .sort((a, b) => a.rank - b.rank)
        .map((one) => option(one.choice));
    // A completion that is there already does not help.
    const only = options.length === 1 && fitting.some(({ choice, rank }) => rank === 0 && choice.text.toLowerCase() === typed);
    return options.length === 0 || (only && !explicit) ? null : { from, options, filter: false };
}

/** Renders Markdown, of which only fences, paragraphs and code are supported. Nothing in it becomes a tag. */
function rendered(text: string): HTMLElement {
    const made = document.createElement("div");
    made.className = "cm-about";
    text.split(/^```.*$/m).forEach((part, at) => {
        if (at % 2 === 1) {
            const pre = document.createElement("pre");
            setText(pre, part.trim());
            made.append(pre);
            return;
        }
        for (const paragraph of part.trim().split(/\n{2,}/).filter((one) => one !== "")) {
            const shown = document.createElement("p");
            paragraph.split("`").forEach((piece, number) => {
                const inline = document.createElement(number % 2 === 1 ? "code" : "span");
                setText(inline, piece);
                shown.append(inline);
            });
            made.append(shown);
        }
    });
    return made;
}

async function about(knows: Knows, state: EditorState, at: number): Promise<Tooltip | null> {
    const found = await knows.hover(state.doc.toString(), at).catch(() => null);
    if (found === null || found.end > state.doc.length) return null;
    return { pos: found.start, end: found.end, above: true, create: () => ({ dom: rendered(found.text) }) };
}

const tell = StateEffect.define<Tooltip | null>();

/** A hover text that was requested by the keyboard. It disappears when the text or the cursor changes. */
const told = StateField.define<Tooltip | null>({
    create: () => null,
    update(shown, transaction) {
        for (const effect of transaction.effects) if (effect.is(tell)) return effect.value;
        return transaction.docChanged || transaction.selection ? null : shown;
    },
    provide: (field) => showTooltip.from(field),
});

/**
 * Completions and hover texts for an editor. `none` is called if the keyboard requests a word without a hover text.
 */
export function assistance(knows: Knows, none: () => void): Extension {
    const ask: Command = (view) => {
        const { state } = view;
        void about(knows, state, state.selection.main.head).then((tooltip) => {
            if (view.state.doc !== state.doc) return;
            if (tooltip === null) none();
            view.dispatch({ effects: tell.of(tooltip) });
        });
        return true;
    };
    const close: Command = (view) => {
        if (view.state.field(told) === null) return false;
        view.dispatch({ effects: tell.of(null) });
        return true;
    };
    return [
        autocompletion({ override: [(context) => completions(knows, context)], icons: false, maxRenderedOptions: 60 }),
        hoverTooltip((view, at) => about(knows, view.state, at), { hoverTime: 250 }),
        told,
        Prec.high(
            keymap.of([
                { key: "Mod-i", run: ask },
                { key: "Escape", run: close },
            ]),
        ),
    ];
}
