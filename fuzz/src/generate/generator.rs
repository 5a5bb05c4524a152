//! The state that the parts of the generator share.

use super::choices::Choices;
use super::kind::Kind;
use super::scope::Scope;

/// A tool, with the kind of value that programs expect of it.
#[derive(Debug)]
pub(super) struct ToolKind {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

/// A function of the program, as its callers see it.
#[derive(Debug)]
pub(super) struct Signature {
    pub(super) name: &'static str,
    pub(super) parameters: Vec<(usize, Kind)>,
    /// Which of them may be left out.
    pub(super) optional: Vec<bool>,
    pub(super) ok: Kind,
}

/// The state while a program is written.
#[derive(Debug)]
pub(super) struct Generator<'b> {
    pub(super) choices: Choices<'b>,
    pub(super) tools: Vec<ToolKind>,
    pub(super) functions: Vec<Signature>,
    pub(super) scope: Scope,
    pub(super) budget: usize,
    /// What is written holds no calls.
    pub(super) without_calls: bool,
}
