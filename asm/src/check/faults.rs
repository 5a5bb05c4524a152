//! Which part of a file reading found errors in, and what of it can still be checked: the names of what is called do not
//! depend on whether references are good.

use crate::ast::Call;
use crate::diagnostic::Diagnostics;
use crate::span::Span;
use ilo_spec::error::Code;

/// Errors of reading that leave the tree whole.
const HARMLESS: [Code; 3] = [Code::UnnamedId, Code::WrongReturn, Code::TypeMismatch];
/// Errors of reading in a value or name, which leave calls and the names of their arguments whole.
const OF_VALUES: [Code; 11] = [
    Code::BadReference,
    Code::BadExpression,
    Code::UnknownReference,
    Code::LaterReference,
    Code::ReservedName,
    Code::UnknownOperator,
    Code::OperandCount,
    Code::DuplicateCase,
    Code::ContinueInLoop,
    Code::BadType,
    Code::DuplicateParameter,
];

/// An error of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fault {
    /// Where it is.
    place: u32,
    /// A call beside it may lack what was written.
    hides: bool,
}

/// The errors of reading in the order of their places.
pub(super) struct Faults {
    list: Vec<Fault>,
    /// None of them was only counted.
    all_known: bool,
}

impl Faults {
    pub(super) fn of(diagnostics: &Diagnostics) -> Faults {
        let found = diagnostics.as_slice().iter();
        let errors = found.filter(|found| found.is_error() && !HARMLESS.contains(&found.code));
        let mut list: Vec<Fault> = errors
            .map(|error| Fault { place: error.span.start, hides: !OF_VALUES.contains(&error.code) })
            .collect();
        list.sort_unstable();
        Faults { list, all_known: diagnostics.dropped() == 0 }
    }

    /// Those from one place to before another; `None` where not all are known.
    pub(super) fn within(&self, start: u32, end: u32) -> Option<&[Fault]> {
        let from = self.list.partition_point(|fault| fault.place < start);
        let to = self.list.partition_point(|fault| fault.place < end);
        self.all_known.then(|| self.list.get(from..to).unwrap_or_default())
    }
}

/// For each call, in the order of their places, whether it may lack arguments that were written: those on both sides of
/// an error do.
pub(super) fn lacking(calls: &[&Call<'_>], faults: &[Fault]) -> Vec<bool> {
    let mut lacking = vec![false; calls.len()];
    for fault in faults.iter().filter(|fault| fault.hides) {
        let behind = calls.partition_point(|call| call.span.start <= fault.place);
        for at in [behind.checked_sub(1), Some(behind)].into_iter().flatten() {
            if let Some(lacks) = lacking.get_mut(at) {
                *lacks = true;
            }
        }
    }
    lacking
}

/// Whether one of the errors is in this place, or at its quote.
pub(super) fn hide(faults: &[Fault], place: Span) -> bool {
    let from = faults.partition_point(|fault| fault.place < place.start.saturating_sub(1));
    faults.get(from).is_some_and(|fault| fault.hides && fault.place <= place.end)
}
