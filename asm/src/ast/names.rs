//! A visitor of all names of a function: where it binds and reads slots, calls tools, and names fields and
//! types.

use super::{
    Arm, Block, Call, Control, Expr, ExprKind, Field, Function, Name, Slot, Stmt, StmtKind, TypeName,
};
use crate::span::Span;

/// What a name in a function refers to.
#[derive(Clone, Copy, Debug)]
pub enum NameUse<'a> {
    /// The function, in its header.
    Function(Name<'a>),
    /// A parameter, in the header.
    Parameter(Slot, Name<'a>),
    /// A type in the header.
    Type(TypeName<'a>),
    /// A tool in the list of those that the function may call.
    Allowed(Name<'a>),
    /// A slot that is bound.
    Bind(Slot),
    /// A slot that is read. The span is that of the whole reference, which begins with the name of the slot.
    Read(Slot),
    /// A slot whose result a MATCH handles.
    Match(Slot),
    /// The callee of a call.
    Callee(&'a Call<'a>),
    /// An argument of a call.
    Argument(&'a Call<'a>, Name<'a>),
    /// A field that is read from a record, or tested by HAS.
    Field(&'a Expr<'a>, Name<'a>),
    /// A field of a record that the function builds.
    Key(Name<'a>),
}

impl<'a> Function<'a> {
    /// Visits each name with its span, almost in source order.
    pub fn each_name(&self, each: &mut impl FnMut(NameUse<'a>, Span)) {
        each(NameUse::Function(self.name), self.name.span);
        for (number, parameter) in (0..).zip(self.parameters) {
            each(NameUse::Parameter(Slot(number), parameter.name), parameter.name.span);
            each(NameUse::Type(parameter.ty), parameter.ty.span);
        }
        for ty in [Some(self.output.ok), self.output.err].into_iter().flatten() {
            each(NameUse::Type(ty), ty.span);
        }
        for &name in self.allowed.unwrap_or_default() {
            each(NameUse::Allowed(name), name.span);
        }
        block(&self.body, each);
    }
}

fn block<'a>(of: &Block<'a>, each: &mut impl FnMut(NameUse<'a>, Span)) {
    of.statements.iter().for_each(|one| statement(one, each));
}

fn statement<'a>(of: &Stmt<'a>, each: &mut impl FnMut(NameUse<'a>, Span)) {
    if let StmtKind::Let { slot, slot_span, .. } = of.kind {
        each(NameUse::Bind(slot), slot_span);
    }
    match of.kind {
        StmtKind::Undo(of) | StmtKind::Rollback(of) => call(of, each),
        _ => of.each_value(|value| expression(value, each)),
    }
    of.control().into_iter().for_each(|node| control(node, each));
}

fn control<'a>(of: &Control<'a>, each: &mut impl FnMut(NameUse<'a>, Span)) {
    match of {
        Control::If(_) => of.blocks().for_each(|(_, inner)| block(inner, each)),
        Control::Match(node) => {
            each(NameUse::Match(node.slot), node.slot_span);
            for Arm { bind, bind_span, body, .. } in [&node.err, &node.ok].into_iter().flatten() {
                each(NameUse::Bind(*bind), *bind_span);
                block(body, each);
            }
        }
        Control::Try(node) => {
            block(&node.body, each);
            each(NameUse::Bind(node.handler.bind), node.handler.bind_span);
            block(&node.handler.body, each);
        }
        Control::For(node) => {
            each(NameUse::Bind(node.item), node.item_span);
            of.blocks().for_each(|(_, inner)| block(inner, each));
        }
    }
}

fn call<'a>(of: &'a Call<'a>, each: &mut impl FnMut(NameUse<'a>, Span)) {
    each(NameUse::Callee(of), of.tool.span);
    for Field { name, value } in of.arguments {
        each(NameUse::Argument(of, *name), name.span);
        expression(value, each);
    }
}

fn keys<'a>(fields: &[Field<'a>], each: &mut impl FnMut(NameUse<'a>, Span)) {
    for Field { name, value } in fields {
        each(NameUse::Key(*name), name.span);
        expression(value, each);
    }
}

fn expression<'a>(of: &Expr<'a>, each: &mut impl FnMut(NameUse<'a>, Span)) {
    match of.kind {
        ExprKind::Ref(slot) => each(NameUse::Read(slot), of.span),
        ExprKind::Field(record, name) | ExprKind::Has(record, name) => {
            expression(record, each);
            each(NameUse::Field(record, name), name.span);
        }
        ExprKind::Call(made) => call(made, each),
        ExprKind::Record(fields) => keys(fields, each),
        ExprKind::Merge(base, fields) => {
            expression(base, each);
            keys(fields, each);
        }
        _ => of.children(|child| expression(child, each)),
    }
}
