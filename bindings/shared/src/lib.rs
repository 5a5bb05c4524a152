//! What the packages for other languages share: work on sources, tools with their policies, limits, and what
//! is in the way of a run. It contains no word of any language; `Words` has those that messages need.

pub mod finding;
#[cfg(feature = "guide")]
pub mod guide;
pub mod known;
pub mod limits;
pub mod source;
pub mod start;
pub mod wiring;

/// How a package spells what its messages name.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// The argument that chooses a function.
    pub function: &'static str,
    /// The argument with the tools.
    pub tools: &'static str,
    /// The argument with the notation.
    pub notation: &'static str,
    /// Whether names of limits are in camel case.
    pub camel: bool,
}
