//! Where checking reports to, and how much it spends on suggestions.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::text::{Near, near};

/// How many names are compared in all to suggest one, so that suggestions cannot make checking slow.
const COMPARISONS: usize = 1 << 16;

/// The diagnostics of a file, and the comparisons of names that are left.
pub(super) struct Report<'d> {
    pub(super) diagnostics: &'d mut Diagnostics,
    comparisons: usize,
}

impl<'d> Report<'d> {
    pub(super) fn new(diagnostics: &'d mut Diagnostics) -> Report<'d> {
        Report { diagnostics, comparisons: COMPARISONS }
    }

    /// A report that suggests no names, for a caller that only asks whether anything is wrong.
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

    /// How many comparisons are left.
    pub(super) fn comparisons(&self) -> usize {
        if self.is_full() { 0 } else { self.comparisons }
    }

    /// Takes some comparisons from those that are left; `None` where they do not suffice.
    pub(super) fn spend(&mut self, comparisons: usize) -> Option<()> {
        self.comparisons = self.comparisons.checked_sub(comparisons)?;
        Some(())
    }

    /// The name among the candidates that this one most likely means.
    pub(super) fn near<'n>(
        &mut self,
        name: &str,
        candidates: impl Iterator<Item = &'n str>,
    ) -> Option<Near<'n>> {
        near(name, candidates.take_while(|_| self.spend(1).is_some()))
    }
}
