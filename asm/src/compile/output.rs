//! The value that a host expects of the function that it will run, as a JSON Schema.
//!
//! The check compares what is known before the run: the declared output, and each part of a value that is
//! written where the function returns it. The rest is compared when the run ends with it.

use crate::ast::{
    Block, Bound, Control, Expr, ExprKind, Field, File, Literal, Name, ReturnKind, StmtKind, TypeName,
};
use crate::catalog::{OutputSchema, SchemaShape};
use crate::check::{Checked, misfit, text_of};
use crate::compile::expected::named_or_only;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::rules::of_shape;
use crate::span::Span;
use crate::text::shorten;
use crate::types::Inferred;
use ilo_spec::error::Code;
use ilo_spec::pure::Kinds;
use ilo_spec::types::Type;

/// The most differences that are reported.
const MOST: usize = 20;

/// Reports where the function that a host will run gives another value than it expects. `named` is the
/// function that the host calls, if it says so.
pub(super) fn compare(
    expected: &OutputSchema,
    file: &File<'_>,
    checked: &Checked,
    named: Option<&str>,
    diagnostics: &mut Diagnostics,
) {
    let Some(function) = named_or_only(named, file, checked) else { return };
    let wanted = expected.shape();
    let mut found = Found { all: Vec::new(), path: Vec::new(), wanted };
    found.declared(&function.output.ok, wanted);
    // The value at the end of a function without failures is its value.
    found.block(&function.body, function.output.err.is_none());
    found.all.into_iter().for_each(|found| diagnostics.push(found));
}

/// The differences of a function.
struct Found<'s, 'a> {
    all: Vec<Diagnostic>,
    /// The path to the part of the value that is looked at.
    path: Vec<&'a str>,
    /// The whole value that the host expects.
    wanted: SchemaShape<'s>,
}

impl<'s, 'a> Found<'s, 'a> {
    fn push(&mut self, span: Span, what: &str, expected: &str, found: &str) {
        if self.all.len() == MOST {
            return;
        }
        let part = match self.path.as_slice() {
            [] => "the value".to_owned(),
            path => format!("`{}` of the value", path.join(".")),
        };
        let help = format!("the host expects `{}`", self.wanted.written());
        let wrong = Diagnostic::new(Code::OtherSignature, span, format!("{part} {what}"));
        self.all.push(wrong.expected(format!("`{}`", shorten(expected)), format!("`{found}`")).help(help));
    }

    /// Compares a declared type.
    fn declared(&mut self, own: &TypeName<'a>, wanted: SchemaShape<'s>) {
        if wanted.is_any() || own.ty == Type::ANY && own.fields.is_empty() {
            return;
        }
        let kinds = kinds_of(own);
        if !wanted.kinds().meets(kinds) {
            let what = "has another type than its host expects";
            return self.push(own.span, what, &wanted.written(), &own.ty.to_string());
        }
        if own.ty.lists > 0 {
            let item = wanted.item();
            let inner = own.ty.item().unwrap_or(own.ty);
            return self.declared(&TypeName { ty: inner, ..*own }, item);
        }
        if own.fields.is_empty() {
            return;
        }
        for field in own.fields {
            self.field(field.name, wanted, |this, shape| {
                if !(field.nullable && shape.kinds().meets(Kinds::NIL)) {
                    this.declared(&field.ty, shape);
                }
            });
        }
        self.lacking(own.span, wanted, |name| own.fields.iter().any(|field| field.name.text == name));
    }

    /// Compares what a block returns, and its value if that is the value of the function.
    fn block(&mut self, block: &Block<'a>, is_value: bool) {
        let last = block.statements.len().wrapping_sub(1);
        for (at, statement) in block.statements.iter().enumerate() {
            let is_value = is_value && at == last;
            match &statement.kind {
                StmtKind::Return(ReturnKind::Plain | ReturnKind::Ok, value) => self.value(value, self.wanted),
                StmtKind::Value(value) if is_value => self.value(value, self.wanted),
                StmtKind::Control(control) => self.control(control, is_value),
                StmtKind::Let { value: Bound::Control(control), .. } => self.control(control, false),
                _ => {}
            }
        }
    }

    fn control(&mut self, control: &Control<'a>, is_value: bool) {
        // The value of a loop is the list of those of its passes.
        let is_value = is_value && !matches!(control, Control::For(_));
        control.blocks().for_each(|(_, block)| self.block(block, is_value));
    }

    /// Compares a value that is written in the source.
    fn value(&mut self, value: &Expr<'a>, wanted: SchemaShape<'s>) {
        if wanted.is_any() {
            return;
        }
        let takes = |kind| wanted.kinds().meets(kind);
        match &value.kind {
            ExprKind::Record(fields) if takes(Kinds::RECORD) => {
                let wanted = wanted.arm(|name| text_of(fields, name));
                self.fields(fields, wanted);
                self.lacking(value.span, wanted, |name| fields.iter().any(|field| field.name.text == name));
            }
            ExprKind::Merge(_, fields) if takes(Kinds::RECORD) => {
                self.fields(fields, wanted.arm(|name| text_of(fields, name)));
            }
            ExprKind::List(items) if takes(Kinds::LIST) => {
                items.iter().for_each(|item| self.value(item, wanted.item()));
            }
            ExprKind::Record(_) | ExprKind::Merge(..) => self.other(value.span, wanted, "a record"),
            ExprKind::List(_) => self.other(value.span, wanted, "a list"),
            ExprKind::Template(_) if !takes(Kinds::TEXT) => self.other(value.span, wanted, "a text"),
            ExprKind::MatchMap(map) => {
                map.cases.iter().for_each(|case| self.value(&case.value, wanted));
                if let Some(value) = &map.default {
                    self.value(value, wanted);
                }
            }
            ExprKind::Literal(literal) if refuses(wanted, *literal) => {
                self.other(value.span, wanted, &literal.shown());
            }
            _ => {}
        }
    }

    fn other(&mut self, span: Span, wanted: SchemaShape<'s>, found: &str) {
        self.push(span, "is not what its host expects", &wanted.written(), found);
    }

    fn fields(&mut self, fields: &[Field<'a>], wanted: SchemaShape<'s>) {
        for field in fields {
            self.field(field.name, wanted, |this, shape| {
                if !(wanted.omits_nil(field.name.text) && field.value.is_nil()) {
                    this.value(&field.value, shape);
                }
            });
        }
    }

    /// Compares a field, whose value `each` compares with its shape.
    fn field(
        &mut self,
        name: Name<'a>,
        wanted: SchemaShape<'s>,
        each: impl FnOnce(&mut Self, SchemaShape<'s>),
    ) {
        if let Some((shape, _)) = wanted.field(name.text) {
            self.path.push(name.text);
            each(self, shape);
            self.path.pop();
        } else if wanted.refuses_others() {
            let what = format!("has the field `{}`, which its host does not expect", name.text);
            let names: Vec<&str> = wanted.names().collect();
            self.push(name.span, &what, &names.join(", "), name.text);
        }
    }

    fn lacking(&mut self, span: Span, wanted: SchemaShape<'s>, has: impl Fn(&str) -> bool) {
        for field in wanted.required().filter(|field| !has(field.name)) {
            let expected = format!("{}: {}", field.name, field.shape.written());
            self.push(span, &format!("lacks the field `{}`", field.name), &expected, "no such field");
        }
    }
}

/// The kinds of the values of a declared type.
fn kinds_of(own: &TypeName<'_>) -> Kinds {
    let is_record = own.ty.lists == 0 && !own.fields.is_empty();
    if is_record { Kinds::RECORD } else { Inferred::from(own.ty).kinds() }
}

fn refuses(wanted: SchemaShape<'_>, literal: Literal<'_>) -> bool {
    !of_shape(wanted).accepts(Inferred::from(literal.ty())) || misfit(literal, wanted).is_some()
}
