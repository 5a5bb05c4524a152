// Wrapped lines of an editor: what does not fit goes on below the first character of its line.

import { type Extension, RangeSetBuilder } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";

/** What a line begins with: blanks, and the hyphens of lists in YAML. */
const INDENT = /^[\t ]*(?:- +)*/;
/** Columns of a tab. */
const TAB = 4;

function columns(line: string): number {
    return [...(INDENT.exec(line.slice(0, 400))?.[0] ?? "")].reduce((at, one) => (one === "\t" ? at + TAB - (at % TAB) : at + 1), 0);
}

/** The indents of the visible lines. A narrow editor keeps half of its width for text. */
function indents(view: EditorView): DecorationSet {
    const most = Math.floor(view.contentDOM.clientWidth / view.defaultCharacterWidth / 2);
    const builder = new RangeSetBuilder<Decoration>();
    for (const { from, to } of view.visibleRanges) {
        for (let at = from; at <= to; ) {
            const line = view.state.doc.lineAt(at);
            const indent = Math.min(columns(line.text), most);
            if (indent > 0) builder.add(line.from, line.from, Decoration.line({ attributes: { class: "cm-indented", style: `--indent: ${indent}` } }));
            at = line.to + 1;
        }
    }
    return builder.finish();
}

const indented = ViewPlugin.fromClass(
    class {
        decorations: DecorationSet;
        constructor(view: EditorView) {
            this.decorations = indents(view);
        }
        update(update: ViewUpdate): void {
            if (update.docChanged || update.viewportChanged || update.geometryChanged) this.decorations = indents(update.view);
        }
    },
    { decorations: (plugin) => plugin.decorations },
);

/** Wraps lines with their indent. */
export const wrapping: Extension = [EditorView.lineWrapping, indented];
