//! Prints the syntax tree as canonical integer-ID text.
//!
//! Slots keep their numbers in the tree; tools and fields are numbered by first use. A name that could be
//! misread in a registry is quoted. Reading the text gives the same tree.

use crate::ast::{
    Arm, Binary, Block, Bound, Call, Control, Expr, ExprKind, Field, File, Function, Literal, ReturnKind,
    Stmt, StmtKind,
};
use crate::syntax::header::{write_header, write_name};
use hashbrown::HashMap;
use ilo_spec::node::Word;
use std::fmt::{Display, Write};

/// Prints all functions of a file.
pub fn print(file: &File<'_>) -> String {
    let mut out = String::new();
    for (number, function) in file.functions.iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let mut body =
            BodyWriter { out: String::new(), depth: 0, tools: Names::default(), fields: Names::default() };
        body.block(&function.body);
        header(function, &body, &mut out);
        out.push_str(&body.out);
    }
    out
}

/// Names numbered by first use.
#[derive(Default)]
struct Names<'a> {
    numbers: HashMap<&'a str, usize>,
    order: Vec<&'a str>,
}

impl<'a> Names<'a> {
    fn number(&mut self, name: &'a str) -> usize {
        let next = self.order.len();
        let number = *self.numbers.entry(name).or_insert(next);
        if number == next {
            self.order.push(name);
        }
        number
    }
}

fn header(function: &Function<'_>, body: &BodyWriter<'_>, out: &mut String) {
    write_header(&function.name, function.parameters, &function.output, out);
    out.push('\n');
    let slots = function.slots.iter().enumerate().filter_map(|(number, slot)| Some((number, slot.name?)));
    registry("Vars", slots, out);
    registry("Tools", body.tools.order.iter().copied().enumerate(), out);
    registry("Fields", body.fields.order.iter().copied().enumerate(), out);
}

/// Writes a registry, if it has entries.
pub fn registry<'n, N: Display>(title: &str, entries: impl Iterator<Item = (N, &'n str)>, out: &mut String) {
    let mut entries = entries.peekable();
    if entries.peek().is_none() {
        return;
    }
    let _ = write!(out, "; {title}:");
    for (number, text) in entries {
        let _ = write!(out, " {number}=");
        write_name(text, out);
    }
    out.push('\n');
}

struct BodyWriter<'a> {
    out: String,
    depth: usize,
    tools: Names<'a>,
    fields: Names<'a>,
}

impl<'a> BodyWriter<'a> {
    /// Begins a line with a mnemonic.
    fn line(&mut self, word: Word) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(word.mnemonic());
    }

    /// A line that is a mnemonic and its operand.
    fn line_of(&mut self, word: Word, operand: &Expr<'a>) {
        self.line(word);
        self.expr(operand);
    }

    fn word(&mut self, word: Word) {
        self.out.push(' ');
        self.out.push_str(word.mnemonic());
    }

    fn number(&mut self, number: impl std::fmt::Display) {
        let _ = write!(self.out, " {number}");
    }

    /// A count, and the statements below it.
    fn counted(&mut self, block: &Block<'a>) {
        self.number(block.statements.len());
        self.out.push('\n');
        self.depth += 1;
        self.block(block);
        self.depth -= 1;
    }

    fn block(&mut self, block: &Block<'a>) {
        for statement in block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt<'a>) {
        match statement.kind {
            StmtKind::Let { slot, value, .. } => {
                self.line(Word::Let);
                self.number(slot.0);
                match value {
                    Bound::Expr(value) => self.expr(&value),
                    Bound::Control(control) => {
                        self.out.push(' ');
                        return self.control(&control);
                    }
                }
            }
            StmtKind::Value(value) => {
                let start = self.out.len();
                self.expr(&value);
                // An expression begins with a blank; at the start of a line it is the indent instead.
                let indent = "  ".repeat(self.depth);
                self.out.replace_range(start..=start, &indent);
            }
            StmtKind::Return(ReturnKind::Plain, value) => self.line_of(Word::Ret, &value),
            StmtKind::Return(ReturnKind::Ok, value) => self.line_of(Word::RetOk, &value),
            StmtKind::Return(ReturnKind::Err, value) => self.line_of(Word::RetErr, &value),
            StmtKind::Fail(value) => self.line_of(Word::Fail, &value),
            StmtKind::Yield(value) => self.line_of(Word::Yield, &value),
            StmtKind::Break => self.line(Word::Break),
            StmtKind::Skip => self.line(Word::Skip),
            StmtKind::Undo(call) => {
                self.line(Word::Undo);
                self.call(call, Behind::Word);
            }
            StmtKind::Rollback(call) => {
                self.line(Word::Rollback);
                self.call(call, Behind::Word);
            }
            StmtKind::Control(control) => {
                self.out.push_str(&"  ".repeat(self.depth));
                return self.control(&control);
            }
        }
        self.out.push('\n');
    }

    /// Prints a control statement after its indent, or after LET.
    fn control(&mut self, control: &Control<'a>) {
        match control {
            Control::If(node) => {
                self.out.push_str(Word::If.mnemonic());
                self.operand(&node.condition, Behind::Integer);
                self.counted(&node.then);
                self.otherwise(node.otherwise.as_ref());
            }
            Control::Match(node) => {
                self.out.push_str(Word::Match.mnemonic());
                self.number(node.slot.0);
                self.number(usize::from(node.err.is_some()) + usize::from(node.ok.is_some()));
                self.out.push('\n');
                self.depth += 1;
                self.arm(Word::Err, node.err.as_ref());
                self.arm(Word::Ok, node.ok.as_ref());
                self.depth -= 1;
            }
            Control::Try(node) => {
                self.out.push_str(Word::Try.mnemonic());
                self.counted(&node.body);
                self.arm(Word::Err, Some(&node.handler));
            }
            Control::For(node) => {
                self.out.push_str(Word::For.mnemonic());
                self.number(node.item.0);
                self.operand(&node.list, Behind::Integer);
                self.counted(&node.body);
                self.otherwise(node.otherwise.as_ref());
            }
        }
    }

    fn otherwise(&mut self, block: Option<&Block<'a>>) {
        if let Some(block) = block {
            self.line(Word::Else);
            self.counted(block);
        }
    }

    fn arm(&mut self, word: Word, arm: Option<&Arm<'a>>) {
        if let Some(arm) = arm {
            self.line(word);
            self.number(arm.bind.0);
            self.counted(&arm.body);
        }
    }

    /// Prints an expression that is followed by a word or by nothing.
    fn expr(&mut self, expr: &Expr<'a>) {
        self.operand(expr, Behind::Word);
    }

    /// Prints a sequence of expressions; `behind` is what follows the last one.
    fn operands(&mut self, operands: &[Expr<'a>], behind: Behind) {
        if let Some((last, before)) = operands.split_last() {
            before.iter().for_each(|operand| self.expr(operand));
            self.operand(last, behind);
        }
    }

    fn operand(&mut self, expr: &Expr<'a>, behind: Behind) {
        match expr.kind {
            ExprKind::Ref(slot) => {
                self.word(Word::Ref);
                self.number(slot.0);
            }
            ExprKind::Literal(literal) => {
                self.word(Word::Lit);
                self.number(literal.kind());
                self.literal(literal);
            }
            ExprKind::Field(record, field) => {
                match record.kind {
                    ExprKind::Ref(slot) => {
                        self.word(Word::Field);
                        self.number(slot.0);
                    }
                    ExprKind::Field(..) | ExprKind::Binary(Binary::At, ..) => {
                        self.word(Word::Field);
                        self.operand(record, Behind::Integer);
                    }
                    _ => {
                        self.word(Word::At);
                        self.expr(record);
                        return self.text(field.text);
                    }
                }
                self.field(field.text);
            }
            ExprKind::Call(call) => self.call(call, behind),
            ExprKind::Unary(operator, operand) => {
                self.word(operator.word());
                self.operand(operand, behind);
            }
            ExprKind::Binary(operator, a, b) => {
                self.word(operator.word());
                self.expr(a);
                self.operand(b, behind);
            }
            ExprKind::Has(record, field) => {
                self.word(Word::Has);
                self.operand(record, Behind::Integer);
                self.field(field.text);
            }
            ExprKind::MatchMap(map) => {
                self.word(Word::MatchMap);
                self.operand(&map.subject, Behind::Integer);
                self.number(map.cases.len() + usize::from(map.default.is_some()));
                let mut keys = map.cases.iter().map(|case| case.key).skip(1);
                for case in map.cases {
                    self.literal(case.key);
                    let last = if map.default.is_some() { Behind::Word } else { behind };
                    let key = keys.next().map(|key| match key {
                        Literal::Number(_) => Behind::Integer,
                        _ => Behind::Word,
                    });
                    self.operand(&case.value, key.unwrap_or(last));
                }
                if let Some(default) = &map.default {
                    self.word(Word::Else);
                    self.operand(default, behind);
                }
            }
            ExprKind::Record(fields) => {
                self.word(Word::Obj);
                self.number(fields.len());
                self.pairs(fields, behind);
            }
            ExprKind::Merge(base, fields) => {
                self.word(Word::Merge);
                // It would read an integer after it as the count of its fields.
                if behind == Behind::Integer {
                    self.number(fields.len());
                }
                let pairs = if fields.is_empty() { behind } else { Behind::Integer };
                self.operand(base, pairs);
                self.pairs(fields, behind);
            }
            ExprKind::Apply(apply) => {
                self.word(Word::of_pure(apply.function));
                self.operands(apply.operands, behind);
            }
            ExprKind::Bad => self.operand(&Expr { kind: ExprKind::Literal(Literal::Nil), ..*expr }, behind),
            ExprKind::Template(parts) if joins_in_order(parts) => {
                (1..parts.len()).for_each(|_| self.word(Word::Concat));
                self.operands(parts, behind);
            }
            ExprKind::Template(parts) => self.template(parts, behind),
            ExprKind::List(items) => {
                self.word(Word::List);
                self.number(items.len());
                self.operands(items, behind);
            }
        }
    }

    /// Prints the parts of a text as CONCATs, split in halves so that nesting is shallow. Two parts that may
    /// be lists are joined with an empty text first.
    fn template(&mut self, parts: &[Expr<'a>], behind: Behind) {
        match parts {
            [] => self.text(""),
            [only] => self.operand(only, behind),
            _ => {
                let (first, second) = parts.split_at(parts.len().div_ceil(2));
                self.word(Word::Concat);
                if may_be_lists(parts) {
                    self.word(Word::Concat);
                    self.text("");
                }
                self.template(first, Behind::Word);
                self.template(second, behind);
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.word(Word::Lit);
        self.number(0);
        self.literal(Literal::Text(text));
    }

    fn literal(&mut self, literal: Literal<'_>) {
        self.out.push(' ');
        self.out.push_str(&literal.written());
    }

    fn call(&mut self, call: &Call<'a>, behind: Behind) {
        self.word(Word::Call);
        let tool = self.tools.number(call.tool.text);
        self.number(tool);
        self.number(call.arguments.len());
        self.pairs(call.arguments, behind);
    }

    fn pairs(&mut self, fields: &[Field<'a>], behind: Behind) {
        for (at, field) in fields.iter().enumerate() {
            self.field(field.name.text);
            self.operand(&field.value, if at + 1 == fields.len() { behind } else { Behind::Integer });
        }
    }

    fn field(&mut self, name: &'a str) {
        let number = self.fields.number(name);
        self.number(number);
    }
}

/// Whether two parts would be a list if both were lists.
fn may_be_lists(parts: &[Expr<'_>]) -> bool {
    parts.len() == 2 && !parts.iter().any(Expr::is_no_list)
}

/// Whether the parts of a text are joined from the left: when split in halves, two of them might be lists.
fn joins_in_order(parts: &[Expr<'_>]) -> bool {
    const LONGEST: usize = 16;
    fn halves_may_be_lists(parts: &[Expr<'_>]) -> bool {
        let (first, second) = parts.split_at(parts.len().div_ceil(2));
        may_be_lists(parts)
            || (parts.len() > 2 && (halves_may_be_lists(first) || halves_may_be_lists(second)))
    }
    parts.len() <= LONGEST && !may_be_lists(parts.get(..2).unwrap_or_default()) && halves_may_be_lists(parts)
}

/// What follows an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// A word, a text, or nothing.
    Word,
    /// A count, or the number of a field.
    Integer,
}
