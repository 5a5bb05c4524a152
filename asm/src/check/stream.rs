//! Checks functions one at a time, for a streaming build. It knows the headers of all functions and has the
//! tree of one.

use super::facts::Facts;
use super::function;
use super::report::Report;
use super::resolve::Names;
use super::slot_events::Events;
use crate::ast::{File, Function};
use crate::catalog::Catalog;
use crate::diagnostic::Diagnostics;

/// A checker that knows the headers of all functions.
pub(crate) struct Streaming<'f, 'a> {
    file: &'f File<'a>,
    names: Names<'f, 'a>,
}

impl<'f, 'a> Streaming<'f, 'a> {
    /// `None` if two functions have the same name.
    pub(crate) fn new(file: &'f File<'a>, catalog: Option<&'f Catalog>) -> Option<Streaming<'f, 'a>> {
        let names = Names::new(file, catalog);
        names.all_different().then_some(Streaming { file, names })
    }

    /// A checker for a batch of functions. Their trees may be dropped before the next batch.
    pub(crate) fn batch<'t>(&self) -> Batch<'_, 'f, 't>
    where
        'a: 't,
    {
        Batch { file: self.file, names: &self.names, events: Events::default() }
    }
}

/// See [`Streaming::batch`].
pub(crate) struct Batch<'n, 'f, 't> {
    file: &'f File<'t>,
    names: &'n Names<'f, 't>,
    events: Events<'t>,
}

impl<'t> Batch<'_, '_, 't> {
    /// The facts of a function; `None` if there is anything to report, or if it calls itself or a later
    /// function.
    pub(crate) fn check(&mut self, number: usize, function: &'t Function<'t>) -> Option<Facts> {
        let mut diagnostics = Diagnostics::default();
        let mut report = Report::without_suggestions(&mut diagnostics);
        self.events.walk(function);
        let whole = (number, function);
        let (facts, calls) = function::check(self.file, whole, &mut self.events, self.names, &mut report);
        let in_order = calls.iter().all(|&(callee, _)| (callee as usize) < number);
        (in_order && diagnostics.as_slice().is_empty()).then_some(facts)
    }
}
