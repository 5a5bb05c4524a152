//! Writes the trees of expressions in one form: operators as words, with the fewest parentheses.

use crate::ast::Literal;
use crate::expr::parser::{BETWEEN, CHOICE, COMPARISON, NOT, SIGN};
use crate::expr::template::{Part, Template};
use crate::expr::tree::{Operand, Sign, Tree, TreeKind};
use crate::print::infix::quoted;
use crate::text::{is_name, quote};
use std::fmt::Write as _;

/// The canonical form of a tree.
pub(super) fn write(tree: &Tree<'_>) -> String {
    let mut writer = Writer { out: String::new() };
    writer.tree(tree, CHOICE);
    writer.out
}

struct Writer {
    out: String,
}

/// The word of an operator, and its precedence.
fn word_of(sign: Sign) -> (&'static str, u8) {
    let row = BETWEEN.iter().find(|(_, _, own)| *own == sign);
    row.map_or(("not in", COMPARISON), |&(word, closeness, _)| (word, closeness))
}

impl Writer {
    fn tree(&mut self, tree: &Tree<'_>, closeness: u8) {
        let own = closeness_of(tree);
        if own < closeness {
            self.out.push('(');
        }
        self.kind(tree);
        if own < closeness {
            self.out.push(')');
        }
    }

    fn kind(&mut self, tree: &Tree<'_>) {
        match tree.kind {
            TreeKind::Path(reference) => self.out.push_str(&reference.to_string()),
            TreeKind::Literal(literal) => self.literal(literal),
            TreeKind::Text(template) => self.text(&template),
            TreeKind::Not(of) => {
                self.out.push_str("not ");
                self.tree(of, NOT);
            }
            TreeKind::Minus(of) => {
                self.out.push('-');
                self.tree(of, SIGN);
            }
            TreeKind::Binary(sign, [a, b], _) => {
                let (word, own) = word_of(sign);
                // Comparisons do not chain, so neither operand of one may be another.
                self.tree(a, if own == COMPARISON { own + 1 } else { own });
                let _ = write!(self.out, " {word} ");
                self.tree(b, own + 1);
            }
            TreeKind::Between(signs, [low, middle, high]) => {
                self.tree(low, COMPARISON + 1);
                for (sign, value) in signs.into_iter().zip([middle, high]) {
                    let _ = write!(self.out, " {} ", word_of(Sign::Plain(sign)).0);
                    self.tree(value, COMPARISON + 1);
                }
            }
            TreeKind::Choice([test, then, otherwise]) => {
                self.tree(then, CHOICE + 1);
                self.out.push_str(" if ");
                self.tree(test, CHOICE + 1);
                self.out.push_str(" else ");
                self.tree(otherwise, CHOICE);
            }
            TreeKind::Default([of, otherwise]) => {
                self.tree(of, CHOICE + 2);
                self.out.push_str(" ?? ");
                self.tree(otherwise, CHOICE + 1);
            }
            TreeKind::Field(of, name, optional) => {
                self.tree(of, SIGN + 1);
                self.out.push_str(if optional { "?" } else { "" });
                self.field(name.text);
            }
            TreeKind::Item([of, index]) => {
                self.tree(of, SIGN + 1);
                self.out.push('[');
                self.tree(index, CHOICE);
                self.out.push(']');
            }
            TreeKind::Slice(of, ends) => {
                self.tree(of, SIGN + 1);
                for (mark, end) in ["[", ":"].into_iter().zip(ends) {
                    self.out.push_str(mark);
                    if let Some(end) = end {
                        self.tree(end, CHOICE);
                    }
                }
                self.out.push(']');
            }
            TreeKind::Call(name, operands) => self.call(name.text, operands),
            TreeKind::Method(of, name, operands) => {
                self.tree(of, SIGN + 1);
                self.out.push('.');
                self.call(name.text, operands);
            }
            TreeKind::Lambda(name, value) => {
                let _ = write!(self.out, "{} => ", name.text);
                self.tree(value, CHOICE);
            }
            TreeKind::List(items) => {
                self.out.push('[');
                self.all(items.iter());
                self.out.push(']');
            }
            TreeKind::Record(fields) => {
                self.out.push('{');
                for (number, (name, value)) in fields.iter().enumerate() {
                    self.out.push_str(if number > 0 { ", " } else { "" });
                    if is_name(name.text) {
                        self.out.push_str(name.text);
                    } else {
                        quoted(name.text, &mut self.out);
                    }
                    self.out.push_str(": ");
                    self.tree(value, CHOICE);
                }
                self.out.push('}');
            }
            TreeKind::Each(each) => {
                self.out.push('[');
                self.tree(&each.value, CHOICE);
                let _ = write!(self.out, " for {} in ", each.item.text);
                self.tree(&each.list, CHOICE + 1);
                if let Some(condition) = &each.condition {
                    self.out.push_str(" if ");
                    self.tree(condition, CHOICE + 1);
                }
                self.out.push(']');
            }
        }
    }

    fn field(&mut self, name: &str) {
        if is_name(name) {
            let _ = write!(self.out, ".{name}");
        } else {
            self.out.push('[');
            quote(name, &mut self.out);
            self.out.push(']');
        }
    }

    fn call(&mut self, name: &str, operands: &[Operand<'_>]) {
        let _ = write!(self.out, "{name}(");
        for (number, operand) in operands.iter().enumerate() {
            self.out.push_str(if number > 0 { ", " } else { "" });
            if let Some(name) = operand.name {
                let _ = write!(self.out, "{}=", name.text);
            }
            self.tree(&operand.value, CHOICE);
        }
        self.out.push(')');
    }

    fn all<'t>(&mut self, items: impl Iterator<Item = &'t Tree<'t>>) {
        for (number, item) in items.enumerate() {
            self.out.push_str(if number > 0 { ", " } else { "" });
            self.tree(item, CHOICE);
        }
    }

    fn literal(&mut self, literal: Literal<'_>) {
        match literal {
            Literal::Nil => self.out.push_str("null"),
            Literal::Bool(value) => self.out.push_str(if value { "true" } else { "false" }),
            Literal::Number(number) => {
                let _ = write!(self.out, "{number}");
            }
            Literal::Text(text) => quoted(&text.replace('$', "$$"), &mut self.out),
        }
    }

    fn text(&mut self, template: &Template<'_>) {
        let mut text = String::new();
        for part in template.parts {
            match part {
                Part::Text(plain, _) => text.push_str(&plain.replace('$', "$$")),
                Part::Bad(_) => {}
                Part::Reference(_) | Part::Value(_) => {
                    if let Some(tree) = part.tree() {
                        let _ = write!(text, "${{{}}}", write(&tree));
                    }
                }
            }
        }
        quoted(&text, &mut self.out);
    }
}

/// The precedence of what a tree is written with; the highest for what needs no parentheses.
fn closeness_of(tree: &Tree<'_>) -> u8 {
    match tree.kind {
        TreeKind::Choice(_) | TreeKind::Lambda(..) => CHOICE,
        TreeKind::Default(_) => CHOICE + 1,
        TreeKind::Not(_) => NOT,
        TreeKind::Minus(_) => SIGN,
        TreeKind::Between(..) => COMPARISON,
        TreeKind::Binary(sign, ..) => word_of(sign).1,
        _ => SIGN + 1,
    }
}
