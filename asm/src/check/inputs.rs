//! The inputs of a function whose types list the fields of records, as shapes.

use crate::ast::{Function, Parameter, TypeName};
use crate::catalog::{Builder, BuiltPart, Declared};
use crate::types::Inferred;
use ilo_spec::pure::Kinds;

/// The inputs whose types list fields, by name.
pub(super) type Inputs<'t, 'a> = &'t [(&'a str, Declared)];

/// The inputs of a function whose types list fields.
pub(super) fn inputs_of<'a>(function: &Function<'a>) -> Vec<(&'a str, Declared)> {
    let listed = function.parameters.iter().filter(|input| !input.ty.fields.is_empty());
    let shape = |input: &Parameter<'a>| {
        let mut builder = Builder::new();
        let whole = part(&input.ty, false, &mut builder);
        (input.name.text, builder.finish(input.name.text, whole))
    };
    listed.map(shape).collect()
}

/// A part of a shape. The reader limits the nesting of records.
fn part(ty: &TypeName<'_>, nullable: bool, builder: &mut Builder) -> BuiltPart {
    let lists = ty.ty.lists;
    let nil = |outermost: bool| if nullable && outermost { Kinds::NIL } else { Kinds::NONE };
    let kinds = Inferred { lists: 0, ..Inferred::from(ty.ty) }.kinds();
    let mut built = if !ty.fields.is_empty() {
        let fields = ty.fields.iter().map(|field| {
            let value = part(&field.ty, field.nullable, builder);
            (field.name.text, field.optional, value)
        });
        let fields = fields.collect();
        builder.record(fields, nil(lists == 0))
    } else if kinds == Kinds::ANY {
        Builder::ANY
    } else {
        builder.plain(kinds.or(nil(lists == 0)))
    };
    for list in 1..=lists {
        built = builder.list(built, nil(list == lists));
    }
    built
}
