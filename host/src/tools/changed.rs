//! Tools that changed while a run waited in a journal.

use super::Tools;
use ilo_asm::catalog::{self, Lookup};
use ilo_drive::plan::changed;
use ilo_drive::problem::Problem;
use ilo_vm::{Program, Run};

impl Tools {
    /// The signature of the tool that a program calls by this name.
    pub fn signature(&self, name: &str) -> Option<&catalog::ToolSignature> {
        match self.catalog().lookup(name) {
            Lookup::Found(tool) => Some(tool),
            _ => None,
        }
    }

    /// The signatures of the tools that a program names, to be stored with a run.
    pub fn signatures(&self, program: &Program) -> String {
        changed::signatures(program, &|name| self.signature(name))
    }

    /// What no longer fits of the calls that a run has not made yet. `stored` is what
    /// [`Tools::signatures`] gave when it was started; `is_made` says whether the call at which it waits may
    /// have been made.
    pub fn misfits(&self, run: &Run, stored: &str, is_made: bool) -> Vec<Problem> {
        changed::misfits(run, stored, is_made, &|name| self.signature(name))
    }
}
