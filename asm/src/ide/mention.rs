//! Finds all names of a source with their exact spans, including headers and registries, and what each refers
//! to.

use super::{Analysis, Target};
use crate::ast::{Block, Call, Control, Expr, ExprKind, Field, Function, Name, Slot, StmtKind};
use crate::catalog::own_function;
use crate::span::Span;
use crate::syntax::registry::{NameKind, Named};
use hashbrown::HashMap;

/// The longest text that is searched for the name of a slot.
const LONGEST: usize = 4 << 10;

/// An occurrence of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mention<'a> {
    /// The span of the name or of the number that refers to it; in comments, a quoted name includes its
    /// quotes.
    pub(super) span: Span,
    /// The index of the function that contains it.
    pub(super) function: usize,
    /// The name; the number of a slot without one.
    pub(super) name: &'a str,
    pub(super) role: Role<'a>,
    pub(super) entity: Entity<'a>,
}

/// What several names refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entity<'a> {
    Type,
    /// A slot of a function.
    Slot(usize, Slot),
    Function(usize),
    /// A tool, by its full name.
    Tool(&'a str),
    Field(&'a str),
}

/// The role of an occurrence.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role<'a> {
    /// A function or a parameter in its header.
    Declared,
    /// An entry of a registry, or of the list of tools.
    Entry,
    /// A slot is bound.
    Bind,
    /// A read, a call, or a field of a record that is built.
    Use,
    /// An argument of a call.
    Argument(&'a Call<'a>),
    /// A field that is read from a record.
    Read(&'a Expr<'a>),
}

impl Role<'_> {
    /// Whether the name is declared or bound there.
    pub(super) fn declares(self) -> bool {
        matches!(self, Role::Declared | Role::Entry | Role::Bind)
    }
}

/// All names of a source, in order.
pub(super) fn all<'a>(of: &Analysis<'a>) -> Vec<Mention<'a>> {
    let mut found = Vec::new();
    for (number, function) in of.file.functions.iter().enumerate() {
        let mut finder = Finder { of, number, function, found: &mut found };
        finder.header();
        finder.block(&function.body);
        finder.registries();
    }
    // A step that is bound and also the value of its block counts once.
    let is_read =
        |mention: &Mention<'_>| matches!((mention.entity, mention.role), (Entity::Slot(..), Role::Use));
    crate::sorting::sort_by_key(&mut found, |mention| (mention.span, is_read(mention)));
    found.dedup_by_key(|mention| mention.span);
    found
}

/// The span of the name in an entry of a registry.
pub(super) fn name_of(of: &Analysis<'_>, entry: &Named<'_>) -> Span {
    let text = of.at(entry.span);
    let after = text.find('=').map_or(0, |at| at + 1);
    let name = text.get(after..).unwrap_or("").trim_start();
    let length = u32::try_from(name.len()).unwrap_or(0);
    Span::new(entry.span.end.saturating_sub(length), entry.span.end)
}

/// Finds the names of a function.
struct Finder<'f, 'a> {
    of: &'f Analysis<'a>,
    number: usize,
    function: &'f Function<'a>,
    found: &'f mut Vec<Mention<'a>>,
}

impl<'a> Finder<'_, 'a> {
    /// Adds a name, if it is written as it is.
    fn add(&mut self, span: Span, name: &'a str, role: Role<'a>, entity: Entity<'a>) {
        let exact = self.of.text.is_some() || entity == Entity::Type || self.of.at(span) == name;
        if exact && span.start < span.end {
            self.found.push(Mention { span, function: self.number, name, role, entity });
        }
    }

    fn tool(&mut self, span: Span, name: &'a str, role: Role<'a>) {
        let entity = match self.of.target(name) {
            Target::Function(number) => Entity::Function(number as usize),
            Target::Tool(tool) => Entity::Tool(&tool.name),
            Target::Unknown => Entity::Tool(own_function(name).unwrap_or(name)),
        };
        self.add(span, name, role, entity);
    }

    fn field(&mut self, name: Name<'a>, role: Role<'a>) {
        self.add(name.span, name.text, role, Entity::Field(name.text));
    }

    /// Adds a slot that a span refers to.
    fn slot(&mut self, slot: Slot, span: Span, role: Role<'a>) {
        let name = self.function.slots.get(slot.0 as usize).and_then(|slot| slot.name);
        if let Some(span) = self.slot_span(name, span) {
            self.add(span, name.unwrap_or(self.of.at(span)), role, Entity::Slot(self.number, slot));
        }
    }

    fn header(&mut self) {
        let Function { name, parameters, output, allowed, .. } = *self.function;
        self.add(name.span, name.text, Role::Declared, Entity::Function(self.number));
        for (slot, parameter) in (0..).map(Slot).zip(parameters) {
            let name = parameter.name;
            self.add(name.span, name.text, Role::Declared, Entity::Slot(self.number, slot));
            self.add(parameter.ty.span, "", Role::Use, Entity::Type);
        }
        for ty in [Some(output.ok), output.err].into_iter().flatten() {
            self.add(ty.span, "", Role::Use, Entity::Type);
        }
        allowed.unwrap_or_default().iter().for_each(|name| self.tool(name.span, name.text, Role::Entry));
    }

    fn registries(&mut self) {
        let (of, function) = (self.of, self.function);
        let Some(section) = of.text.as_ref().and_then(|text| text.sections.get(self.number)) else { return };
        let slots: HashMap<u32, Slot> =
            (0..).zip(function.slots).filter_map(|(slot, info)| Some((info.number?, Slot(slot)))).collect();
        for kind in NameKind::ALL {
            for entry in &section.registries.get(kind).entries {
                let span = name_of(of, entry);
                match kind {
                    NameKind::Tools => self.tool(span, entry.name, Role::Entry),
                    NameKind::Fields => self.field(Name { text: entry.name, span }, Role::Entry),
                    NameKind::Vars => {
                        let slot = slots.get(&entry.id).map(|&slot| Entity::Slot(self.number, slot));
                        slot.into_iter().for_each(|slot| self.add(span, entry.name, Role::Entry, slot));
                    }
                }
            }
        }
    }

    fn block(&mut self, block: &Block<'a>) {
        for statement in block.statements {
            match statement.kind {
                StmtKind::Let { slot, slot_span, .. } => self.slot(slot, slot_span, Role::Bind),
                StmtKind::Undo(call) | StmtKind::Rollback(call) => self.call(call),
                _ => {}
            }
            statement.each_value(|value| self.expression(value));
            let Some(control) = statement.control() else { continue };
            match control {
                Control::If(_) => {}
                Control::For(node) => self.slot(node.item, node.item_span, Role::Bind),
                Control::Try(node) => self.slot(node.handler.bind, node.handler.bind_span, Role::Bind),
                Control::Match(node) => {
                    self.slot(node.slot, node.slot_span, Role::Use);
                    for arm in [&node.err, &node.ok].into_iter().flatten() {
                        self.slot(arm.bind, arm.bind_span, Role::Bind);
                    }
                }
            }
            control.blocks().for_each(|(_, block)| self.block(block));
        }
    }

    /// The names of a call, without those in its arguments.
    fn call(&mut self, call: &'a Call<'a>) {
        self.tool(call.tool.span, call.tool.text, Role::Use);
        call.arguments.iter().for_each(|argument| self.field(argument.name, Role::Argument(call)));
    }

    fn expression(&mut self, of: &Expr<'a>) {
        match of.kind {
            ExprKind::Ref(slot) => self.slot(slot, of.span, Role::Use),
            ExprKind::Field(record, name) | ExprKind::Has(record, name) => {
                self.field(name, Role::Read(record));
            }
            ExprKind::Call(call) => self.call(call),
            ExprKind::Record(fields) | ExprKind::Merge(_, fields) => {
                fields.iter().for_each(|Field { name, .. }| self.field(*name, Role::Use));
            }
            _ => {}
        }
        of.children(|child| self.expression(child));
    }

    /// The span of the name or number of a slot in a reference to it; `None` if the source has neither.
    fn slot_span(&self, name: Option<&str>, span: Span) -> Option<Span> {
        let written = self.of.at(span);
        if self.of.text.is_some() {
            let digits = written.len() - written.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            let digits = u32::try_from(digits).ok().filter(|&digits| digits > 0)?;
            return Some(Span::new(span.end - digits, span.end));
        }
        let name = name.filter(|_| written.len() <= LONGEST)?;
        let continues = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let (at, _) = written.match_indices(name).find(|&(at, _)| {
            let before = written.get(..at).unwrap_or("");
            let after = written.get(at + name.len()..).unwrap_or("");
            // A field of the same name follows a dot; inputs are fields of `$input` and of `$`.
            let root = before.is_empty()
                || before.trim_end_matches("[\"").trim_end_matches(['$', '{', ' ', '.']).is_empty()
                || matches!(before, "$input." | "${input." | "input." | "${ input.");
            root && !before.ends_with(continues) && !after.starts_with(continues)
        })?;
        let start = span.start.checked_add(u32::try_from(at).ok()?)?;
        Some(Span::new(start, start.checked_add(u32::try_from(name.len()).ok()?)?))
    }
}
