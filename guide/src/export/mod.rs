//! Grammars for engines that accept a context-free grammar, as Lark, GBNF and EBNF, with those rules of ID
//! text that such a grammar can express for one session, and a JSON Schema of the notation `constrained`. The
//! beginning of each lists the rules that it cannot express.

mod bodies;
mod hosts;
mod print;
mod rules;
mod schema;
mod values;

pub use hosts::{Host, TooLarge};
pub use schema::schema;

use crate::automaton::session::Session;

/// The syntax of a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Lark, for llguidance.
    Lark,
    /// GBNF, for llama.cpp.
    Gbnf,
    /// EBNF, for `XGrammar`.
    Ebnf,
}

/// The default number of levels of blocks in a grammar.
pub const DEPTH: u8 = 4;
/// The deepest blocks of a grammar's programs.
pub const DEEPEST: u8 = 10;
/// The most items, optional fields and cases that a count announces.
const ITEMS: usize = 8;
/// The most bytes of a grammar for llama.cpp, which fails on some that are larger.
const GBNF_BYTES: usize = 97_000;

/// The rules that a grammar expresses, and those that it does not.
const HEAD: &str = "\
A program in ID text behind its header and registries, which are below.
This grammar holds: words and the kinds of their operands, the constants that schemas list, which arguments a tool
has and which it must have, counts of items, pairs, cases and arms, indents, and that nothing follows a way out of a
block. Required arguments come first, in the order of the schema.
It does not hold: that a slot is set before it is read, and its type; that a result is matched; that all paths give a
value; ranges of numbers; the fields that a text in another one selects; that the keys of a record or of cases differ;
that BREAK is in a loop, and that there is one where its FOR has an ELSE; that a ROLLBACK follows the calls that need
one, and calls nothing for its arguments; counts of statements. It has no constants of more than 18 digits or with an exponent of three, and no count above 8 but of
required arguments. Check the program after it is written.
";

/// The grammar of the bodies of a session's programs, for engines of constrained decoding. Check their
/// output, since a grammar expresses only some of the rules. `depth` is the number of levels of blocks, from
/// 1 to [`DEEPEST`]; for another one the nearest of these is taken.
///
/// # Errors
/// If the engine does not accept a grammar of this size.
pub fn grammar(session: &Session<'_>, syntax: Syntax, depth: u8) -> Result<String, TooLarge> {
    let rules = bodies::rules(session, depth.clamp(1, DEEPEST));
    let head = HEAD.to_owned() + &session.prefix();
    let text = print::text(&rules, &head, syntax);
    if syntax == Syntax::Gbnf {
        hosts::at_most("llama.cpp", "bytes of a grammar", text.len(), GBNF_BYTES)?;
    }
    Ok(text)
}
