//! The header of a program: its inputs, its output type and what it may call.

use super::keyed::Keyed;
use super::reader::StepReader;
use crate::ast::{Name, OutputName, Parameter, TypeName};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::{Key, META};
use crate::document::{Kind, Node, Text};
use crate::document::{entries, first_of, inner, shown};
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::types::Base;

impl<'a> StepReader<'_, 'a> {
    /// What stands in `meta`.
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
        if let Kind::List(items) = node.kind
            && let Some(declared) = self.declared(node, items)
        {
            return declared;
        }
        if !matches!(node.kind, Kind::Record(_)) {
            self.no_inputs(node);
            return &[];
        }
        let schema = self.schema(node);
        let node = schema.unwrap_or(node);
        let mut parameters = Vec::new();
        for entry in entries(node) {
            let text = match entry.key.kind {
                Kind::Text(text) => text.text,
                _ => self.arena.alloc_str(&shown(&entry.key)),
            };
            let told = schema.and_then(|_| schema_type(&entry.value));
            let ty = match told {
                Some(ty) => {
                    let ty = apart(self.arena.alloc_str(&ty), input_type);
                    TypeName { span: entry.value.span, ..ty }
                }
                None => self.type_name(&entry.value),
            };
            parameters.push(Parameter { name: Name { text, span: inner(&entry.key) }, ty });
        }
        self.arena.alloc_slice_copy(&parameters)
    }

    /// The text of a type and its place; what has no place of its own is read apart.
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
            _ => match schema_type(node) {
                Some(ty) => {
                    self.not_schema(node, "a type is a text", &format!("`{ty}`"), quoted(&ty));
                    Some(apart(self.arena.alloc_str(&ty), read))
                }
                None => {
                    let wrong = Diagnostic::new(Code::BadShape, first_of(node), "a type is a text")
                        .expected("a text, such as `number` or `list text`", node.kind_name());
                    self.report(wrong.help(
                        "the type of a record is any name, such as `user`: which fields it has is not said",
                    ));
                    None
                }
            },
        }
    }

    /// Reports inputs that are no record.
    fn no_inputs(&mut self, node: &Node<'a>) {
        let word = self.dialect.word(Key::Input);
        let message = format!("`{word}` is a record of names and types");
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), message)
            .expected("a record of names and types", node.kind_name());
        let names: Option<Vec<String>> = match node.kind {
            Kind::List(items) => {
                items.iter().map(|item| Some(format!("{}: \"any\"", quoted(item.text()?)))).collect()
            }
            _ => None,
        };
        let form = names.filter(|names| !names.is_empty() && names.len() <= 8);
        self.report(match form {
            Some(names) => {
                wrong.help(format!("write `{{{}}}`, or the type of each in place of `any`", names.join(", ")))
            }
            None => wrong.help("write each input as its name and its type; `{}` where there is none"),
        });
        // What they are called is not known: nothing more is said of that.
        if let Kind::List(items) = node.kind {
            items.iter().filter_map(Node::text).for_each(|name| self.scope.lose(name));
        }
    }

    /// Inputs as a list of records with name and type: says how they are written, and reads them as that.
    fn declared(&mut self, node: &Node<'a>, items: &'a [Node<'a>]) -> Option<&'a [Parameter<'a>]> {
        let pair = |item: &'a Node<'a>| {
            let ty = member(item, "type")?;
            Some((member(item, "name")?.text()?, plain_type(ty).or_else(|| schema_type(item))?, ty.span))
        };
        let pairs: Vec<(&'a str, String, Span)> = items.iter().map(pair).collect::<Option<_>>()?;
        if pairs.is_empty() {
            return None;
        }
        let types: Vec<String> =
            pairs.iter().map(|(name, ty, _)| format!("{}: {}", quoted(name), quoted(ty))).collect();
        let mended = format!("{{{}}}", types.join(", "));
        let what = format!("`{}` is a record of names and types", self.dialect.word(Key::Input));
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), what)
            .expected(format!("`{mended}`"), "a list of records");
        let flow = self.source.get(node.span.range()).is_some_and(|text| text.starts_with('['));
        self.report(if flow {
            wrong.replace(node.span, mended)
        } else {
            wrong.help("write each input as `name: type`")
        });
        let parameters: Vec<Parameter<'a>> = pairs
            .into_iter()
            .map(|(text, ty, span)| {
                let ty = apart(self.arena.alloc_str(&ty), input_type);
                Parameter { name: Name { text, span }, ty: TypeName { span, ..ty } }
            })
            .collect();
        Some(self.arena.alloc_slice_copy(&parameters))
    }

    /// Inputs as a JSON schema has them: says how they are written, and gives back its properties.
    fn schema<'d>(&mut self, node: &'d Node<'a>) -> Option<&'d Node<'a>> {
        member(node, "type")?.text().filter(|&ty| ty == "object")?;
        let properties = member(node, "properties")?;
        let types = entries(properties).iter().map(|entry| {
            let ty = entry.value.text().map(str::to_owned).or_else(|| schema_type(&entry.value));
            Some(format!("{}: {}", quoted(entry.name()?), quoted(&ty?)))
        });
        let types: Vec<String> = types.collect::<Option<_>>()?;
        let mended = format!("{{{}}}", types.join(", "));
        let word = self.dialect.word(Key::Input);
        self.not_schema(
            node,
            &format!("`{word}` is a record of names and types"),
            &format!("`{mended}`"),
            mended.clone(),
        );
        Some(properties)
    }

    /// Reports a JSON schema where names and types stand.
    fn not_schema(&mut self, node: &Node<'a>, what: &str, expected: &str, mended: String) {
        let message = format!("{what}, and no schema");
        let wrong =
            Diagnostic::new(Code::BadShape, first_of(node), message).expected(expected, node.kind_name());
        let is_flow = self.source.get(node.span.range()).is_some_and(|text| text.starts_with(['{', '[']));
        self.report(if is_flow {
            wrong.replace(node.span, mended)
        } else {
            wrong.help(format!("write {expected}"))
        });
    }

    fn type_name(&mut self, node: &Node<'a>) -> TypeName<'a> {
        let read = self.typed(node, input_type);
        read.map_or(TypeName::implied(Base::Any, node.span), |ty| TypeName { span: node.span, ..ty })
    }

    pub(crate) fn output_type(&mut self, node: &Node<'a>) -> OutputName<'a> {
        let read = self.typed(node, crate::syntax::output_of);
        let none = OutputName { ok: TypeName::implied(Base::Any, node.span), err: None, span: node.span };
        read.map_or(none, |output| OutputName {
            ok: TypeName { span: node.span, ..output.ok },
            err: output.err.map(|err| TypeName { span: node.span, ..err }),
            span: node.span,
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
        let mut known = true;
        for item in *items {
            match item.text() {
                Some(text) if text.contains('*') => {
                    known = false;
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
                    known = false;
                    self.described_tool(item);
                }
            }
        }
        known.then(|| &*self.arena.alloc_slice_copy(&names))
    }

    /// Reports something that is no text in the list of what may be called.
    fn described_tool(&mut self, item: &Node<'a>) {
        let name = member(item, "name").or(member(item, "tool")).and_then(Node::text);
        let wrong = Diagnostic::new(Code::BadShape, first_of(item), "what may be called is a name, a text")
            .expected("a name", item.kind_name());
        let flow = self.source.get(item.span.range()).is_some_and(|text| text.starts_with('{'));
        self.report(match name {
            Some(name) if flow => wrong.replace(item.span, quoted(name)),
            Some(name) => wrong.help(format!("write `{name}` alone")),
            None => wrong.help("what a tool takes and gives is said by its server, or in the tools file"),
        });
    }
}

fn input_type<'a>(source: &'a str, span: Span, found: &mut Diagnostics) -> TypeName<'a> {
    crate::syntax::type_of(source, span, "an input's type", found)
}

/// Reads the text of a type that stands in no source.
fn apart<'a, T>(text: &'a str, read: impl FnOnce(&'a str, Span, &mut Diagnostics) -> T) -> T {
    let whole = Span::new(0, u32::try_from(text.len()).unwrap_or(u32::MAX));
    read(text, whole, &mut Diagnostics::default())
}

/// The value of a key.
fn member<'d, 'a>(node: &'d Node<'a>, name: &str) -> Option<&'d Node<'a>> {
    entries(node).iter().find(|entry| entry.name() == Some(name)).map(|entry| &entry.value)
}

/// The type that `{"type": "string"}` or `["text"]` means.
fn schema_type(node: &Node<'_>) -> Option<String> {
    if let Kind::List([item]) = node.kind {
        return Some(format!("list {}", schema_type(item).or_else(|| plain_type(item))?));
    }
    let ty = plain_type(member(node, "type")?)?;
    if ty != "array" {
        return Some(ty);
    }
    let items = member(node, "items").and_then(schema_type);
    Some(format!("list {}", items.as_deref().unwrap_or("any")))
}

/// A type's name, that of a JSON schema or one of ours.
fn plain_type(node: &Node<'_>) -> Option<String> {
    let ty = match node.text()? {
        "string" => "text",
        "integer" => "number",
        "boolean" => "bool",
        "null" => "nil",
        other => other,
    };
    crate::text::is_name(ty).then(|| ty.to_owned())
}

/// A text as JSON has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    crate::text::quote(text, &mut quoted);
    quoted
}
