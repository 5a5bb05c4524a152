//! The shape of an input whose type lists the fields of a record, built from the inside out.

use super::reading::record;
use super::shape::{ANYTHING, ListedField, Node, NodeId, SchemaShape, Shapes};
use ilo_spec::pure::Kinds;

/// The shape of an input, or of all inputs of a function.
#[derive(Debug)]
pub struct Declared(Shapes);

/// A part of a shape that is being built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part(NodeId);

/// Builds the shape of an input.
pub(crate) struct Builder {
    nodes: Vec<Node>,
}

impl Declared {
    /// The shape.
    pub fn shape(&self) -> SchemaShape<'_> {
        SchemaShape::new(&self.0, self.0.output)
    }
}

impl Builder {
    /// A value about which nothing is known.
    pub(crate) const ANY: Part = Part(ANYTHING);

    pub(crate) fn new() -> Builder {
        Builder { nodes: vec![Node::ANY] }
    }

    fn push(&mut self, node: Node) -> Part {
        self.nodes.push(node);
        Part(NodeId::try_from(self.nodes.len() - 1).unwrap_or(ANYTHING))
    }

    /// A value of these kinds.
    pub(crate) fn plain(&mut self, kinds: Kinds) -> Part {
        self.push(Node { kinds, ..Node::ANY })
    }

    /// A list of such items, or a value of the other kinds.
    pub(crate) fn list(&mut self, Part(items): Part, others: Kinds) -> Part {
        self.push(Node { kinds: Kinds::LIST.or(others), items, ..Node::ANY })
    }

    /// A record with these fields and no others, or a value of the other kinds. A field has its name, whether
    /// it may be absent, and its value.
    pub(crate) fn record(&mut self, fields: Vec<(&str, bool, Part)>, others: Kinds) -> Part {
        let listed = |(name, optional, Part(node)): (&str, bool, Part)| ListedField {
            name: name.into(),
            required: !optional,
            optional,
            node,
        };
        let fields = record(fields.into_iter().map(listed).collect(), None, true);
        self.push(Node { kinds: Kinds::RECORD.or(others), record: Some(fields), ..Node::ANY })
    }

    /// The shape of the input of this name, or of the inputs of the function.
    pub(crate) fn finish(self, input: &str, Part(whole): Part) -> Declared {
        let (tool, nodes) = (input.to_owned(), self.nodes);
        Declared(Shapes { tool, declared: true, nodes, input: whole, output: whole, misused: None })
    }
}
