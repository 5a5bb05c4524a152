//! The shape of an input whose type lists the fields of a record.

use super::reading::record;
use super::shape::{ANYTHING, Constraints, ListedField, NodeId, SchemaShape, Shapes};
use crate::ast::{Function, TypeName};
use crate::types::Inferred;
use ilo_spec::pure::Kinds;

/// The shape of an input, or of all inputs of a function.
#[derive(Debug)]
pub struct Declared(Shapes);

impl Declared {
    /// The input of this name.
    pub(crate) fn input(name: &str, ty: &TypeName<'_>) -> Declared {
        let mut nodes = vec![Constraints::ANY];
        let whole = part(ty, false, &mut nodes);
        Declared::new(name, nodes, whole)
    }

    /// The inputs of a function as the fields of a record, without the nil that some take.
    pub fn inputs(function: &Function<'_>) -> Declared {
        let mut nodes = vec![Constraints::ANY];
        let inputs = function.parameters.iter();
        let fields = inputs.map(|input| {
            let node = part(&input.ty, false, &mut nodes);
            listed(input.name.text, input.may_be_absent(), node)
        });
        let fields = record(fields.collect(), None, true);
        let whole =
            add(&mut nodes, Constraints { kinds: Kinds::RECORD, record: Some(fields), ..Constraints::ANY });
        Declared::new(function.name.text, nodes, whole)
    }

    fn new(name: &str, nodes: Vec<Constraints>, whole: NodeId) -> Declared {
        let tool = name.to_owned();
        Declared(Shapes { tool, declared: true, nodes, input: whole, output: whole, misused: None })
    }

    /// The shape.
    pub fn shape(&self) -> SchemaShape<'_> {
        SchemaShape::new(&self.0, self.0.output)
    }
}

fn add(nodes: &mut Vec<Constraints>, node: Constraints) -> NodeId {
    nodes.push(node);
    NodeId::try_from(nodes.len() - 1).unwrap_or(ANYTHING)
}

fn listed(name: &str, optional: bool, node: NodeId) -> ListedField {
    ListedField { name: name.into(), required: !optional, optional, node }
}

/// A part of a shape. The reader limits the nesting of records.
fn part(ty: &TypeName<'_>, nullable: bool, nodes: &mut Vec<Constraints>) -> NodeId {
    let lists = ty.ty.lists;
    let nil = |outermost: bool| if nullable && outermost { Kinds::NIL } else { Kinds::NONE };
    let kinds = Inferred { lists: 0, ..Inferred::from(ty.ty) }.kinds();
    let mut built = if !ty.fields.is_empty() {
        let fields = ty
            .fields
            .iter()
            .map(|field| listed(field.name.text, field.optional, part(&field.ty, field.nullable, nodes)));
        let fields = record(fields.collect(), None, true);
        add(
            nodes,
            Constraints {
                kinds: Kinds::RECORD.or(nil(lists == 0)),
                record: Some(fields),
                ..Constraints::ANY
            },
        )
    } else if kinds == Kinds::ANY {
        ANYTHING
    } else {
        add(nodes, Constraints { kinds: kinds.or(nil(lists == 0)), ..Constraints::ANY })
    };
    for list in 1..=lists {
        built = add(
            nodes,
            Constraints { kinds: Kinds::LIST.or(nil(list == lists)), items: built, ..Constraints::ANY },
        );
    }
    built
}
