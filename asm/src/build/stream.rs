//! From source to program function by function, so that a tree is still at hand when it is checked and made into code.
//!
//! This is how a source of integer-ID text is built that nothing is to be said of and whose calls go to functions before
//! the caller. Any other is left to the whole way, which says what is wrong and finds an order. Both make the same
//! program.

use crate::ast::File;
use crate::build::Options;
use crate::diagnostic::Diagnostics;
use crate::syntax::habit::Canonical;
use crate::{check, id, lower, print};
use bumpalo::Bump;
use ilo_spec::program::Program;

/// Bytes of tree that are made before they are let go: what stays near the processor, and what allocators keep at hand.
const PIECE: usize = 96 << 10;
/// Bytes of tree that a byte of source rarely becomes more than.
const GROWTH: usize = 12;
/// Where so few bytes of a piece are left, the next function begins another.
const LEFT: usize = PIECE / 4;

/// Builds a source; `None` where it has to go the whole way.
pub(crate) fn build(source: &str, options: &Options<'_>) -> Option<Program> {
    let heads = Bump::new();
    let mut diagnostics = Diagnostics::default();
    let text = id::Source::new(source, &heads, &options.reading, &mut diagnostics)?;
    if !diagnostics.as_slice().is_empty() {
        return None;
    }
    let functions = text.heads();
    let file = File { functions: &functions };
    let checks = check::Streaming::new(&file, options.catalog)?;
    let mut program = lower::Stepwise::new(&file, !options.strip);
    let mut printed = String::new();
    let mut arena = Bump::with_capacity(PIECE.min(source.len().saturating_mul(GROWTH)));
    let mut number = 0;
    while number < functions.len() {
        let mut reader = text.reader(&arena, &Canonical, &mut diagnostics, None);
        let mut checker = checks.batch();
        loop {
            let function = &*arena.alloc(reader.read(number)?);
            if !reader.is_silent() {
                return None;
            }
            let facts = checker.check(number, function)?;
            if !program.add(function, &facts) {
                return None;
            }
            if !options.strip {
                printed.push_str(if number == 0 { "" } else { "\n" });
                printed.push_str(&print::id(&File { functions: core::slice::from_ref(function) }));
            }
            number += 1;
            if number == functions.len() || arena.chunk_capacity() < LEFT {
                break;
            }
        }
        arena.reset();
    }
    let mut program = program.finish((!options.strip).then_some(source))?;
    if let Some(debug) = &mut program.debug {
        debug.source = printed;
    }
    Some(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build_whole;

    const HEAD: &str = "; fn first(a: text) -> result text, text\n; Vars: 0=a 1=\"b \\u0041\"\n; Tools: 0=t\n\
                        ; Fields: 0=\"a \\\"quoted\\\" name\" 1=x\nLET 1 CALL 0 1 1 LIT 0 \"tab\\t\"\nRET_OK FIELD 1 0\n";

    /// Both ways give the same program, or the short one leaves it to the other.
    fn check(source: &str, taken: bool) {
        for strip in [true, false] {
            let options = Options { strip, ..Options::default() };
            let short = build(source, &options);
            assert_eq!(short.is_some(), taken, "{source}");
            if taken {
                assert_eq!(short, build_whole(source, &options).0, "{source}");
            }
        }
    }

    #[test]
    fn both_ways_make_the_same_program() {
        let later = "; fn g(b: any) -> number\n; Tools: 0=first\n; Fields: 1=y\nIF HAS REF 0 1 1\n  RET LIT 1 1\nRET LIT 1 2.5\n";
        check(HEAD, true);
        check(&format!("{HEAD}\n{later}"), true);
        let many: String = (0..2_000).map(|n| HEAD.replace("first", &format!("f{n}"))).collect();
        assert!(many.len() > 2 * PIECE, "more than one piece");
        check(&many, true);
    }

    #[test]
    fn what_needs_an_order_or_a_word_goes_the_whole_way() {
        let caller = "; fn main() -> any\n; Tools: 0=first\n; Fields: 0=a\nRET CALL 0 1 0 LIT 0 \"x\"\n";
        check(&format!("{caller}\n{HEAD}"), false);
        check(&format!("{HEAD}{HEAD}"), false);
        check("; fn f() -> nil\n; Tools: 0=f\nLET 0 CALL 0 0\n", false);
        check("; fn f() -> nil\nRET REF 7\n", false);
        check("; fn f(a: String) -> nil\nRET LIT 2 nil\n", false);
        check("LET 0 LIT 1 1\n; fn f() -> nil\nRET LIT 2 nil\n", false);
        check("", false);
    }
}
