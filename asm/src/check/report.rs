//! Collects the diagnostics of the check, and limits the work on suggestions.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::text::{Near, near};

/// The most names that are compared in total for suggestions, so that they cannot make checking slow.
const COMPARISONS: usize = 1 << 16;

/// The diagnostics of a file, and the remaining comparisons of names.
pub(super) struct Report<'d> {
    pub(super) diagnostics: &'d mut Diagnostics,
    comparisons: usize,
}

impl<'d> Report<'d> {
    pub(super) fn new(diagnostics: &'d mut Diagnostics) -> Report<'d> {
        Report { diagnostics, comparisons: COMPARISONS }
    }

    /// A report without suggestions, for a caller that only needs to know whether anything is wrong.
    pub(super) fn without_suggestions(diagnostics: &'d mut Diagnostics) -> Report<'d> {
        Report { diagnostics, comparisons: 0 }
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Whether further diagnostics would only be counted.
    pub(super) fn is_full(&self) -> bool {
        self.diagnostics.is_full()
    }

    /// The number of comparisons left.
    pub(super) fn comparisons(&self) -> usize {
        if self.is_full() { 0 } else { self.comparisons }
    }

    /// Takes some of the remaining comparisons; `None` if too few are left.
    pub(super) fn spend(&mut self, comparisons: usize) -> Option<()> {
        self.comparisons = self.comparisons.checked_sub(comparisons)?;
        Some(())
    }

    /// The candidate that a name most likely means.
    pub(super) fn near<'n>(
        &mut self,
        name: &str,
        candidates: impl Iterator<Item = &'n str>,
    ) -> Option<Near<'n>> {
        near(name, candidates.take_while(|_| self.spend(1).is_some()))
    }
}
