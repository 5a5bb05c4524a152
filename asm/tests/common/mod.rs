//! Shared by the tests of the integer-ID notation.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

use ilo_asm::arena::Arena;
use ilo_asm::ast::File;
use ilo_asm::compile::{self, Options};
use ilo_asm::diagnostic::{Diagnostic, Diagnostics};
use ilo_asm::notation::Notation;
use ilo_asm::source::SourceLimits;

/// The complete example of the notation.
pub const NOTIFY: &str = include_str!("../id/notify.ilo");

/// Reads a source and passes the result on.
pub fn read_with<T>(
    source: &str,
    options: &SourceLimits,
    with: impl FnOnce(&File<'_>, &Diagnostics) -> T,
) -> T {
    let arena = Arena::new();
    let mut diagnostics = Diagnostics::default();
    let options = Options { from: Some(Notation::Id), reading: *options, ..Options::default() };
    let file = compile::read(source, &arena, &options, &mut diagnostics);
    with(&file, &diagnostics)
}

/// Reads a source within the default limits.
pub fn read<T>(source: &str, with: impl FnOnce(&File<'_>, &Diagnostics) -> T) -> T {
    read_with(source, &SourceLimits::default(), with)
}

/// The diagnostics of a source.
pub fn diagnose(source: &str) -> Vec<Diagnostic> {
    read(source, |_, diagnostics| diagnostics.as_slice().to_vec())
}

/// The codes of the diagnostics of a source.
pub fn codes(source: &str) -> Vec<&'static str> {
    diagnose(source).iter().map(|diagnostic| diagnostic.code.as_str()).collect()
}

/// A function around instructions, with names for its ids.
pub fn function(body: &str) -> String {
    format!(
        "; fn f(a: text, b: number) -> number\n; Vars: 0=a 1=b 2=c\n; Tools: 0=t 1=u\n\
         ; Fields: 0=k 1=l 2=m\n{body}\n"
    )
}

/// The tree without positions, which is the whole meaning of a program.
pub fn tree(source: &str) -> String {
    read(source, |file, _| plain(&format!("{file:?}")))
}

/// A debug print without spans.
pub fn plain(debug: &str) -> String {
    let mut out = String::with_capacity(debug.len());
    let mut rest = debug;
    while let Some(at) = rest.find("Span {") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = &rest[rest.find('}').map_or(rest.len(), |end| end + 1)..];
    }
    out.push_str(rest);
    out
}
