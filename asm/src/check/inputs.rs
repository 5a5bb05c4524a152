//! The inputs of functions whose types list the fields of records, as shapes.

use crate::ast::{File, TypeName};
use crate::catalog::{Builder, BuiltPart, Declared, Shape};
use crate::types::Inferred;
use ilo_spec::pure::Kinds;

/// The inputs of a function whose types list fields: the function, their names and shapes.
pub(super) type Inputs<'t, 'a> = &'t [(u32, &'a str, Declared)];

/// The inputs of all functions of a file whose types list fields.
pub(super) struct RecordInputs<'a>(Vec<(u32, &'a str, Declared)>);

impl<'a> RecordInputs<'a> {
    pub(super) fn of(file: &File<'a>) -> RecordInputs<'a> {
        let mut all = Vec::new();
        for (number, function) in (0..).zip(file.functions) {
            for input in function.parameters.iter().filter(|input| !input.ty.fields.is_empty()) {
                let mut builder = Builder::new();
                let whole = part(&input.ty, false, &mut builder);
                all.push((number, input.name.text, builder.finish(input.name.text, whole)));
            }
        }
        RecordInputs(all)
    }

    /// Those of a function.
    pub(super) fn of_function(&self, number: u32) -> Inputs<'_, 'a> {
        let start = self.0.partition_point(|(of, ..)| *of < number);
        let rest = self.0.get(start..).unwrap_or_default();
        rest.get(..rest.partition_point(|(of, ..)| *of == number)).unwrap_or_default()
    }
}

/// The shape of an input, if its type lists fields.
pub(super) fn shape_of<'t>(inputs: Inputs<'t, '_>, name: &str) -> Option<Shape<'t>> {
    inputs.iter().find(|(_, input, _)| *input == name).map(|(.., declared)| declared.shape())
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
