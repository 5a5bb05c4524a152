//! Chooses names of slots for notations without slot numbers: one name for each slot, unique in its function.

use super::shared_names::SharedNames;
use crate::ast::{Block, Bound, Control, Expr, ExprKind, Function, Slot, StmtKind};
use crate::text::is_name;
use hashbrown::HashSet;
use std::borrow::Cow;

/// Names that the notations reserve.
pub(super) const RESERVED: [&str; 3] = ["err", "error", "input"];

/// The names of the slots of a function.
#[derive(Debug)]
pub(super) struct Names<'a> {
    of: Vec<Cow<'a, str>>,
    /// The names in scope, and the order in which they were bound.
    visible: HashSet<Cow<'a, str>>,
    bound: Vec<Cow<'a, str>>,
}

impl<'a> Names<'a> {
    /// Chooses a name for each slot; slots that share a name get the same one.
    pub(super) fn new(function: &Function<'a>, shared: &SharedNames<'_>) -> Names<'a> {
        let mut hints = Hints { of: vec![None; function.slots.len()] };
        hints.block(&function.body);
        let mut taken: HashSet<Cow<'a, str>> = RESERVED.into_iter().map(Cow::Borrowed).collect();
        let mut of: Vec<Cow<'a, str>> = Vec::with_capacity(function.slots.len());
        for parameter in function.parameters {
            taken.insert(Cow::Borrowed(parameter.name.text));
            of.push(Cow::Borrowed(parameter.name.text));
        }
        let own = |slot: Slot| function.slots.get(slot.0 as usize)?.name.filter(|name| is_name(name));
        let hint = |slot: Slot| hints.of.get(slot.0 as usize).copied().flatten();
        for slot in (0..).map(Slot).take(function.slots.len()).skip(of.len()) {
            let partner = shared.of(slot).filter(|partner| partner.0 as usize >= function.parameters.len());
            if let Some(name) = partner.and_then(|partner| of.get(partner.0 as usize)).cloned() {
                of.push(name);
                continue;
            }
            let given = own(slot).or_else(|| own(partner?));
            let wanted = given.or_else(|| hint(slot)).or_else(|| hint(partner?)).unwrap_or("value");
            let name = numbered(Cow::Borrowed(wanted), |name| !taken.contains(name));
            taken.insert(name.clone());
            of.push(name);
        }
        Names { of, visible: HashSet::new(), bound: Vec::new() }
    }

    /// The name of a slot.
    pub(super) fn get(&self, slot: Slot) -> &Cow<'a, str> {
        const NONE: &Cow<'static, str> = &Cow::Borrowed("value");
        self.of.get(slot.0 as usize).unwrap_or(NONE)
    }

    /// Whether the name of a slot is in scope: it has been bound, and not only in an ended loop.
    pub(super) fn is_visible(&self, slot: Slot) -> bool {
        self.visible.contains(self.get(slot))
    }

    /// Binds the name of a slot.
    pub(super) fn bind(&mut self, slot: Slot) {
        let name = self.get(slot).clone();
        if self.visible.insert(name.clone()) {
            self.bound.push(name);
        }
    }

    /// Begins a loop over items. Returns the mark that ends it.
    pub(super) fn open(&mut self, item: Slot) -> usize {
        let start = self.bound.len();
        self.bind(item);
        start
    }

    /// Ends a loop: names that were first bound in it go out of scope.
    pub(super) fn close(&mut self, start: usize) {
        for name in self.bound.drain(start..) {
            self.visible.remove(&name);
        }
    }

    /// Every name.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.of.iter().map(AsRef::as_ref)
    }
}

/// The name, with a number appended if it is taken.
pub(super) fn numbered(name: Cow<'_, str>, free: impl Fn(&str) -> bool) -> Cow<'_, str> {
    if free(&name) {
        return name;
    }
    let numbered = (2..u32::MAX).map(|number| format!("{name}_{number}")).find(|name| free(name));
    numbered.map_or(name, Cow::Owned)
}

/// The descriptive part of the name of a tool, if it can be a name.
pub(super) fn tool_hint(tool: &str) -> Option<&str> {
    tool.rsplit('/').next().filter(|name| is_name(name))
}

/// The expression from which the name of an unnamed slot is derived: the one that binds it first.
struct Hints<'a> {
    of: Vec<Option<&'a str>>,
}

impl<'a> Hints<'a> {
    fn give(&mut self, slot: Slot, hint: Option<&'a str>) {
        if let (Some(place), Some(hint)) = (self.of.get_mut(slot.0 as usize), hint) {
            place.get_or_insert(hint);
        }
    }

    fn block(&mut self, block: &Block<'a>) {
        for statement in block.statements {
            if let StmtKind::Let { slot, value, .. } = &statement.kind {
                self.give(*slot, bound_hint(value));
            }
            statement.control().into_iter().for_each(|control| self.control(control));
        }
    }

    fn control(&mut self, control: &Control<'a>) {
        for (bound, block) in control.blocks() {
            if let Some(slot) = bound {
                let hint = match control {
                    Control::Match(node) if node.err.as_ref().is_some_and(|arm| arm.bind == slot) => {
                        "failure"
                    }
                    Control::Match(_) => "result",
                    Control::Try(_) => "failure",
                    _ => "item",
                };
                self.give(slot, Some(hint));
            }
            self.block(block);
        }
    }
}

fn bound_hint<'a>(value: &Bound<'a>) -> Option<&'a str> {
    match value {
        Bound::Expr(Expr { kind: ExprKind::Call(call), .. }) => tool_hint(call.tool.text),
        Bound::Expr(Expr { kind: ExprKind::Field(_, name), .. }) => {
            Some(name.text).filter(|name| is_name(name))
        }
        Bound::Control(Control::For(_)) => Some("items"),
        _ => None,
    }
}
