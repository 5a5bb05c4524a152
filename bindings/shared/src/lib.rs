//! Shared by the packages for other languages: work on sources, tools with their policies, limits, and the
//! problems that prevent a run. It is independent of the languages; `Words` has the names for messages.

pub mod finding;
#[cfg(feature = "guide")]
pub mod guide;
pub mod known;
pub mod limits;
pub mod source;
pub mod start;
pub mod wiring;

/// The spelling of names in messages of a package.
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
