//! Reads the header of a program: its inputs, its output type and what it may call.

use super::entries::Keyed;
use super::reader::StepReader;
use crate::ast::{Name, Need, OutputName, Parameter, TypeName};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::document_names::within;
use crate::dialect::{InputForm, Key, META, is_outcome};
use crate::document::{Kind, Node, Text, entries, first_of, inner, shown};
use crate::notation::Notation;
use crate::span::Span;
use crate::syntax::input_of;
use crate::syntax::inputs::{constant, default_fits};
use ilo_spec::error::Code;
use ilo_spec::types::Base;

impl<'a> StepReader<'_, 'a> {
    /// The keys of `meta`.
    pub(crate) fn meta<'d>(&mut self, top: &Keyed<'d, 'a>, first: Span) -> Keyed<'d, 'a> {
        let Some(meta) = top.get(Key::Meta) else {
            let help = "write `\"meta\": {\"tools\": […], \"input\": {…}, \"output\": …}`";
            self.missing(first, Key::Meta, "a program", help);
            return Keyed::none(Span::default());
        };
        if !matches!(meta.kind, Kind::Record(_)) {
            self.bad_shape(meta, "`meta`", "a record");
            return Keyed::none(Span::default());
        }
        self.keyed(meta, &META, "`meta`")
    }

    pub(crate) fn unnamed(&mut self, name: Option<&Node<'a>>, first: Span) {
        match name {
            Some(node) if node.text() == Some("") => self.report(
                Diagnostic::new(Code::BadShape, node.span, "a function's name is empty")
                    .expected("a name", "an empty text")
                    .help("name it after what it does: calls and `--fn` go by that"),
            ),
            Some(node) => self.bad_shape(node, "a function's name", "a text"),
            None => self.missing(first, Key::Name, "a program", "give the function a name"),
        }
    }

    pub(crate) fn parameters(&mut self, node: Option<&Node<'a>>) -> &'a [Parameter<'a>] {
        let Some(node) = node else { return &[] };
        if matches!(node.kind, Kind::Null) {
            return &[];
        }
        let is_deep = |node: &Node<'a>| matches!(node.kind, Kind::Record(_) | Kind::List(_));
        let odd =
            matches!(node.kind, Kind::List(_)) || entries(node).iter().any(|entry| is_deep(&entry.value));
        let node = self.shaped(Key::Input, node, odd);
        if !matches!(node.kind, Kind::Record(_)) {
            let what = format!("`{}`", self.dialect.word(Key::Input));
            self.bad_shape(node, &what, "a record of names and types");
            return &[];
        }
        let mut parameters = Vec::new();
        for entry in entries(node) {
            let text = match entry.key.kind {
                Kind::Text(text) => text.text,
                _ => self.arena.alloc_str(&shown(&entry.key)),
            };
            let (ty, mut need) = self.input(&entry.value);
            let mut name = Name { text, span: inner(&entry.key) };
            if let Some(text) = text.strip_suffix('?').filter(|name| !name.is_empty()) {
                let span = Span::new(name.span.start, name.span.end.saturating_sub(1));
                name = Name { text, span };
                need = if matches!(need, Need::Default(_)) { need } else { Need::Optional };
            }
            if parameters.iter().any(|other: &Parameter<'a>| other.name.text == name.text) {
                let message = format!("two inputs have the name `{}`", name.text);
                self.report(
                    Diagnostic::new(Code::DuplicateParameter, name.span, message)
                        .expected("a name that is free", name.text)
                        .help("rename one of them"),
                );
            }
            parameters.push(Parameter { name, ty, need });
        }
        self.arena.alloc_slice_copy(&parameters)
    }

    /// Reads the text of a type. If the text has no position of its own in the source (it contains escapes,
    /// for example), its errors get the position of the whole value.
    fn typed<T>(
        &mut self,
        node: &Node<'a>,
        read: impl FnOnce(&'a str, Span, &mut Diagnostics) -> T,
    ) -> Option<T> {
        match node.kind {
            Kind::Text(Text { text, start: Some(start), .. }) => {
                let end = start.saturating_add(u32::try_from(text.len()).unwrap_or(u32::MAX));
                Some(read(self.source, Span::new(start, end), self.diagnostics))
            }
            Kind::Text(Text { text, .. }) => {
                let mut found = Diagnostics::default();
                let whole = Span::new(0, u32::try_from(text.len()).unwrap_or(u32::MAX));
                let ty = read(text, whole, &mut found);
                for diagnostic in found.as_slice() {
                    let placed = Diagnostic { span: node.span, fix: None, ..diagnostic.clone() };
                    self.diagnostics.push(placed);
                }
                Some(ty)
            }
            Kind::Null => Some(read("nil", Span::new(0, 3), self.diagnostics)),
            _ => {
                self.report(
                    Diagnostic::new(Code::BadShape, first_of(node), "a type is a text")
                        .expected("a text, such as `number` or `list text`", node.kind_name())
                        .help(
                            "the type of a record is any name, such as `user`, or lists its fields: `{id: number}`",
                        ),
                );
                None
            }
        }
    }

    /// The type of an input, and what it takes besides.
    fn input(&mut self, node: &Node<'a>) -> (TypeName<'a>, Need<'a>) {
        let arena = self.arena;
        let form = crate::dialect::input_form(node);
        let of = form.as_ref().map_or(*node, |form| *form.ty);
        let of = if crate::dialect::lists_fields(&of) {
            let mut text = String::new();
            type_of(&of, &mut text);
            Node::of_text(arena.alloc_str(&text), of.span)
        } else {
            of
        };
        let read = self.typed(&of, |source, span, found| input_of(source, span, arena, found));
        let (ty, need) = read.unwrap_or((TypeName::implied(Base::Any, node.span), Need::Required));
        let ty = TypeName { span: node.span, ..ty };
        let need = match form {
            None => need,
            Some(InputForm { default: Some(default), .. }) if !matches!(default.kind, Kind::Null) => {
                let constant = constant(default, arena);
                default_fits(&ty, &constant, self.diagnostics);
                Need::Default(arena.alloc(constant))
            }
            Some(InputForm { optional, .. }) => match need {
                Need::Required if optional => Need::Optional,
                Need::Required => Need::Nullable,
                other => other,
            },
        };
        (ty, need)
    }

    pub(crate) fn output_type(&mut self, node: &Node<'a>) -> OutputName<'a> {
        let node = self.shaped(Key::Output, node, matches!(node.kind, Kind::Record(_) | Kind::List(_)));
        let read = self.typed(node, crate::syntax::output_of);
        let none = OutputName { ok: TypeName::implied(Base::Any, node.span), err: None, span: node.span };
        read.map_or(none, |output| OutputName {
            ok: TypeName { span: node.span, ..output.ok },
            err: output.err.map(|err| TypeName { span: node.span, ..err }),
            span: node.span,
        })
    }

    /// The output type of a program without one: anything, as a result if a step returns an outcome.
    pub(crate) fn no_output(&mut self, program: &Node<'a>, first: Span) -> OutputName<'a> {
        let ok = TypeName::implied(Base::Any, first);
        let err = self.returns_outcome(program).then_some(ok);
        let form = if err.is_some() { "`result any any`" } else { "`any`" };
        let message = format!("`{}` is missing in a program: read as {form}", self.dialect.word(Key::Output));
        let wrong = Diagnostic::new(Code::OtherNotation, first, message);
        let help = "write the type that the function returns, such as `nil`, `text`, or `result nil text`";
        self.report(wrong.expected(form, "a program without it").help(help));
        OutputName { ok, err, span: first }
    }

    /// Whether a step of a program returns a success or a failure as such.
    fn returns_outcome(&self, program: &Node<'a>) -> bool {
        let only = |node: &Node<'a>, is: fn(&str) -> bool| matches!(entries(node), [one] if one.is(is));
        let of_mcp = self.dialect.notation == Notation::Mcp;
        within(program).flat_map(|node| entries(&node)).any(|entry| {
            entry.is(|key| matches!(key, "return" | "ret")) && only(&entry.value, is_outcome)
                || of_mcp && entry.is(|key| key == "err")
        })
    }

    /// The list of what may be called.
    pub(crate) fn allowed(&mut self, node: &Node<'a>) -> Option<&'a [Name<'a>]> {
        let Kind::List(items) = &node.kind else {
            if !matches!(node.kind, Kind::Null) {
                let word = self.dialect.word(Key::Deps);
                self.bad_shape(node, &format!("`{word}`"), "a list of names");
            }
            return None;
        };
        let mut names = Vec::new();
        let mut complete = true;
        for item in *items {
            let item = self.shaped(Key::Deps, item, matches!(item.kind, Kind::Record(_)));
            match item.text() {
                Some(text) if text.contains('*') => {
                    complete = false;
                    self.report(
                        Diagnostic::new(
                            Code::BadShape,
                            item.span,
                            "what may be called is listed name by name",
                        )
                        .expected("the name of each tool", format!("`{}`", shown(item)))
                        .help("write a name for each tool, or leave the list out"),
                    );
                }
                Some(text) => {
                    let name = Name { text, span: inner(item) };
                    names.push(self.unnamed_function(name).map_or(name, |(_, function)| function));
                }
                None => {
                    complete = false;
                    self.bad_shape(item, "what may be called", "a name, a text");
                }
            }
        }
        complete.then(|| &*self.arena.alloc_slice_copy(&names))
    }
}

/// Writes the type of a record that lists its fields, as a text.
fn type_of(node: &Node<'_>, out: &mut String) {
    match &node.kind {
        Kind::Record(fields) => {
            out.push('{');
            for (at, field) in fields.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                let key = shown(&field.key);
                let (name, mark) = key.strip_suffix('?').map_or((&*key, ""), |name| (name, "?"));
                crate::syntax::write::write_parameter(name, out);
                out.push_str(mark);
                out.push_str(": ");
                type_of(&field.value, out);
            }
            out.push('}');
        }
        Kind::List([item]) => {
            out.push_str("list ");
            type_of(item, out);
        }
        Kind::Null => out.push_str("nil"),
        _ => out.push_str(node.text().unwrap_or("")),
    }
}
