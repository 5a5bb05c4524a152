// Colours for the notations: ID text by a tokenizer of its own, JSON and YAML by their parsers.

import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";
import type { Notation } from "./core.js";

/** ID text: comments, instructions in capitals, numbers, texts and words. */
const idText = StreamLanguage.define<null>({
    token(stream) {
        // The offset that begins a line of a listing.
        if (stream.sol() && stream.match(/^[0-9a-f]{6}(?= )/)) return "comment";
        if (stream.eatSpace()) return null;
        if (stream.eat(";")) {
            stream.skipToEnd();
            return "comment";
        }
        if (stream.eat('"')) {
            for (let next = stream.next(); next != null && next !== '"'; next = stream.next()) if (next === "\\") stream.next();
            return "string";
        }
        if (stream.match(/^-?\d+(\.\d+)?([eE][+-]?\d+)?(?![\w-])/)) return "number";
        if (stream.match(/^[A-Z][A-Z_]*(?![\w-])/)) return "keyword";
        if (stream.match(/^(true|false|nil)(?![\w-])/)) return "atom";
        if (!stream.match(/^[^\s;"]+/)) stream.next();
        return null;
    },
});

/** The language of a notation. */
export function language(notation: Notation | "json" | "listing" | null): Extension {
    if (notation === "id" || notation === "listing") return idText;
    if (notation === "workflow") return yaml();
    return notation === null ? [] : json();
}

/** Colours as variables of the style sheet, so that they follow the colour scheme. */
export const colours = syntaxHighlighting(
    HighlightStyle.define([
        { tag: [tags.comment], color: "var(--syntax-comment)", fontStyle: "italic" },
        { tag: [tags.keyword], color: "var(--syntax-keyword)", fontWeight: "600" },
        { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--syntax-name)" },
        { tag: [tags.string], color: "var(--syntax-string)" },
        { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--syntax-number)" },
        { tag: [tags.separator, tags.punctuation, tags.bracket], color: "var(--muted)" },
    ]),
);
