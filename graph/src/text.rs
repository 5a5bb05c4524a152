//! Expressions as short readable text: infix, one line, cut at a length.
//!
//! Names and texts come from outside. Characters that are not visible or change others (controls, direction
//! marks, invisible characters) are written as escapes, so that no format has to handle them. Each format
//! escapes its own markup.

use ilo_asm::ast::{Binary, Expr, ExprKind, Field, Literal, Slot, Unary};
use std::fmt::Write;

/// Columns in a line of a node. Longer lines would make nodes wider than their neighbours.
pub(super) const LINE: usize = 44;
/// Columns of the whole text of a node, which is shown under the pointer.
pub(super) const ABOUT: usize = 800;

/// A line that is being written, with a limited width: wide characters take two of its columns.
#[derive(Debug)]
pub(super) struct Line {
    out: String,
    room: usize,
    full: bool,
}

impl Line {
    pub(super) fn new(room: usize) -> Line {
        Line { out: String::new(), room, full: false }
    }

    /// Appends text in visible form. Beyond the width, only `…` is added.
    pub(super) fn push(&mut self, text: &str) {
        for c in text.chars() {
            if self.full {
                return;
            }
            let mut escape = String::new();
            if hidden(c) {
                let _ = write!(escape, "{}", c.escape_default());
            } else {
                escape.push(c);
            }
            let cells = columns(&escape);
            // One column is kept for the mark of the cut.
            if cells >= self.room {
                self.out.push('…');
                self.full = true;
                return;
            }
            self.room -= cells;
            self.out.push_str(&escape);
        }
    }

    pub(super) fn done(self) -> String {
        self.out
    }
}

/// Whether a character is not visible, or could change how others are shown.
fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}')
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
        || matches!(c, '\u{ffa0}' | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..='\u{10ffff}')
}

/// The number of columns that a text takes in a fixed-width font, rather too large than too small.
pub fn columns(text: &str) -> usize {
    let wide = |c: char| c >= '\u{1100}' && !('\u{1e00}'..'\u{2e80}').contains(&c);
    text.chars().map(|c| if wide(c) { 2 } else { 1 }).sum()
}

/// A name or text in visible form, cut to this number of columns.
pub fn clean(text: &str, room: usize) -> String {
    let mut line = Line::new(room);
    line.push(text);
    line.done()
}

/// The names of a function's slots.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// By slot.
    pub(super) slots: Vec<String>,
}

impl Names {
    pub(super) fn slot(&self, slot: Slot) -> &str {
        self.slots.get(slot.0 as usize).map_or("?", String::as_str)
    }

    /// An expression, cut to a width.
    pub(super) fn text(&self, expr: &Expr<'_>, room: usize) -> String {
        let mut line = Line::new(room);
        self.expr(&mut line, expr, 0);
        line.done()
    }

    /// Appends an operand of an operator with precedence `outer`.
    pub(super) fn expr(&self, line: &mut Line, expr: &Expr<'_>, outer: u8) {
        if line.full {
            return;
        }
        match expr.kind {
            ExprKind::Ref(slot) => line.push(self.slot(slot)),
            ExprKind::Literal(value) => literal(line, value),
            ExprKind::Field(record, name) => {
                self.expr(line, record, ATOM);
                line.push(".");
                line.push(name.text);
            }
            ExprKind::Call(call) => {
                line.push(call.tool.text);
                line.push(if call.arguments.is_empty() { "()" } else { "(…)" });
            }
            ExprKind::Unary(Unary::Not, operand) => {
                grouped(line, NOT, outer, |line| {
                    line.push("not ");
                    self.expr(line, operand, NOT);
                });
            }
            ExprKind::Unary(Unary::Len, operand) => self.applied(line, "len", &[operand]),
            ExprKind::Binary(Binary::Concat, a, b) => {
                line.push("\"");
                self.template(line, a);
                self.template(line, b);
                line.push("\"");
            }
            ExprKind::Binary(Binary::Append, a, b) => self.applied(line, "append", &[a, b]),
            ExprKind::Binary(Binary::At, list, index) => {
                self.expr(line, list, ATOM);
                line.push("[");
                self.expr(line, index, 0);
                line.push("]");
            }
            ExprKind::Binary(operator, a, b) => {
                let (sign, strength) = infix(operator);
                grouped(line, strength, outer, |line| {
                    self.expr(line, a, strength);
                    line.push(sign);
                    // The second operand of a chain such as a - (b - c) needs its brackets.
                    self.expr(line, b, strength + 1);
                });
            }
            ExprKind::Has(record, name) => {
                grouped(line, COMPARE, outer, |line| {
                    self.expr(line, record, ATOM);
                    line.push(" has ");
                    line.push(name.text);
                });
            }
            ExprKind::MatchMap(map) => {
                line.push("match(");
                self.expr(line, &map.subject, 0);
                line.push(")");
            }
            ExprKind::Record(fields) => {
                line.push("{");
                self.fields(line, fields, true);
                line.push("}");
            }
            ExprKind::Merge(base, fields) => {
                line.push("{…");
                self.expr(line, base, ATOM);
                self.fields(line, fields, false);
                line.push("}");
            }
            ExprKind::Apply(apply) => {
                let operands: Vec<&Expr<'_>> = apply.operands.iter().collect();
                self.applied(line, &apply.function.row().name.to_lowercase(), &operands);
            }
            ExprKind::Bad => line.push("?"),
            ExprKind::Template(parts) => {
                line.push("\"");
                parts.iter().for_each(|part| self.template(line, part));
                line.push("\"");
            }
            ExprKind::List(items) => {
                line.push("[");
                for (at, item) in items.iter().enumerate() {
                    if line.full {
                        break;
                    }
                    line.push(if at == 0 { "" } else { ", " });
                    self.expr(line, item, 0);
                }
                line.push("]");
            }
        }
    }

    fn applied(&self, line: &mut Line, name: &str, operands: &[&Expr<'_>]) {
        line.push(name);
        for (at, operand) in operands.iter().enumerate() {
            line.push(if at == 0 { "(" } else { ", " });
            self.expr(line, operand, 0);
        }
        line.push(")");
    }

    /// A part of a text template.
    fn template(&self, line: &mut Line, expr: &Expr<'_>) {
        match expr.kind {
            _ if line.full => {}
            ExprKind::Literal(Literal::Text(text)) => line.push(text),
            ExprKind::Binary(Binary::Concat, a, b) => {
                self.template(line, a);
                self.template(line, b);
            }
            _ => {
                line.push("${");
                self.expr(line, expr, 0);
                line.push("}");
            }
        }
    }

    fn fields(&self, line: &mut Line, fields: &[Field<'_>], first: bool) {
        for (at, field) in fields.iter().enumerate() {
            if line.full {
                return;
            }
            line.push(if first && at == 0 { "" } else { ", " });
            line.push(field.name.text);
            line.push(": ");
            self.expr(line, &field.value, 0);
        }
    }

    /// The name under which a value is read: the slot's name, or the path from it. `None` for any other
    /// expression.
    pub(super) fn path(&self, expr: &Expr<'_>) -> Option<(Slot, String)> {
        let mut inner = expr;
        while let ExprKind::Field(record, _) = inner.kind {
            inner = record;
        }
        match inner.kind {
            ExprKind::Ref(slot) => Some((slot, self.text(expr, LINE))),
            _ => None,
        }
    }
}

/// Writes an operation, in brackets if its precedence is lower than that of its surroundings.
fn grouped(line: &mut Line, strength: u8, outer: u8, inner: impl FnOnce(&mut Line)) {
    line.push(if strength < outer { "(" } else { "" });
    inner(line);
    line.push(if strength < outer { ")" } else { "" });
}

/// A constant in JSON.
pub(super) fn literal(line: &mut Line, value: Literal<'_>) {
    match value {
        Literal::Nil => line.push("nil"),
        Literal::Bool(value) => line.push(if value { "true" } else { "false" }),
        Literal::Number(number) => line.push(&number.to_string()),
        Literal::Text(text) => {
            line.push("\"");
            line.push(text);
            line.push("\"");
        }
    }
}

const NOT: u8 = 3;
const COMPARE: u8 = 4;
/// A precedence above that of every operator.
const ATOM: u8 = 8;

/// The sign of an infix operator, and its precedence.
fn infix(operator: Binary) -> (&'static str, u8) {
    match operator {
        Binary::Or => (" or ", 1),
        Binary::And => (" and ", 2),
        Binary::Eq => (" == ", COMPARE),
        Binary::Neq => (" != ", COMPARE),
        Binary::Gt => (" > ", COMPARE),
        Binary::Gte => (" >= ", COMPARE),
        Binary::Lt => (" < ", COMPARE),
        Binary::Lte => (" <= ", COMPARE),
        Binary::HasName => (" has ", COMPARE),
        Binary::Add => (" + ", 5),
        Binary::Sub => (" - ", 5),
        Binary::Mul => (" * ", 6),
        Binary::Div => (" / ", 6),
        Binary::Mod => (" % ", 6),
        Binary::Concat | Binary::Append | Binary::At => (", ", ATOM),
    }
}
