//! The reader of ID text alone gives what the reader of all notations gives.

use super::canonical::cases;
use crate::arena::Arena;
use crate::compile::{Options, read, read_id};
use crate::diagnostic::Diagnostics;
use crate::notation::Notation;
use crate::print;
use crate::source::SourceLimits;

#[test]
fn trees_and_findings_are_those_of_read() {
    let arena = Arena::new();
    let mut broken = 0;
    for (path, case) in &cases() {
        for source in case.sources().iter().filter(|source| source.notation == Notation::Id) {
            let options = Options { from: Some(Notation::Id), ..Options::default() };
            let (mut found, mut of_read) = (Diagnostics::default(), Diagnostics::default());
            let file = read_id(source.text, &arena, &SourceLimits::default(), &mut found);
            let other = read(source.text, &arena, &options, &mut of_read);
            assert_eq!(print::id(&file), print::id(&other), "{}", path.display());
            assert_eq!(found.as_slice(), of_read.as_slice(), "{}", path.display());
            broken += usize::from(found.has_errors());
        }
    }
    assert!(broken > 50 || crate::is_package(), "{broken}");
}
