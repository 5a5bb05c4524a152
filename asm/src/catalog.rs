//! What tools there are and what they take: the one home of what a tool is called.

/// Tools by name.
#[derive(Clone, Debug, Default)]
pub struct Catalog {}
