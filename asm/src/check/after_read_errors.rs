//! Decides what can still be checked near errors of reading: the names in calls do not depend on references,
//! for example.

use crate::ast::Call;
use crate::diagnostic::Diagnostics;
use crate::sorting::sort_by;
use crate::span::Span;
use ilo_spec::error::Code;

/// Errors of reading after which the tree is complete.
const HARMLESS: [Code; 3] = [Code::UnnamedId, Code::WrongReturn, Code::TypeMismatch];
/// Errors of reading in a value or name, after which calls and the names of their arguments are complete.
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
pub(super) struct ReadError {
    /// Its span.
    place: u32,
    /// Whether parts of a call next to it may be missing from the tree.
    hides: bool,
}

/// The errors of reading, in the order of positions.
pub(super) struct ReadErrors {
    list: Vec<ReadError>,
    /// Whether all errors were kept, none only counted.
    complete: bool,
}

impl ReadErrors {
    pub(super) fn of(diagnostics: &Diagnostics) -> ReadErrors {
        let found = diagnostics.as_slice().iter();
        let errors = found.filter(|found| found.is_error() && !HARMLESS.contains(&found.code));
        let mut list: Vec<ReadError> = errors
            .map(|error| ReadError { place: error.span.start, hides: !OF_VALUES.contains(&error.code) })
            .collect();
        sort_by(&mut list, Ord::cmp);
        ReadErrors { list, complete: diagnostics.dropped() == 0 }
    }

    /// The errors in a range of the source; `None` if some were only counted.
    pub(super) fn within(&self, start: u32, end: u32) -> Option<&[ReadError]> {
        let from = self.list.partition_point(|error| error.place < start);
        let to = self.list.partition_point(|error| error.place < end);
        self.complete.then(|| self.list.get(from..to).unwrap_or_default())
    }
}

/// For each call, in the order of positions: whether some of its arguments may be missing from the tree. The
/// calls on both sides of an error are incomplete.
pub(super) fn incomplete(calls: &[&Call<'_>], errors: &[ReadError]) -> Vec<bool> {
    let mut incomplete = vec![false; calls.len()];
    for error in errors.iter().filter(|error| error.hides) {
        let behind = calls.partition_point(|call| call.span.start <= error.place);
        for at in [behind.checked_sub(1), Some(behind)].into_iter().flatten() {
            if let Some(place) = incomplete.get_mut(at) {
                *place = true;
            }
        }
    }
    incomplete
}

/// Whether one of the errors is in this span, or at its opening quote.
pub(super) fn hides(errors: &[ReadError], place: Span) -> bool {
    let from = errors.partition_point(|error| error.place < place.start.saturating_sub(1));
    errors.get(from).is_some_and(|error| error.hides && error.place <= place.end)
}
