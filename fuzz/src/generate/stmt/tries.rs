//! TRY with its block and its handler.

use super::{Block, Want};
use crate::generate::generator::Generator;
use crate::generate::kind::Kind;
use crate::generate::scope::Slot;

impl Generator<'_> {
    /// TRY, where no result waits for its MATCH: after a failure it would be lost.
    pub(super) fn tries(&mut self, want: &Want, prefix: &str, block: &mut Block) {
        if self.scope.open > 0 {
            return self.when(want, prefix, block);
        }
        let level = block.level + 1;
        let before = self.scope.slots.clone();
        let bound = self.scope.bound.len();
        let mut body = Block::new(level);
        if self.choices.chance(200) {
            let mut text = String::new();
            let kind = self.any_attempt(2, &mut text);
            let slot = self.target();
            body.statement(format!("LET {slot} {text}"));
            self.scope.bind(slot, kind);
        }
        let rest = self.block(want, level);
        body.lines.extend(rest.lines);
        (body.count, body.ends) = (body.count + rest.count, rest.ends);
        let after_body = self.leave(before, body.ends);
        // A slot that the block has bound has either value in the handler.
        let again = self.scope.slots.clone();
        for &slot in self.scope.bound.get(bound..).unwrap_or_default() {
            if let Some(Slot::Plain(kind)) = self.scope.slots.get_mut(slot) {
                *kind = Kind::Any;
            }
        }
        let slot = self.target();
        self.scope.bind(slot, Kind::Any);
        let (handler, after_handler) = self.branch(want, level);
        let slots = self.scope.slots.len();
        self.scope.slots = again;
        self.scope.slots.resize(slots, Slot::Unset);
        block.line(format!("{prefix}TRY {}", body.count));
        block.lines.extend(body.lines);
        block.line(format!("ERR {slot} {}", handler.count));
        block.lines.extend(handler.lines);
        block.count += 1;
        self.meet(after_body, after_handler, block);
    }
}
