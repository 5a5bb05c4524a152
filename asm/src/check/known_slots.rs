//! What checking infers about the slots of a function, for editors. A build does not use this module; it runs
//! the same inference again on request.

use super::facts::{CallFacts, Facts};
use super::report::Report;
use super::resolve::{Names, Resolved, Target};
use super::slot_events::Events;
use super::value_info::Seen;
use super::{liveness, types};
use crate::ast::File;
use crate::catalog::Catalog;
use crate::diagnostic::Diagnostics;
use ilo_spec::limits;

/// What is known about a slot from all its bindings; `None` without such a binding.
#[derive(Clone, Copy, Default)]
pub struct KnownSlot<'t> {
    /// Its plain values.
    pub plain: Seen<'t>,
    /// The values of the calls whose results a MATCH handles.
    pub ok: Seen<'t>,
    /// The failures of these calls.
    pub err: Seen<'t>,
}

/// Infers the types of the slots in the functions of a file.
pub struct KnownSlots<'f, 'a> {
    file: &'f File<'a>,
    names: Names<'f, 'a>,
}

impl<'f, 'a> KnownSlots<'f, 'a> {
    /// For a file and the available tools. The cost is linear in the number of functions.
    pub fn new(file: &'f File<'a>, catalog: Option<&'f Catalog>) -> KnownSlots<'f, 'a> {
        KnownSlots { file, names: Names::new(file, catalog) }
    }

    /// What is known about the slots of a function, by [`crate::ast::Slot`]; empty if there is no such
    /// function. For a function with errors it covers what could be read. The cost is linear in its length.
    pub fn of(&self, number: usize) -> Vec<KnownSlot<'_>> {
        let Some(function) = self.file.functions.get(number) else { return Vec::new() };
        let mut events = Events::default();
        events.walk(function);
        let mut diagnostics = Diagnostics::default();
        let mut report = Report::without_suggestions(&mut diagnostics);
        let bindings = if function.slots.len() > limits::REGISTERS {
            liveness::Bindings::new()
        } else {
            liveness::bindings(&events, function.slots.len())
        };
        let mut facts = Facts { yields: events.yields.clone(), ..Facts::default() };
        let mut resolved: Vec<Resolved<'_>> = Vec::with_capacity(events.calls.len());
        for (index, call) in events.calls.iter().enumerate() {
            let found = call.map(|call| self.names.resolve(call, true, &mut report)).unwrap_or_default();
            let function = if let Target::Function(index) = found.target { Some(index) } else { None };
            let checked = bindings.get(index).is_some_and(|binding| binding.checked);
            facts.calls.push(CallFacts { function, checked, ..CallFacts::default() });
            resolved.push(found);
        }
        let whole = (function, self.names.inputs(number));
        let known = types::slots(self.file, whole, &facts, &resolved);
        known.into_iter().map(|[plain, ok, err]| KnownSlot { plain, ok, err }).collect()
    }
}
