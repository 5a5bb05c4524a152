//! The parser of the integer-ID notation: text to the syntax tree.
//!
//! A source is read in three steps: the lexer produces tokens, the header reader reads the comments that name
//! a function and its ids ([`Source::new`]), and the parser builds the tree of one function after another
//! ([`Source::file`]). It reports everything that is wrong with the text itself. The meaning of a program
//! (slots, calls, flow, types) is checked by [`crate::check`].
//!
//! The parser of a body is one struct; most files are functions over it, in layers. A file calls and imports
//! only files above it in this table, which a test checks:
//!
//! | file | contents | imports |
//! |---|---|---|
//! | `messages` | wording that several files share | |
//! | `words` | constants, and words of other languages | |
//! | `state` | the state while a function is parsed, and the names in scope | |
//! | `parser` | the cursor, floors, errors | `messages`, `state` |
//! | `unknown_word` | words that are no instruction | `state`, `parser`, `words` |
//! | `numbers` | slots, tools, fields, counts | `messages`, `state`, `parser` |
//! | `literal` | constants | `state`, `parser`, `unknown_word`, `words` |
//! | `unknown_operand` | recovery | `messages`, `state`, `parser`, `unknown_word`, `numbers`, `literal` |
//! | `expr` | expressions | `state`, `parser`, `numbers`, `literal`, `unknown_operand` |
//! | `block` | counted statements | `messages`, `state`, `parser`, `unknown_word`, `numbers` |
//! | `statement` | | `messages`,`state`,`parser`,`unknown_word`,`numbers`,`unknown_operand`,`expr`,`block` |
//! | `file` | functions | `state`, `parser`, `statement` |

mod block;
mod expr;
mod file;
mod literal;
mod messages;
mod numbers;
mod parser;
pub(crate) mod state;
mod statement;
mod unknown_operand;
mod unknown_word;
mod words;

pub(crate) use file::Source;
pub(crate) use messages::syntax;

use crate::arena::Arena;
use crate::ast::File;
use crate::diagnostic::Diagnostics;
use crate::diagnostic::whole_source::program;
use crate::source::SourceLimits;
use crate::syntax::lexer;

/// Parses a source. What could be read is returned even if there are errors, which are in `diagnostics`.
///
/// Time and memory are linear in the source.
// So that it is built as this crate is, not as that of its caller.
#[inline(never)]
pub fn parse<'a>(
    source: &'a str,
    arena: &'a Arena,
    limits: &SourceLimits,
    diagnostics: &mut Diagnostics,
) -> File<'a> {
    let source = Source::new(source, arena, limits, diagnostics);
    let file = source.map_or(File { functions: &[] }, |source| source.file(arena, diagnostics, None));
    diagnostics.sort();
    file
}

/// The number of tokens of a source, without comments and line ends; 0 if it exceeds a limit.
///
/// Its cost is that of the lexer, the first step of [`parse`].
pub fn count_tokens(source: &str, options: &SourceLimits) -> usize {
    let mut unused = Diagnostics::default();
    let part = program(source, options, &mut unused);
    let lexed = part.and_then(|part| lexer::lex(source, part, options, &mut unused));
    lexed.map_or(0, |lexed| lexed.tokens.len())
}
