//! Lowers TRY: the failures in its block go to its handler.
//!
//! A failure is in the register of its call, so each such register has code of its own that moves the failure
//! to the slot of the handler. The blocks that are deferred in the block of a TRY come before that code,
//! because their failures go there too.

use super::emit::{Label, Reg};
use super::expr::{Failures, Lowered};
use super::function::{Body, End, OpenTry, Then};
use crate::ast::Try;
use ilo_spec::isa::Op;
use ilo_spec::operand::To;
use smallvec::SmallVec;

impl<'a, 'c> Body<'a, 'c, '_> {
    pub(super) fn try_(&mut self, node: &'c Try<'a>, then: Then) -> Lowered<End> {
        let at = node.span.start;
        self.values.code.settle();
        self.values.tries.push(Failures::new());
        self.tries.push(OpenTry { loops: self.loops.len(), deferred: SmallVec::new() });
        let end = self.block(&node.body, then)?;
        let mut past = Label::default();
        let deferred =
            self.all_deferred(|body| Some(&mut body.tries.last_mut()?.deferred), end, at, &mut past)?;
        self.tries.pop();
        let failures = self.values.tries.pop().unwrap_or_default();
        if failures.is_empty() {
            // Nothing in the block can fail, so the handler never runs.
            self.values.code.land(past);
            return Ok(end);
        }
        if end == End::Reached && !deferred {
            self.values.code.jump(Op::Jump { to: To(0) }, at, &mut past);
        }
        self.receive(failures, self.values.registers.bound(node.handler.bind), at);
        let handled = self.block(&node.handler.body, then)?;
        self.values.code.land(past);
        Ok(if end == End::Reached { end } else { handled })
    }

    /// Moves each failure to the register of the handler, if that has one.
    fn receive(&mut self, failures: Failures, bind: Option<Reg>, at: u32) {
        let mut entry = Label::default();
        let mut moved = false;
        for (register, label) in failures {
            let Some(dst) = bind.filter(|&dst| dst != register) else {
                entry.absorb(label);
                continue;
            };
            if core::mem::replace(&mut moved, true) {
                self.values.code.jump(Op::Jump { to: To(0) }, at, &mut entry);
            }
            self.values.code.bind(label);
            self.values.code.emit(Op::Move { dst: dst.write(), src: register.read() });
        }
        self.values.code.land(entry);
    }
}
