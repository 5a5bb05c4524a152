//! Compiles a source one function at a time, so that a tree is still in the processor's cache when it is
//! checked and lowered.
//!
//! This works only for sources without diagnostics in which each function is defined before it is called. For
//! any other source the caller reads the whole tree. Both give the same program.

use crate::arena::Arena;
use crate::ast::File;
use crate::compile::Options;
use crate::diagnostic::Diagnostics;
use crate::id::Source;
use crate::{check, lower, print};
use bumpalo::Bump;
use ilo_spec::program::Program;

/// Bytes of tree after which the arena is reset: small enough for the cache and for what allocators keep at
/// hand.
const CHUNK: usize = 96 << 10;
/// An upper estimate of the bytes of tree for one byte of source.
const GROWTH: usize = 12;
/// If fewer bytes of a chunk are left, the arena is reset before the next function.
const LEFT: usize = CHUNK / 4;

/// Compiles a source; `None` if the whole tree is needed.
pub(super) fn compile(source: &Source<'_>, options: &Options<'_>) -> Option<Program> {
    let functions = source.heads();
    let file = File { functions: &functions };
    let checks = check::Streaming::new(&file, options.catalog)?;
    let mut program = lower::Lowering::in_order(&file, !options.strip);
    let mut printed = String::new();
    let mut diagnostics = Diagnostics::default();
    let mut arena = Arena(Bump::with_capacity(CHUNK.min(source.text.len().saturating_mul(GROWTH))));
    let mut number = 0;
    while number < functions.len() {
        let mut reader = source.reader(&arena, &mut diagnostics, None);
        let mut events = check::Events::default();
        loop {
            let function = &*arena.alloc(reader.read(number)?);
            if !reader.is_silent() {
                return None;
            }
            let facts = checks.check((number, function), &mut events)?;
            program.function(function, &facts).ok()?;
            if !options.strip {
                printed.push_str(if number == 0 { "" } else { "\n" });
                printed.push_str(&print::id(&File { functions: core::slice::from_ref(function) }));
            }
            number += 1;
            if number == functions.len() || arena.0.chunk_capacity() < LEFT {
                break;
            }
        }
        arena.0.reset();
    }
    let mut program = program.finish((!options.strip).then_some(source.text)).ok()?;
    if let Some(debug) = &mut program.debug {
        debug.source = printed;
    }
    Some(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{Opened, compile_file, open};

    const HEAD: &str = "; fn first(a: text) -> result text, text\n; Vars: 0=a 1=\"b \\u0041\"\n; Tools: 0=t\n\
                        ; Fields: 0=\"a \\\"quoted\\\" name\" 1=x\nLET 1 CALL 0 1 1 LIT 0 \"tab\\t\"\nRET_OK FIELD 1 0\n";

    /// Both ways make the same program, or this one leaves it to the whole tree.
    fn check(source: &str, taken: bool) {
        for strip in [true, false] {
            let options = Options { strip, ..Options::default() };
            let (arena, mut diagnostics) = (Arena::new(), Diagnostics::default());
            let opened = open(source, &arena, &options, &mut diagnostics);
            let Opened::Functions(functions) = &opened else { panic!("{source}") };
            let silent = diagnostics.as_slice().is_empty();
            let short = if silent { compile(functions, &options) } else { None };
            assert_eq!(short.is_some(), taken, "{source}");
            if taken {
                let file = opened.file(&arena, &mut diagnostics);
                assert_eq!(short, compile_file(source, &file, &options, &mut diagnostics), "{source}");
            }
        }
    }

    #[test]
    fn both_ways_make_the_same_program() {
        let later = "; fn g(b: any) -> number\n; Tools: 0=first\n; Fields: 1=y\nIF HAS REF 0 1 1\n  RET LIT 1 1\nRET LIT 1 2.5\n";
        check(HEAD, true);
        check(&format!("{HEAD}\n{later}"), true);
        let many: String = (0..2_000).map(|n| HEAD.replace("first", &format!("f{n}"))).collect();
        assert!(many.len() > 2 * CHUNK, "more than one chunk");
        check(&many, true);
    }

    #[test]
    fn a_source_with_diagnostics_or_out_of_order_takes_the_whole_tree() {
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
