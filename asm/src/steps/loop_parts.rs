//! Reads what may be beside `for`: `index`, the position of the element, and `where`, which leaves elements
//! out.
//!
//! Both are written out: the position is a variable that each pass adds 1 to, and the pass is the branch of
//! an IF.

use super::reader::{StepReader, literal, of_slot};
use super::step::Step;
use crate::ast::{Binary, Block, Bound, Expr, If, Literal, Name, Slot, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::dialect::Key;
use crate::document::{Entry, Kind, Node, entries, inner};
use crate::span::Span;
use crate::text::is_name;
use ilo_spec::error::Code;
use ilo_spec::program::Number;

/// Names of positions in other languages, which `for: "i, x"` may begin with.
const POSITIONS: [&str; 5] = ["i", "idx", "index", "n", "pos"];

/// What a loop names, and its list.
pub(crate) struct Element<'d, 'a> {
    pub(crate) variable: &'d Node<'a>,
    pub(crate) list: Option<&'d Node<'a>>,
    /// The name of the position.
    index: Option<Name<'a>>,
}

/// A loop whose parts have been read so far.
#[derive(Clone, Copy)]
pub(crate) struct LoopParts<'a> {
    index: Option<(Slot, Span)>,
    /// The condition, with what comes before it.
    condition: Option<(Block<'a>, Expr<'a>)>,
}

impl<'a> StepReader<'_, 'a> {
    /// The names of a loop: `index` beside it, or two names in one text.
    pub(crate) fn element<'d>(&mut self, step: &Step<'d, 'a>, variable: &'d Node<'a>) -> Element<'d, 'a> {
        let list = step.get(Key::In);
        let index = step.get(Key::Index).and_then(|node| self.written_name(node));
        let Some((first, second)) = variable.text().and_then(|text| text.split_once(',')) else {
            return Element { variable, list, index };
        };
        let (first, second) = (first.trim(), second.trim());
        if !(is_name(first) && is_name(second)) || index.is_some() {
            return Element { variable, list, index };
        }
        let inside = list.and_then(|list| self.enumerated(list));
        let named = POSITIONS.contains(&first) && !POSITIONS.contains(&second);
        if inside.is_none() && !named {
            let list = list.and_then(|list| self.source.get(list.span.range())).unwrap_or("");
            let other = if list.contains("group") { "items" } else { "value" };
            let (position, item) =
                if POSITIONS.contains(&second) { (second, first) } else { (first, second) };
            let help = if other == "items" || ["entries", "items()"].iter().any(|of| list.contains(of)) {
                format!(
                    "write one name, such as `g`: then `g.key` is `{first}`, and `g.{other}` is `{second}`"
                )
            } else {
                format!(
                    "write `{item}` here and `index` with `{position}` beside it for the position, or read the \
                     parts of the element as its items"
                )
            };
            let wrong = Diagnostic::new(Code::BadShape, variable.span, "a loop has one name for its element");
            self.report(wrong.expected("one name", "two names").help(help));
        }
        let name = Node::of_text(second, variable.span);
        let index = Some(Name { text: first, span: inner(variable) });
        Element { variable: self.arena.alloc(name), list: inside.or(list), index }
    }

    /// The list of which another language lists positions and elements: `enumerate(E)`.
    fn enumerated<'d>(&self, list: &'d Node<'a>) -> Option<&'d Node<'a>> {
        if let [Entry { key, value }] = entries(list) {
            return (key.text() == Some("enumerate")).then_some(match &value.kind {
                Kind::List([only]) => only,
                _ => value,
            });
        }
        let text = list.text()?.trim();
        let text = text.strip_prefix("${").and_then(|text| text.strip_suffix('}')).unwrap_or(text);
        let inside = text.trim().strip_prefix("enumerate(")?.strip_suffix(')')?.trim();
        let text = if inside.starts_with('$') || self.dialect.is_bare() {
            inside
        } else {
            self.arena.alloc_str(&format!("${{{inside}}}"))
        };
        Some(self.arena.alloc(Node::of_text(text, list.span)))
    }

    /// Binds the position before the loop, and reads the condition in its scope.
    pub(crate) fn loop_parts(&mut self, step: &Step<'_, 'a>, element: &Element<'_, 'a>) -> LoopParts<'a> {
        let index = element.index.map(|name| {
            let slot = self.bind(name);
            let value = Bound::Expr(number(-1, name.span));
            self.push(StmtKind::Let { slot, slot_span: name.span, value }, name.span);
            (slot, name.span)
        });
        let condition = step.get(Key::Where).map(|node| self.apart(|this| this.condition(node)));
        LoopParts { index, condition }
    }

    /// The body of a loop with its parts.
    pub(crate) fn with_parts(&mut self, parts: LoopParts<'a>, body: Block<'a>, at: Span) -> Block<'a> {
        if parts.index.is_none() && parts.condition.is_none() {
            return body;
        }
        self.block(|this| {
            if let Some((slot, span)) = parts.index {
                let next = this.binary(Binary::Add, of_slot(slot, span), number(1, span), span);
                this.push(StmtKind::Let { slot, slot_span: span, value: Bound::Expr(next) }, span);
            }
            match parts.condition {
                Some((before, condition)) => {
                    this.statements.extend_from_slice(before.statements);
                    let node = If { condition, then: body, otherwise: None, span: at };
                    this.push_if(node, at);
                }
                None => this.statements.extend_from_slice(body.statements),
            }
        })
    }
}

fn number<'a>(value: i64, span: Span) -> Expr<'a> {
    literal(Literal::Number(Number::Int(value)), span)
}
