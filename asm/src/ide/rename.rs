//! Renames slots and functions.
//!
//! In ID text the name of a slot is in the header and the registry, and the body has its number. In JSON and
//! YAML the name is everywhere, and the meaning of a reference depends on its context: so a new name is
//! accepted only if the new source builds the same program. Tools and fields belong to the host and cannot be
//! renamed.

use super::describe;
use super::mention::{Mention, Role, What, name_of};
use super::navigate;
use super::navigate::Identity;
use super::{Analysis, Target};
use crate::catalog::own_function;
use crate::compile::{self, Options};
use crate::diagnostic::{Diagnostic, Edit, fix};
use crate::expr::reference::{FAILURES, INPUT};
use crate::span::Span;
use crate::syntax::header::write_name;
use crate::text::{is_name, shorten};
use ilo_spec::error::Code;
use ilo_spec::program::Program;

/// The longest new name.
const LONGEST: usize = 200;

impl<'a> Analysis<'a> {
    /// The name at an offset that can be renamed, and its span.
    pub fn renamable(&self, offset: u32) -> Option<(Span, String)> {
        let mention = self.mention_at(offset)?;
        match navigate::identity(self, mention)? {
            Identity::Slot(function, slot) => Some((mention.span, describe::slot_name(self, function, slot))),
            Identity::Function(number) => {
                Some((mention.span, self.file.functions.get(number)?.name.text.to_owned()))
            }
            Identity::Tool(_) | Identity::Field(_) => None,
        }
    }

    /// Where calls in the file pass an input of a function.
    fn passed(&self, function: usize, slot: u32) -> Vec<&Mention<'a>> {
        let of = self.file.functions.get(function);
        let input = of.and_then(|of| of.parameters.get(slot as usize)).map(|input| input.name.text);
        let passes = |mention: &&Mention<'a>| {
            matches!(mention.what, What::Argument(call, name)
                if Some(name) == input && matches!(self.target(call.tool.text), Target::Function(number) if number as usize == function))
        };
        self.mentions.iter().filter(passes).collect()
    }

    /// The edits that rename the name at an offset.
    ///
    /// # Errors
    /// A message that says why it cannot be renamed.
    pub fn rename(&self, offset: u32, new: &str, options: &Options<'_>) -> Result<Vec<Edit>, String> {
        let nothing = || "there is no slot or function here that can be renamed".to_owned();
        let mention = self.mention_at(offset).ok_or_else(nothing)?;
        let identity = navigate::identity(self, mention).ok_or_else(nothing)?;
        let new = new.trim();
        if new.is_empty() || new.len() > LONGEST || new.contains(char::is_control) {
            return Err(format!("expected a name of at most {LONGEST} bytes, found `{}`", shorten(new)));
        }
        match identity {
            Identity::Tool(name) => Err(format!("`{}` is a tool of the host, which names it", shorten(name))),
            Identity::Field(name) => {
                Err(format!("`{}` is a field of the data, which names it", shorten(name)))
            }
            Identity::Function(number) => self.rename_function(number, identity, new, options),
            Identity::Slot(function, slot) if self.text.is_some() => {
                self.rename_numbered(function, slot.0, identity, new)
            }
            Identity::Slot(function, _) => self.rename_named(function, identity, new, options),
        }
    }

    fn places(&self, of: Identity<'a>) -> impl Iterator<Item = &Mention<'a>> {
        self.mentions.iter().filter(move |mention| navigate::identity(self, mention) == Some(of))
    }

    fn rename_function(
        &self,
        number: usize,
        identity: Identity<'a>,
        new: &str,
        options: &Options<'_>,
    ) -> Result<Vec<Edit>, String> {
        if self.file.functions.iter().any(|function| function.name.text == new) {
            return Err(format!("another function is named `{}`", shorten(new)));
        }
        let mut quoted = String::new();
        write_name(new, &mut quoted);
        let is_id = self.text.is_some();
        if !is_id && !is_name(new) {
            return Err(format!("`{}` is not a name: write letters, digits, `_` and `-`", shorten(new)));
        }
        let own = self.file.functions.get(number).map_or("", |function| function.name.text);
        let mut edits = Vec::new();
        for mention in self.places(identity) {
            let text = match mention.what {
                What::Function(_) | What::Tool(_, Role::Entry) if is_id => quoted.clone(),
                // In the body of ID text it is the number.
                What::Tool(..) if is_id => continue,
                What::Tool(name, _) if own_function(name).is_some() => {
                    self.at(mention.span).replacen(own, new, 1)
                }
                _ => new.to_owned(),
            };
            edits.push(Edit { span: mention.span, text });
        }
        self.tried(&edits, options)?;
        Ok(edits)
    }

    /// Renames a slot of ID text.
    fn rename_numbered(
        &self,
        function: usize,
        slot: u32,
        identity: Identity<'a>,
        new: &str,
    ) -> Result<Vec<Edit>, String> {
        let mut quoted = String::new();
        write_name(new, &mut quoted);
        let declared =
            |mention: &&Mention<'a>| matches!(mention.what, What::Slot(_, Role::Parameter | Role::Entry));
        let edits: Vec<Edit> = self
            .places(identity)
            .filter(declared)
            .map(|mention| Edit { span: mention.span, text: quoted.clone() })
            .collect();
        let missing = || "this slot cannot be renamed".to_owned();
        let of = self.file.functions.get(function).ok_or_else(missing)?;
        if of.slots.iter().any(|info| info.name == Some(new)) {
            return Err(format!("another slot is named `{}`", shorten(new)));
        }
        let is_parameter = (slot as usize) < of.parameters.len();
        if is_parameter && !self.passed(function, slot).is_empty() {
            let why = "callers of this function pass it by name: rename it in their `Fields` first";
            return Err(why.to_owned());
        }
        if !edits.is_empty() {
            return Ok(edits);
        }
        let number = of.slots.get(slot as usize).and_then(|info| info.number).ok_or_else(missing)?;
        let entry = self.new_entry(function, crate::syntax::registry::NameKind::Vars, number, &quoted);
        entry.map(|edit| vec![edit]).ok_or_else(missing)
    }

    /// The edit that adds an entry to a registry of a function.
    pub(super) fn new_entry(
        &self,
        function: usize,
        kind: crate::syntax::registry::NameKind,
        id: u32,
        name: &str,
    ) -> Option<Edit> {
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

    /// Renames a name of a document.
    fn rename_named(
        &self,
        function: usize,
        identity: Identity<'a>,
        new: &str,
        options: &Options<'_>,
    ) -> Result<Vec<Edit>, String> {
        if !is_name(new) {
            return Err(format!("`{}` is not a name: write letters, digits, `_` and `-`", shorten(new)));
        }
        if FAILURES.contains(&new) || new == INPUT {
            return Err(format!("`{new}` is kept for what it means"));
        }
        let of = self.file.functions.get(function);
        if of.is_some_and(|of| of.slots.iter().any(|info| info.name == Some(new))) {
            return Err(format!("another name of this program is `{}`", shorten(new)));
        }
        let mut edits: Vec<Edit> =
            self.places(identity).map(|mention| Edit { span: mention.span, text: new.to_owned() }).collect();
        let input = if let Identity::Slot(_, slot) = identity { slot.0 } else { u32::MAX };
        let is_parameter = of.is_some_and(|of| (input as usize) < of.parameters.len());
        let passed = self.passed(function, input);
        edits.extend(passed.iter().map(|mention| Edit { span: mention.span, text: new.to_owned() }));
        let (before, after) = self.tried(&edits, options)?;
        if !is_parameter && before != after {
            return Err("this name is used in a way that cannot be renamed".to_owned());
        }
        Ok(edits)
    }

    /// The programs before and after some edits.
    fn tried(&self, edits: &[Edit], options: &Options<'_>) -> Result<(Program, Program), String> {
        let options = Options { from: Some(self.notation), strip: true, ..options.clone() };
        let (before, _) = compile::compile(self.source, &options);
        let Some(before) = before else { return Err("correct the errors of this source first".to_owned()) };
        let whole = crate::diagnostic::Fix { title: String::new(), edits: edits.to_vec() };
        let change = Diagnostic::new(Code::BadStep, Span::default(), "").fix(whole);
        let (source, applied) = fix::apply(self.source, &[change]);
        let after = if applied == 1 { compile::compile(&source, &options).0 } else { None };
        let after = after.ok_or("this name is used in a way that cannot be renamed")?;
        Ok((before, after))
    }
}
