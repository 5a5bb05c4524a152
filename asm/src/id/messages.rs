//! Messages that several files of this module share.

use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::node::Word;

/// What to write for an operator between its operands, or one written as a sign.
pub(crate) const PREFIX: &str = "an operator is a word before its operands, such as `ADD REF 0 REF 1`, `EQ REF 0 REF 1` or `CONCAT REF 0 REF 1`";

/// What to write for a path such as `user.name`.
pub(crate) const PATH: &str =
    "a field is read with `FIELD <slot> <field>`, by numbers; `; Fields:` gives it its number";

/// The syntax of an instruction, for help.
pub(crate) fn form(word: Word) -> &'static str {
    match word {
        Word::Call => "`CALL <tool> <count> <field> <value> …`, such as `CALL 0 1 0 REF 0`",
        Word::Obj => "`OBJ <count> <field> <value> …`",
        Word::List => "`LIST <count> <value> …`",
        Word::MatchMap => "`MATCH_MAP <value> <count> <key> <value> …`",
        Word::If => "`IF <condition> <count>` and the statements",
        Word::Else => "`ELSE <count>` and the statements",
        Word::For => "`FOR <slot> <list> <count>` and the statements",
        Word::Yield => "`YIELD <value>`",
        Word::Match => "`MATCH <slot> <count>` and the arms",
        Word::Err => "`ERR <slot> <count>` and the statements",
        Word::Try => "`TRY <count>` and the statements, then `ERR <slot> <count>` and the statements",
        Word::Ok => "`OK <slot> <count>` and the statements",
        Word::Let => "`LET <slot> <value>`",
        Word::Ref => "`REF <slot>`",
        Word::Field => "`FIELD <slot> <field>`",
        Word::Has => "`HAS <record> <field>`",
        Word::Merge => "`MERGE <record> <field> <value> …`",
        Word::At => "`AT <list> <index>`",
        Word::Append => "`APPEND <list> <item>`",
        Word::Get => "`GET <record> <key> <default>`",
        Word::Put => "`PUT <record> <name> <value>`",
        Word::Join => "`JOIN <list> <separator>`",
        Word::Split => "`SPLIT <text> <separator>`",
        Word::Replace => "`REPLACE <text> <old> <new>`",
        Word::Slice => "`SLICE <value> <from> <to>`, with `LIT 2 nil` for the end",
        Word::Sort => "`SORT <list> <field>`, with `LIT 2 nil` to sort by the items themselves",
        Word::Round => "`ROUND <number> <places>`",
        Word::Fixed => "`FIXED <number> <places>`",
        _ => "an instruction and its operands, such as `ADD REF 0 LIT 1 5`",
    }
}

/// The diagnostic of an impossible count: a file of `most` words cannot have more.
pub(crate) fn count_range(span: Span, found: &str, most: usize) -> Diagnostic {
    let shown = shorten(found);
    Diagnostic::new(Code::CountRange, span, format!("`{shown}` is not a possible count"))
        .expected(format!("a count from 0 to {most}, the number of words in this file"), format!("`{shown}`"))
        .help("write how many really follow")
}

/// An indent in words.
pub(crate) fn blanks(indent: &str) -> String {
    let tabs = indent.bytes().filter(|&byte| byte == b'\t').count();
    match (tabs, indent.len() - tabs) {
        (0, blanks) => format!("{blanks} blanks"),
        (tabs, 0) => format!("{tabs} tabs"),
        (tabs, blanks) => format!("{tabs} tabs and {blanks} blanks"),
    }
}
