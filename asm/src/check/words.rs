//! What checking says, in the words of the notation that it speaks about.
//!
//! Messages are written in the words of instruction text, where there is one word for each thing. Who wrote a document
//! has never seen those, so [`speak`] puts the document's own in their place, as a last step and in one place.

use crate::diagnostic::Diagnostic;
use crate::notation::Notation;

/// Phrases of instruction text and what they are called in documents; a phrase before its parts.
const PHRASES: &[(&str, &str)] = &[
    ("its OK arm runs", "the rest runs"),
    ("its ERR arm runs", "its handler runs"),
    ("this MATCH has no OK arm", "nothing gives one"),
    ("a MATCH has taken its result out", "its call failed"),
    (
        "bind it in the ERR arm where another value stands in for it",
        "another value stands in for it by `value` in a handler beside the `call` itself, or by `let` on the `match` \
         with `then`",
    ),
    ("taken apart by this MATCH; its OK arm binds the value", "this is the call"),
    ("a call's result that a MATCH takes apart", "what a call gave, before its handler"),
    ("when this arm runs", "on this way"),
    ("and RET_ERR follows", "and a failure is returned behind it"),
    ("UNDO before the call", "`compensate`"),
    ("UNDO says that it is one", "`compensate` beside the return says that it is one"),
    ("RET_OK or an expression", "a return, or with a step that has a value"),
    ("RET or an expression", "a return, or with a step that has a value"),
    (
        "end every path with an expression, or bind the slot inside the branches",
        "end every path with a value",
    ),
    ("end its body with the value that a pass yields", "make its last step the value that a pass yields"),
    ("a slot that every path here has set", "a name that every path here has bound"),
    ("bind the same slots again", "bind the same names again"),
    ("slots and temporaries", "names and values"),
    ("this statement", "this step"),
    ("FIELD reads a record", "a field is read of a record"),
    ("MERGE takes a record", "a merge takes a record"),
    ("IF", "`if`"),
    ("ELSE", "`else`"),
    ("FOR", "`for`"),
    ("MATCH", "handler"),
    ("NOT", "`not`"),
    ("AND", "`and`"),
    ("OR", "`or`"),
    ("HAS", "`has`"),
    ("LEN", "`len`"),
    ("AT", "`at`"),
    ("APPEND", "`append`"),
];

/// Puts the notation's own words into a diagnostic.
pub(super) fn speak(diagnostic: &mut Diagnostic, notation: Notation) {
    if notation == Notation::Id {
        return;
    }
    let Diagnostic { message, expected, found, help, related, .. } = diagnostic;
    let parts = core::iter::once(message).chain(expected).chain(found).chain(help);
    for text in parts.chain(related.iter_mut().map(|(_, what)| what)) {
        *text = spoken(text);
    }
}

/// A text in the words of documents; what stands in backticks is the program's own and stays.
fn spoken(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, part) in text.split('`').enumerate() {
        if at > 0 {
            out.push('`');
        }
        if at % 2 == 0 { plain(part, &mut out) } else { out.push_str(part) }
    }
    out
}

fn plain(mut text: &str, out: &mut String) {
    while let Some(first) = text.chars().next() {
        let inside = out.chars().next_back().is_some_and(char::is_alphanumeric);
        let whole = |phrase: &str| {
            let after = text.strip_prefix(phrase)?;
            let ends = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            (ends && !inside).then_some(after)
        };
        let found = PHRASES.iter().find_map(|(phrase, spoken)| whole(phrase).map(|after| (spoken, after)));
        if let Some((spoken, after)) = found {
            out.push_str(spoken);
            text = after;
        } else {
            out.push(first);
            text = text.get(first.len_utf8()..).unwrap_or("");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::spoken;

    #[test]
    fn words_are_put_in_place_and_names_stay() {
        let cases = [
            ("IF takes a bool or nil", "`if` takes a bool or nil"),
            ("it is not set when the ELSE of an IF runs", "it is not set when the `else` of an `if` runs"),
            ("`IF` is a name, FORM and a LATE word too", "`IF` is a name, FORM and a LATE word too"),
            ("FIELD reads a record", "a field is read of a record"),
        ];
        for (id, document) in cases {
            assert_eq!(spoken(id), document);
        }
    }
}
