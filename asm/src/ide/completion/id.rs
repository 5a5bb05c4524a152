//! Completion of ID text. Parses the tokens before a position by the operand shapes of `ilo_spec::node`, and
//! offers what the next operand may be.

use super::{Completion, CompletionKind, Found, MOST};
use crate::ast::Slot;
use crate::catalog::{SchemaShape, bare};
use crate::check::{KnownSlot, Seen, ValueInfo};
use crate::id::state::FunctionLayout;
use crate::ide::mention::slot_of;
use crate::ide::{Analysis, IdText, Target, describe};
use crate::span::Span;
use crate::syntax::header::write_name;
use crate::syntax::lexer::{Comment, Kind, NO_VALUE, Token};
use crate::syntax::registry;
use hashbrown::HashSet;
use ilo_spec::node::{Place, Shape as OperandShape, TABLE, Word};

/// What is needed next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// A statement, or the start of an arm.
    Statement,
    /// The slot that a word binds.
    Binds,
    /// The slot that a word reads.
    Reads,
    /// An expression.
    Value,
    /// An expression, IF, MATCH or FOR.
    Bound,
    /// A slot or an expression.
    Path,
    /// A tool.
    Tool,
    /// The name of an argument.
    Argument,
    /// A field that is read from a record.
    Field,
    /// A field of a record that is built.
    Key,
    /// A count, then this number of items.
    Count(Repeated),
    /// This number of items.
    Left(u32, Repeated),
    /// Pairs of a field and a value, as long as integers follow.
    OpenPairs,
    /// The kind of a constant.
    Kind,
    /// A constant of a kind.
    Constant(u32),
    /// The key of a case.
    Case,
    /// A CALL.
    Call,
}

/// The items that a count counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeated {
    Arguments,
    Pairs,
    Values,
    Cases,
    Statements,
}

/// What is needed at a position, and its context.
pub(super) struct Needed<'t, 'a> {
    pub(super) need: Missing,
    /// The tool of the innermost call.
    pub(super) tool: Option<&'a str>,
    /// The record of a needed field.
    pub(super) record: Seen<'t>,
}

/// Reads the tokens of a statement.
struct Reader<'r, 't, 'a> {
    of: &'r Analysis<'a>,
    function: usize,
    known: &'r [KnownSlot<'t>],
    needs: Vec<Missing>,
    tools: Vec<&'a str>,
    /// The last value.
    last: Seen<'t>,
}

/// Reads `tokens`, the beginning of a statement, up to a position.
pub(super) fn needed<'t, 'a>(
    of: &'t Analysis<'a>,
    function: usize,
    known: &[KnownSlot<'t>],
    tokens: &[Token],
) -> Needed<'t, 'a> {
    let mut reader =
        Reader { of, function, known, needs: vec![Missing::Statement], tools: Vec::new(), last: None };
    tokens.iter().for_each(|token| reader.token(token));
    let need = loop {
        match reader.needs.pop() {
            Some(Missing::Left(0, _)) => {}
            Some(Missing::Left(_, Repeated::Arguments)) => break Missing::Argument,
            Some(Missing::Left(_, Repeated::Values)) => break Missing::Value,
            Some(Missing::Left(_, Repeated::Cases)) => break Missing::Case,
            // Another pair may follow, or the end of the record.
            Some(Missing::OpenPairs | Missing::Left(_, Repeated::Pairs)) => break Missing::Key,
            Some(need) => break need,
            None => break Missing::Statement,
        }
    };
    Needed { need, tool: reader.tools.last().copied(), record: reader.last }
}

impl<'t, 'a> Reader<'_, 't, 'a> {
    fn token(&mut self, token: &Token) {
        let number = Some(token.value).filter(|&value| token.kind == Kind::Integer && value != NO_VALUE);
        // A token after a complete statement begins a new one, if it can.
        let need = self.needs.pop().unwrap_or(Missing::Statement);
        match need {
            Missing::Left(0, _) => self.token(token),
            Missing::Left(left, repeated) => {
                self.needs.push(Missing::Left(left - 1, repeated));
                match repeated {
                    Repeated::Arguments => self.needs.extend([Missing::Value, Missing::Argument]),
                    Repeated::Pairs => self.needs.extend([Missing::Value, Missing::Key]),
                    Repeated::Values => self.needs.push(Missing::Value),
                    Repeated::Cases => self.needs.extend([Missing::Value, Missing::Case]),
                    Repeated::Statements => self.needs.push(Missing::Statement),
                }
                self.token(token);
            }
            Missing::OpenPairs => {
                if number.is_some() {
                    self.needs.extend([Missing::OpenPairs, Missing::Value]);
                } else {
                    self.token(token);
                }
            }
            Missing::Count(repeated) => {
                // A count that is larger than the number of items shown is wrong.
                let count = number.unwrap_or(0).min(1 << 12);
                self.needs.push(Missing::Left(count, repeated));
            }
            Missing::Tool => self.tools.push(self.name(registry::NameKind::Tools, number).unwrap_or("")),
            Missing::Reads | Missing::Path if number.is_some() => {
                self.last = number.and_then(|id| self.slot(id));
            }
            Missing::Field => {
                let name = self.name(registry::NameKind::Fields, number);
                self.last = self.last.and_then(|record| ValueInfo::field_of(record.part.shape()?, name?));
            }
            Missing::Kind => self.needs.push(Missing::Constant(number.unwrap_or(0))),
            Missing::Binds
            | Missing::Argument
            | Missing::Key
            | Missing::Case
            | Missing::Constant(_)
            | Missing::Reads => {
                self.last = None;
            }
            Missing::Statement | Missing::Value | Missing::Bound | Missing::Path | Missing::Call => {
                self.word(token);
            }
        }
    }

    /// The name that a number has in a registry.
    fn name(&self, kind: registry::NameKind, number: Option<u32>) -> Option<&'a str> {
        self.of.text.as_ref()?.sections.get(self.function)?.registries.get(kind).name(number?)
    }

    fn slot(&self, number: u32) -> Seen<'t> {
        let slot = slot_of(self.of.file.functions.get(self.function)?, number)?;
        let known = self.known.get(slot.0 as usize)?;
        known.plain.or(known.ok)
    }

    /// Pushes the operands of a word.
    fn word(&mut self, token: &Token) {
        let Some(word) = token.word else { return };
        self.last = None;
        let binds = matches!(word, Word::Let | Word::For | Word::Err | Word::Ok);
        for shape in word.row().operands.iter().rev() {
            let need = match shape {
                OperandShape::Slot if binds => Missing::Binds,
                OperandShape::Slot => Missing::Reads,
                OperandShape::Expr => Missing::Value,
                OperandShape::Bound => Missing::Bound,
                OperandShape::Literal => Missing::Kind,
                OperandShape::Path => Missing::Path,
                OperandShape::Field | OperandShape::FieldOrName => Missing::Field,
                OperandShape::Tool => Missing::Tool,
                OperandShape::Pairs if word == Word::Call => Missing::Count(Repeated::Arguments),
                OperandShape::Pairs => Missing::Count(Repeated::Pairs),
                OperandShape::OpenPairs => Missing::OpenPairs,
                OperandShape::Exprs => Missing::Count(Repeated::Values),
                OperandShape::Cases => Missing::Count(Repeated::Cases),
                OperandShape::Block | OperandShape::Arms => Missing::Count(Repeated::Statements),
                OperandShape::Otherwise | OperandShape::Handler => continue,
                OperandShape::Call => Missing::Call,
            };
            self.needs.push(need);
        }
    }
}

/// Whether a word can satisfy a need.
pub(super) fn takes(need: Missing, word: Word) -> bool {
    let place = word.row().place;
    match need {
        Missing::Statement => true,
        Missing::Value | Missing::Path => place == Place::Expression,
        Missing::Bound => matches!(place, Place::Expression | Place::Control),
        Missing::Call => word == Word::Call,
        Missing::Case => word == Word::Else,
        _ => false,
    }
}

/// The completions at an offset.
pub(super) fn complete(of: &Analysis<'_>, text: &IdText<'_>, offset: u32) -> Vec<Completion> {
    let behind = text.comments().partition_point(|comment| comment.span.start < offset);
    let comment = behind.checked_sub(1).and_then(|at| text.comments().get(at));
    if let Some(comment) = comment.filter(|comment| offset <= comment.span.end) {
        return in_comment(of, text, comment, behind - 1, offset);
    }
    let tokens = text.lexemes();
    let behind = tokens.partition_point(|token| token.start < offset);
    // The word that is being typed is not read: it is what is completed.
    let typed = behind.checked_sub(1).filter(|&at| tokens.get(at).is_some_and(|token| offset <= token.end));
    let is_text = |at: usize| {
        tokens.get(at).is_some_and(|token| {
            matches!(token.kind, Kind::Text | Kind::EscapedText | Kind::OpenText | Kind::SingleText)
        })
    };
    let Some(function) = of.function_at(offset).filter(|_| !typed.is_some_and(is_text)) else {
        return Vec::new();
    };
    let last = typed.unwrap_or(behind);
    let span =
        typed.and_then(|at| tokens.get(at)).map_or(Span::at(offset), |token| Span::new(token.start, offset));
    let first = text.sections.get(function).map_or(0, |section| section.tokens.start);
    // The start of the line of the last statement.
    let begins = |at: &usize| {
        tokens.get(*at).is_some_and(|token| token.first && token.word.is_some_and(begins_statement))
    };
    let end = last.checked_sub(1).and_then(|at| tokens.get(at)).map_or(0, |token| token.end);
    let new_line = of.at(Span::new(end, span.start)).contains('\n');
    let start = (first..last).rev().find(begins).unwrap_or(first);
    let slots = describe::slots(of);
    let known = slots.of(function);
    let line = if new_line { &[][..] } else { tokens.get(start..last).unwrap_or_default() };
    let needed = needed(of, function, &known, line);
    let mut offers = Offers { of, function, found: Found { span, all: Vec::new() } };
    offers.offer(&known, &needed);
    offers.found.all
}

/// Whether a word at the start of a line begins a statement and does not continue the previous one.
fn begins_statement(word: Word) -> bool {
    use ilo_spec::node::Place::{Control, Part, Statement};
    matches!(word.row().place, Statement | Control | Part) || matches!(word, Word::Call | Word::Obj)
}

/// What may be written at a position of a function.
struct Offers<'t, 'a> {
    of: &'t Analysis<'a>,
    function: usize,
    found: Found,
}

impl<'t, 'a> Offers<'t, 'a> {
    fn section(&self) -> Option<&'t FunctionLayout<'a>> {
        self.of.text.as_ref()?.sections.get(self.function)
    }

    /// The entries of a registry.
    fn entries(&self, kind: registry::NameKind) -> &'t [registry::Named<'a>] {
        self.section().map_or(&[][..], |section| &section.registries.get(kind).entries)
    }

    fn offer(&mut self, known: &[KnownSlot<'t>], needed: &Needed<'t, '_>) {
        match needed.need {
            Missing::Reads => self.slots(known),
            Missing::Binds => {
                self.new_slot();
                self.slots(known);
            }
            Missing::Tool => self.tools(),
            Missing::Argument => self.arguments(needed),
            Missing::Field => {
                let shape = needed.record.and_then(|record| record.part.shape());
                for field in shape.into_iter().flat_map(SchemaShape::fields).take(MOST) {
                    self.by_name(
                        registry::NameKind::Fields,
                        field.name,
                        field.shape.written(),
                        CompletionKind::Field,
                    );
                }
                self.listed(registry::NameKind::Fields, CompletionKind::Field);
            }
            Missing::Key => self.listed(registry::NameKind::Fields, CompletionKind::Field),
            Missing::Kind => {
                for (kind, about) in [("0", "text"), ("1", "number"), ("2", "nil"), ("3", "bool")] {
                    self.found.add(CompletionKind::Word, kind, about, "the kind of the constant");
                }
            }
            Missing::Constant(2) => self.found.add(CompletionKind::Word, "nil", "", "no value"),
            Missing::Constant(3) => {
                self.found.add(CompletionKind::Word, "true", "", "");
                self.found.add(CompletionKind::Word, "false", "", "");
            }
            need => {
                if need == Missing::Path {
                    self.slots(known);
                }
                for row in TABLE.iter().filter(|row| takes(need, row.word)) {
                    self.found.add(CompletionKind::Word, row.mnemonic, crate::id::syntax(row), row.meaning);
                }
            }
        }
    }

    /// The slots that are bound before the position.
    fn slots(&mut self, known: &[KnownSlot<'_>]) {
        let Some(info) = self.of.file.functions.get(self.function) else { return };
        let bound = self.of.bound_before(self.function, self.found.span.start);
        let slots = (0_u32..).zip(info.slots).filter(|(slot, _)| bound.contains(&Slot(*slot))).take(MOST);
        for (slot, info) in slots {
            let ty = known.get(slot as usize).map_or_else(|| "any".to_owned(), describe::slot);
            if let Some(number) = info.number {
                let name = format!("{}: {ty}", info.name.unwrap_or(""));
                self.numbered(number, &name, CompletionKind::Slot, String::new());
            }
        }
    }

    /// A number without a slot.
    fn new_slot(&mut self) {
        let Some(info) = self.of.file.functions.get(self.function) else { return };
        let vars = self.entries(registry::NameKind::Vars);
        // A registry may have names that nothing binds yet.
        let used: HashSet<u32> = info.slots.iter().filter_map(|slot| slot.number).collect();
        let last = used.iter().copied().chain(vars.iter().map(|entry| entry.id)).max();
        for entry in vars.iter().filter(|entry| !used.contains(&entry.id)).take(MOST) {
            self.numbered(entry.id, entry.name, CompletionKind::Slot, String::new());
        }
        let free = last.map_or(0, |last| last.saturating_add(1));
        self.numbered(free, "a new slot", CompletionKind::Slot, String::new());
    }

    /// A number with its name.
    fn numbered(&mut self, number: u32, name: &str, kind: CompletionKind, detail: String) {
        self.found.add(kind, &number.to_string(), detail, "");
        if let Some(last) = self.found.all.last_mut() {
            last.label = format!("{number} {name}");
            last.filter.clone_from(&last.label);
        }
    }

    /// The entries of a registry, each with its number.
    fn listed(&mut self, kind: registry::NameKind, as_kind: CompletionKind) {
        for entry in self.entries(kind).iter().take(MOST) {
            if self.found.all.iter().any(|other| other.text == entry.id.to_string()) {
                continue;
            }
            let is_tool = as_kind == CompletionKind::Tool;
            let detail = if is_tool { signature(self.of, entry.name) } else { String::new() };
            self.numbered(entry.id, entry.name, as_kind, detail);
        }
    }

    /// A name by its number in a registry, or by a new number with the edit that adds it.
    fn by_name(&mut self, kind: registry::NameKind, name: &str, detail: String, as_kind: CompletionKind) {
        let Some(registry) = self.section().map(|section| section.registries.get(kind)) else { return };
        let (id, also) = match registry.id(name) {
            Some(id) => (id, None),
            None => {
                let free = registry.entries.iter().map(|entry| entry.id.saturating_add(1)).max().unwrap_or(0);
                let mut written = String::new();
                write_name(name, &mut written);
                (free, self.of.new_entry(self.function, kind, free, &written))
            }
        };
        self.numbered(id, name, as_kind, detail);
        self.found.all.last_mut().into_iter().for_each(|last| last.also.clone_from(&also));
    }

    /// The tools of the registry, then the others.
    fn tools(&mut self) {
        self.listed(registry::NameKind::Tools, CompletionKind::Tool);
        let entries = self.entries(registry::NameKind::Tools);
        for (name, signature, _) in self.of.callables(self.function) {
            let is_listed = entries.iter().any(|entry| entry.name == name || entry.name == bare(name));
            if !is_listed && self.found.all.len() < MOST {
                self.by_name(registry::NameKind::Tools, name, signature, CompletionKind::Tool);
            }
        }
    }

    fn arguments(&mut self, needed: &Needed<'_, '_>) {
        let Some(inputs) = self.of.inputs_of(needed.tool.unwrap_or("")) else {
            return self.listed(registry::NameKind::Fields, CompletionKind::Argument);
        };
        for (name, ty, _) in inputs.into_iter().take(MOST) {
            self.by_name(registry::NameKind::Fields, name, ty, CompletionKind::Argument);
        }
    }

    /// A name for a registry.
    fn named(&mut self, name: &str, kind: CompletionKind, detail: String) {
        let mut text = String::new();
        write_name(name, &mut text);
        if self.found.all.len() < MOST && !self.found.all.iter().any(|other| other.text == text) {
            self.found.add(kind, &text, detail, "");
        }
    }

    /// The names for a registry.
    fn names(&mut self, kind: &str) {
        if kind == "Tools" {
            for (name, signature, _) in self.of.callables(self.function) {
                self.named(name, CompletionKind::Tool, signature);
            }
        }
        let entries = if kind == "Fields" { self.entries(registry::NameKind::Tools) } else { &[] };
        for entry in entries {
            let Target::Tool(tool) = self.of.target(entry.name) else { continue };
            for field in tool.input().fields().chain(tool.output().fields()) {
                self.named(field.name, CompletionKind::Field, field.shape.written());
            }
        }
    }
}

fn signature(of: &Analysis<'_>, name: &str) -> String {
    match of.target(name) {
        Target::Function(number) => {
            of.file.functions.get(number as usize).map_or_else(String::new, describe::header)
        }
        Target::Tool(tool) => tool.signature(),
        Target::Unknown => String::new(),
    }
}

/// The completions in a header or a registry.
fn in_comment(
    of: &Analysis<'_>,
    text: &IdText<'_>,
    comment: &Comment,
    index: usize,
    offset: u32,
) -> Vec<Completion> {
    let owner = text.sections.iter().position(|section| section.consumed.contains(&index));
    let Some((function, section)) = owner.and_then(|at| Some((at, text.sections.get(at)?))) else {
        return Vec::new();
    };
    let before = of.at(Span::new(comment.span.start, offset));
    let word = before.rfind(|c: char| c.is_whitespace() || matches!(c, '(' | ',' | ':' | '=' | '>'));
    let word = before.get(word.map_or(0, |at| at + 1)..).unwrap_or("");
    let start = offset.saturating_sub(u32::try_from(word.len()).unwrap_or(0));
    let found = Found { span: Span::new(start, offset), all: Vec::new() };
    let mut offers = Offers { of, function, found };
    let kinds = ["Vars", "Tools", "Fields"];
    let registry =
        kinds.into_iter().filter_map(|kind| Some((before.rfind(&format!("{kind}:"))?, kind))).max();
    let is_header = section.consumed.first() == Some(&index);
    match registry {
        Some((_, kind)) if before.ends_with(&format!("={word}")) => offers.names(kind),
        None if is_header => {
            let output = before.contains("->");
            let part = before.rsplit(['(', ',']).next().unwrap_or("");
            if output || part.contains(':') {
                offers.found.types(output);
            }
        }
        _ => {}
    }
    offers.found.all
}
