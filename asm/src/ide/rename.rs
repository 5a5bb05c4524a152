//! Renames slots and functions.
//!
//! In ID text the name of a slot is in the header and the registry, and the body has its number. In JSON and
//! YAML the name is everywhere, and the meaning of a reference depends on its context: so a new name is
//! accepted only if the new source builds the same program. Tools and fields belong to the host and cannot be
//! renamed.

use super::mention::{Entity, Mention, Role, name_of};
use super::{Analysis, Target};
use crate::catalog::own_function;
use crate::compile::{self, Options};
use crate::diagnostic::{Diagnostic, Edit, Fix, fix};
use crate::expr::reference::{FAILURES, INPUT};
use crate::span::Span;
use crate::syntax::header::write_name;
use crate::syntax::registry::NameKind;
use crate::text::{is_name, shorten};
use ilo_spec::error::Code;

/// The longest new name.
const LONGEST: usize = 200;

impl<'a> Analysis<'a> {
    /// The name at an offset that can be renamed, and its span.
    pub fn renamable(&self, offset: u32) -> Option<(Span, String)> {
        let mention = self.mention_at(offset)?;
        let renamed = matches!(mention.entity, Entity::Slot(..) | Entity::Function(_));
        renamed.then(|| (mention.span, mention.name.to_owned()))
    }

    /// The edits that rename the name at an offset.
    ///
    /// # Errors
    /// A message that says why it cannot be renamed.
    pub fn rename(&self, offset: u32, new: &str, options: &Options<'_>) -> Result<Vec<Edit>, String> {
        let nothing = || "there is no slot or function here that can be renamed".to_owned();
        let entity = self.mention_at(offset).ok_or_else(nothing)?.entity;
        let new = new.trim();
        if new.is_empty() || new.len() > LONGEST || new.contains(char::is_control) {
            return Err(format!("expected a name of at most {LONGEST} bytes, found `{}`", shorten(new)));
        }
        let is_id = self.text.is_some();
        if !is_id && !is_name(new) {
            return Err(format!("`{}` is not a name: write letters, digits, `_` and `-`", shorten(new)));
        }
        let (function, taken) = match entity {
            Entity::Type => return Err(nothing()),
            Entity::Tool(name) => {
                return Err(format!("`{}` is a tool of the host, which names it", shorten(name)));
            }
            Entity::Field(name) => {
                return Err(format!("`{}` is a field of the data, which names it", shorten(name)));
            }
            Entity::Slot(..) if !is_id && (FAILURES.contains(&new) || new == INPUT) => {
                return Err(format!("`{new}` is kept for what it means"));
            }
            Entity::Function(number) => (number, self.file.functions.iter().any(|of| of.name.text == new)),
            Entity::Slot(number, _) => {
                let of = self.file.functions.get(number);
                (number, of.is_some_and(|of| of.slots.iter().any(|info| info.name == Some(new))))
            }
        };
        if taken {
            return Err(format!("another name here is `{}`", shorten(new)));
        }
        let of = self.file.functions.get(function).ok_or_else(nothing)?;
        let mut written = String::new();
        write_name(new, &mut written);
        let renamed = |mention: &Mention<'a>| {
            let text = match own_function(mention.name) {
                _ if is_id => written.clone(),
                Some(own) => self.at(mention.span).replacen(own, new, 1),
                None => new.to_owned(),
            };
            Edit { span: mention.span, text }
        };
        // In the body of ID text it is the number.
        let is_written =
            |mention: &&Mention<'a>| !is_id || matches!(mention.role, Role::Declared | Role::Entry);
        let mut edits: Vec<Edit> = self.mentions_of(entity).filter(is_written).map(renamed).collect();
        let Entity::Slot(_, slot) = entity else {
            self.tried(&edits, false, options)?;
            return Ok(edits);
        };
        let parameter = of.parameters.get(slot.0 as usize).map(|parameter| parameter.name.text);
        let passes = |mention: &&Mention<'a>| {
            matches!(mention.role, Role::Argument(call)
                if Some(mention.name) == parameter && matches!(self.target(call.tool.text), Target::Function(of) if of as usize == function))
        };
        let passed = self.mentions.iter().filter(passes);
        if !is_id {
            edits.extend(passed.map(renamed));
            self.tried(&edits, parameter.is_none(), options)?;
        } else if passed.count() > 0 {
            let why = "callers of this function pass it by name: rename it in their `Fields` first";
            return Err(why.to_owned());
        } else if edits.is_empty() {
            let number = of.slots.get(slot.0 as usize).and_then(|info| info.number);
            let entry = number.and_then(|number| self.new_entry(function, NameKind::Vars, number, &written));
            edits.push(entry.ok_or_else(nothing)?);
        }
        Ok(edits)
    }

    /// The edit that adds an entry to a registry of a function.
    pub(super) fn new_entry(&self, function: usize, kind: NameKind, id: u32, name: &str) -> Option<Edit> {
        let text = self.text.as_ref()?;
        let section = text.sections.get(function)?;
        if let Some(last) = section.registries.get(kind).entries.iter().max_by_key(|entry| entry.span.end) {
            let start = name_of(self, last).start;
            let end = start.checked_add(u32::try_from(last.written.len()).ok()?)?;
            return Some(Edit { span: Span::at(end.max(last.span.end)), text: format!(" {id}={name}") });
        }
        let ends = section.consumed.iter().filter_map(|&index| Some(text.comments().get(index)?.span.end));
        let end = ends.max()?;
        Some(Edit { span: Span::at(end), text: format!("\n; {}: {id}={name}", kind.name()) })
    }

    /// Refuses edits after which the source builds no program, or, if it must be the same, another.
    fn tried(&self, edits: &[Edit], same: bool, options: &Options<'_>) -> Result<(), String> {
        let options = Options { from: Some(self.notation), strip: true, ..options.clone() };
        let before = compile::compile(self.source, &options).0;
        let before = before.ok_or("correct the errors of this source first")?;
        let whole = Fix { title: String::new(), edits: edits.to_vec() };
        let change = Diagnostic::new(Code::BadStep, Span::default(), "").fix(whole);
        let (source, applied) = fix::apply(self.source, &[change]);
        let after = if applied == 1 { compile::compile(&source, &options).0 } else { None };
        let fits = after.is_some_and(|after| !same || before == after);
        if fits { Ok(()) } else { Err("this name is used in a way that cannot be renamed".to_owned()) }
    }
}
