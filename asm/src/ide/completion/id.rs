//! Completion of ID text: the parser reads what is before a position, and says what is missing there.

use super::{Completion, CompletionKind, Found, MOST};
use crate::arena::Arena;
use crate::ast::Slot;
use crate::catalog::{SchemaShape, bare};
use crate::check::KnownSlot;
use crate::diagnostic::Diagnostics;
use crate::id::Source;
use crate::id::state::{FunctionLayout, Lack, Layout};
use crate::ide::{Analysis, IdText, Target, describe};
use crate::source::SourceLimits;
use crate::span::Span;
use crate::syntax::header::write_name;
use crate::syntax::lexer::{Comment, Kind, Token};
use crate::syntax::registry;
use hashbrown::HashSet;
use ilo_spec::node::{Place, Shape as OperandShape, TABLE, Word};

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
    let last = typed.unwrap_or(behind).checked_sub(1).and_then(|at| tokens.get(at));
    let span =
        typed.and_then(|at| tokens.get(at)).map_or(Span::at(offset), |token| Span::new(token.start, offset));
    let (arena, mut unused, mut layout) = (Arena::new(), Diagnostics::default(), Layout::default());
    let before = of.at(Span::new(0, span.start));
    let read = Source::new(before, &arena, &SourceLimits::default(), &mut unused);
    let _ = read.map(|read| read.file(&arena, &mut unused, Some(&mut layout)));
    // A new line begins a statement.
    let goes_on = last.is_some_and(|last| !of.at(Span::new(last.end, span.start)).contains('\n'));
    let lack = layout.functions.get(function).and_then(|section| section.lack).filter(|_| goes_on);
    let mut offers = Offers { of, function, found: Found { span, all: Vec::new() } };
    offers.offer(lack.as_ref(), last);
    offers.found.all
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

    /// Adds what is missing behind a token.
    fn offer(&mut self, lack: Option<&Lack<'_>>, last: Option<&Token>) {
        let Some(&Lack { of, shape, tool, record }) = lack else { return self.words(|_| true) };
        let slots = describe::slots(self.of);
        let known = slots.of(self.function);
        let is_value = |word: Word| word.row().place == Place::Expression;
        match (shape, of) {
            (OperandShape::Slot, Word::Let | Word::For | Word::Err | Word::Ok) => {
                self.new_slot();
                self.slots(&known);
            }
            (OperandShape::Slot, _) => {
                self.slots(&known);
                self.words(|word| of == Word::Field && is_value(word));
            }
            (OperandShape::Tool, _) => self.tools(),
            (OperandShape::Field | OperandShape::Pairs, Word::Call) => self.arguments(tool),
            (OperandShape::Field | OperandShape::Pairs | OperandShape::OpenPairs, _) => {
                let record = record.and_then(|record| describe::value(self.of, &record, &known));
                let shape = record.and_then(|record| record.part.shape());
                for field in shape.into_iter().flat_map(SchemaShape::fields).take(MOST) {
                    let ty = field.shape.written();
                    self.by_name(registry::NameKind::Fields, field.name, ty, CompletionKind::Field);
                }
                self.listed(registry::NameKind::Fields, CompletionKind::Field);
            }
            (OperandShape::Literal, _) => {
                const KINDS: [(&str, &str); 4] =
                    [("0", "text"), ("1", "number"), ("2", "nil"), ("3", "bool")];
                let (all, about) = match last.map(|last| (last.kind, last.value)) {
                    Some((Kind::Integer, 2)) => (&[("nil", "")][..], "no value"),
                    Some((Kind::Integer, 3)) => (&[("true", ""), ("false", "")][..], ""),
                    Some((Kind::Integer, _)) => return,
                    _ => (&KINDS[..], "the kind of the constant"),
                };
                all.iter().for_each(|(text, ty)| self.found.add(CompletionKind::Word, text, *ty, about));
            }
            (OperandShape::Cases, _) => self.words(|word| word == Word::Else),
            (OperandShape::Call, _) => self.words(|word| word == Word::Call),
            (OperandShape::Expr, Word::Let) => {
                self.words(|word| is_value(word) || word.row().place == Place::Control);
            }
            (OperandShape::Expr | OperandShape::Exprs, _) => self.words(is_value),
            _ => {}
        }
    }

    /// Some words of the language.
    fn words(&mut self, which: impl Fn(Word) -> bool) {
        for row in TABLE.iter().filter(|row| which(row.word)) {
            self.found.add(CompletionKind::Word, row.mnemonic, crate::id::syntax(row), row.meaning);
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

    fn arguments(&mut self, tool: Option<&str>) {
        let Some(inputs) = self.of.inputs_of(tool.unwrap_or("")) else {
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
