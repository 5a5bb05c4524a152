// Text editors: the program with its diagnostics, JSON, and read-only text.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { type Diagnostic as Mark, lintGutter, linter, nextDiagnostic, previousDiagnostic, setDiagnostics } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import type { Diagnostic, Edit, Notation } from "./core.js";
import { colours, language } from "./languages.js";
import { wrapping } from "./wrapping.js";

/** The most characters in an editor: twice the limit on a source. */
export const MOST_TEXT = 2 << 20;
/** From this number of characters on, an editor neither colours nor wraps, so that typing stays fast. */
const LARGE = 256 << 10;
/** The most squiggles at once. */
const MOST_MARKS = 500;

type Language = Notation | "json" | "listing" | null;

/** An editor. */
export class Editor {
    readonly view: EditorView;
    readonly #language = new Compartment();
    readonly #wrapping = new Compartment();
    #shown: Language | "large" = null;

    constructor(
        parent: HTMLElement,
        options: { label: string; language?: Language; readOnly?: boolean; onChange?: () => void; onRefused?: () => void; more?: Extension },
    ) {
        this.#shown = options.language ?? null;
        const changed = EditorView.updateListener.of((update) => {
            if (update.docChanged) {
                this.#adapt(this.#shown === "large" ? (options.language ?? null) : this.#shown);
                options.onChange?.();
            }
        });
        const bounded = EditorState.changeFilter.of((transaction) => {
            const fits = transaction.newDoc.length <= MOST_TEXT;
            if (!fits) options.onRefused?.();
            return fits;
        });
        // Pasted or dropped text is measured before it is split into lines.
        const transfer = (data: DataTransfer | null): boolean => {
            const fits = (data?.getData("text/plain").length ?? 0) <= MOST_TEXT;
            if (!fits) options.onRefused?.();
            return !fits;
        };
        const measured = EditorView.domEventHandlers({
            paste: (event) => transfer(event.clipboardData),
            drop: (event) => transfer(event.dataTransfer),
        });
        this.view = new EditorView({
            parent,
            state: EditorState.create({
                extensions: [
                    options.more ?? [],
                    options.readOnly ? [EditorState.readOnly.of(true)] : [history(), highlightActiveLine(), highlightActiveLineGutter(), indentOnInput(), bounded, measured],
                    lineNumbers(),
                    highlightSpecialChars(),
                    bracketMatching(),
                    indentUnit.of("  "),
                    search(),
                    keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]),
                    this.#language.of(language(this.#shown)),
                    this.#wrapping.of(wrapping),
                    colours,
                    EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false", autocorrect: "off", autocapitalize: "off" }),
                    changed,
                ],
            }),
        });
    }

    get text(): string {
        return this.view.state.doc.toString();
    }

    get document(): Text {
        return this.view.state.doc;
    }

    /** Replaces the text. Only the differing part is changed, so that the cursor and the view stay. */
    set text(text: string) {
        const old = this.text;
        if (old === text) return;
        let from = 0;
        const shorter = Math.min(old.length, text.length);
        while (from < shorter && old.charCodeAt(from) === text.charCodeAt(from)) from++;
        let tail = 0;
        while (tail < shorter - from && old.charCodeAt(old.length - 1 - tail) === text.charCodeAt(text.length - 1 - tail)) tail++;
        this.view.dispatch({ changes: { from, to: old.length - tail, insert: text.slice(from, text.length - tail) } });
    }

    /** Colours the text as this language. */
    set language(wanted: Language) {
        this.#adapt(wanted);
    }

    #adapt(wanted: Language | "large"): void {
        const large = this.view.state.doc.length > LARGE;
        const shown = large ? "large" : wanted;
        if (shown === this.#shown) return;
        this.#shown = shown;
        const effects = [
            this.#language.reconfigure(shown === "large" ? [] : language(shown)),
            // A listing has columns.
            this.#wrapping.reconfigure(large || shown === "listing" ? [] : wrapping),
        ];
        // A view must not be changed while it updates.
        queueMicrotask(() => this.view.dispatch({ effects }));
    }

    /** Moves the cursor to an offset. */
    goTo(offset: number, focus = true): void {
        const at = Math.min(Math.max(offset, 0), this.view.state.doc.length);
        this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
        if (focus) this.view.focus();
    }

    /** Applies the edits of a fix, which do not overlap. */
    apply(edits: readonly Edit[]): void {
        const end = this.view.state.doc.length;
        const changes = edits.filter((edit) => edit.start <= edit.end && edit.end <= end).map((edit) => ({ from: edit.start, to: edit.end, insert: edit.text }));
        this.view.dispatch({ changes, userEvent: "input.fix", scrollIntoView: true });
    }
}

const markLine = StateEffect.define<number | null>();

/** The line where a run waits. */
const waitingLine = StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update(marks, transaction) {
        let now = transaction.docChanged ? Decoration.none : marks;
        for (const effect of transaction.effects) {
            if (!effect.is(markLine)) continue;
            const line = effect.value;
            const there = line !== null && line >= 1 && line <= transaction.state.doc.lines;
            now = there ? Decoration.set(Decoration.line({ class: "cm-waiting" }).range(transaction.state.doc.line(line).from)) : Decoration.none;
        }
        return now;
    },
    provide: (field) => EditorView.decorations.from(field),
});

/** Marks the line where a run waits, or none. */
export function showWaiting(editor: Editor, line: number | null): void {
    const { doc } = editor.view.state;
    const there = line !== null && line >= 1 && line <= doc.lines;
    editor.view.dispatch({
        effects: [markLine.of(line), ...(there ? [EditorView.scrollIntoView(doc.line(line).from, { y: "center" })] : [])],
    });
}

/** The options of the program's editor. */
export function programExtensions(keys: Extension): Extension {
    return [
        keys,
        linter(null),
        lintGutter(),
        waitingLine,
        keymap.of([
            { key: "F8", run: nextDiagnostic },
            { key: "Shift-F8", run: previousDiagnostic },
        ]),
    ];
}

/** Shows diagnostics in the program's editor. */
export function showDiagnostics(editor: Editor, diagnostics: readonly Diagnostic[], fix: (diagnostic: Diagnostic) => void): void {
    const end = editor.view.state.doc.length;
    const marks = diagnostics.slice(0, MOST_MARKS).map((found): Mark => {
        const from = Math.min(found.start, end);
        return {
            from,
            to: Math.min(Math.max(found.end, from), end),
            severity: found.severity,
            source: found.code,
            message: found.help ? `${found.message}\n${found.help}` : found.message,
            actions: found.fix ? [{ name: found.fix.title, apply: () => fix(found) }] : [],
        };
    });
    editor.view.dispatch(setDiagnostics(editor.view.state, marks));
}
