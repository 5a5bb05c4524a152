//! Expressions in texts: one language, which all four JSON and YAML notations share.
//!
//! A text of a document is read by [`mod@template`]: text, references in the form of its notation, and `${E}`
//! with an expression. Where a text has no other meaning, [`whole`] reads all of it as an expression, with or
//! without braces, and [`path`] reads one path. Only the references outside of braces depend on the notation
//! ([`Sigil`]).
//!
//! The parts of this module, each of which uses only those before it:
//! - [`mod@reference`]: paths as data, and a text that is searched, with exact positions;
//! - `tree`: the syntax tree;
//! - `lexer`: tokens. Names may have hyphens, numbers begin with a digit, and a word after a dot is a field;
//! - `parser` by precedence, with `operand` for the operands of operators and `postfix` for `.f`, `[E]` and
//!   calls. Other spellings of an operator (`&&`, `===`, `c ? a : b`) give the same tree;
//! - `template`: texts with expressions in them, which texts in expressions are too;
//! - `names`: the words that a text may refer to, for a survey before anything is read.
//!
//! From loose to tight: `a if c else b`; `a ?? b`; `or`; `and`; `not`; comparisons and `in`; `+ -`;
//! `* / % //`; `-a`; what follows a value (`.f`, `.0`, `?.f`, `[E]`, `[E:E]`, `f(E)`, `x.f(E)`).
//!
//! Names, functions and types are not known here: `crate::steps` gives a tree its meaning. Time is linear in
//! the text. Neither recursion nor the tree is deeper than the allowed nesting, `${` in one another at most
//! [`BRACES`] deep, so that each byte is read a bounded number of times.

mod errors;
mod lexer;
pub(crate) mod names;
mod operand;
pub(crate) mod parser;
pub mod reference;
pub mod template;
#[cfg(test)]
mod tests;
mod tree;

pub(crate) use operand::constant;
pub use parser::{path, whole};
pub use template::{Sigil, template};
pub use tree::{Each, Operand, Sign, Tree, TreeKind};

/// What to write instead of a path to several items.
pub(crate) const OF_ITEMS: &str = "a field of each item is `column(list, 'field')`, and the items that pass a test are \
     `[x for x in list if x.field == 1]`";

/// How deep `${…}` may be in one another: each level of texts in texts is read again.
pub const BRACES: u8 = 4;
