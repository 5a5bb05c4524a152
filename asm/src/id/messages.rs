//! Messages that several files of this module share.

use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::node::{Row, Shape, Word};
use ilo_spec::pure::Omitted;

/// What to write for an operator between its operands, or one written as a sign.
pub(crate) const PREFIX: &str = "an operator is a word before its operands, such as `ADD REF 0 REF 1`, `EQ REF 0 REF 1` or `CONCAT REF 0 REF 1`";

/// What to write for a path such as `user.name`.
pub(crate) const PATH: &str =
    "a field is read with `FIELD <slot> <field>`, by numbers; `; Fields:` gives it its number";

/// The syntax of an instruction.
pub(crate) fn syntax(row: &Row) -> String {
    let mut named = row.pure.map_or(&[][..], |function| function.row().operands).iter();
    let mut out = row.mnemonic.to_owned();
    for shape in row.operands {
        out.push(' ');
        if let Some(operand) = named.next() {
            out.extend(["<", operand.name, ">"]);
            continue;
        }
        out.push_str(match shape {
            Shape::Slot => "<slot>",
            Shape::Expr | Shape::Bound => "<value>",
            Shape::Literal => "<kind> <constant>",
            Shape::Path => "<slot or record>",
            Shape::Field => "<field>",
            Shape::FieldOrName => "<field or name>",
            Shape::Tool => "<tool>",
            Shape::Pairs => "<count> (<field> <value>)…",
            Shape::OpenPairs => "(<field> <value>)…",
            Shape::Exprs => "<count> <value>…",
            Shape::Cases => "<count> (<constant> <value>)… [ELSE <value>]",
            Shape::Block => "<count> <statements>",
            Shape::Arms => "<count> (ERR | OK)…",
            Shape::Otherwise => "[ELSE <count> <statements>]",
            Shape::Handler => "ERR <slot> <count> <statements>",
            Shape::Call => "CALL …",
        });
    }
    out
}

/// The syntax of an instruction and how values are written, for help.
pub(crate) fn form(word: Word) -> String {
    let operands = word.row().pure.map_or(&[][..], |function| function.row().operands);
    let form = syntax(word.row());
    let nil = operands.iter().find(|operand| operand.omitted == Omitted::Nil);
    let nil = nil.map_or(String::new(), |operand| format!("; `LIT 2 nil` is no {}", operand.name));
    let takes_values = !operands.is_empty() || form.contains("<value>");
    let values = if takes_values { ", with values such as `REF 0` or `LIT 1 5`" } else { "" };
    format!("`{form}`{values}{nil}")
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
