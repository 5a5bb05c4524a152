//! Calls whose failures are handled, by a MATCH at once or in the branches that follow, and calls that
//! register their rollbacks.

use super::{Block, Want};
use crate::generate::generator::Generator;
use crate::generate::kind::Kind;
use crate::generate::scope::{Slot, Slots};

impl Generator<'_> {
    /// A call whose result a MATCH takes, directly or a little later.
    pub(super) fn checked(&mut self, want: &Want, bound: Option<usize>, block: &mut Block) {
        let slot = self.scope.fresh();
        let mut call = String::new();
        let kind = self.any_attempt(2, &mut call);
        block.statement(format!("LET {slot} {call}"));
        self.scope.slots[slot] = Slot::Checked;
        self.scope.open += 1;
        self.register(24, block);
        while !block.ends && self.budget > 0 && self.choices.chance(30) {
            self.budget -= 1;
            self.statement(block);
        }
        if block.ends {
            self.scope.open -= 1;
            return;
        }
        if bound.is_none() && self.choices.chance(16) {
            return self.matched_in_branches(want, slot, &kind, block);
        }
        let prefix = bound.map_or_else(String::new, |bound| format!("LET {bound} "));
        self.matched(want, slot, &kind, &prefix, block);
        self.scope.open -= 1;
    }

    /// An IF in which each branch begins with the MATCH.
    fn matched_in_branches(&mut self, want: &Want, slot: usize, kind: &Kind, block: &mut Block) {
        let mut condition = String::new();
        self.truth(1, false, &mut condition);
        let mut paths = Vec::new();
        self.scope.has_else = true;
        for _ in 0..2 {
            let before = self.scope.slots.clone();
            let mut branch = Block::new(block.level + 1);
            self.matched(want, slot, kind, "", &mut branch);
            let after = self.leave(before, branch.ends);
            paths.push((branch, after));
        }
        self.scope.open -= 1;
        let mut after = Vec::new();
        for (word, (branch, slots)) in [format!("IF {condition}"), "ELSE".to_owned()].iter().zip(paths) {
            block.line(format!("{word} {}", branch.count));
            block.lines.extend(branch.lines);
            after.push(slots);
        }
        block.count += 1;
        let (last, first) = (after.pop().flatten(), after.pop().flatten());
        self.meet(first, last, block);
    }

    pub(super) fn matched(&mut self, want: &Want, slot: usize, kind: &Kind, prefix: &str, block: &mut Block) {
        let only = match want {
            Want::Value(_) => self.choices.weighted(&[5, 2]),
            _ => self.choices.weighted(&[5, 2, 2]),
        };
        // In an arm the slot no longer waits for a MATCH.
        self.scope.slots[slot] = Slot::Unset;
        self.scope.open -= 1;
        let level = block.level + 1;
        let mut arms = Vec::new();
        let mut after = [None, None];
        if only != 1 {
            let (arm, slots) = self.failure_arm(want, level);
            arms.push(arm);
            after[0] = slots;
        }
        if only == 2 {
            after[1] = Some(self.scope.slots.clone());
            if let Some(slots) = &mut after[1] {
                slots[slot] = Slot::Plain(kind.clone());
            }
        } else {
            let (arm, slots) = self.success_arm(want, slot, kind, level);
            arms.push(arm);
            after[1] = slots;
        }
        self.scope.open += 1;
        block.line(format!("{prefix}MATCH {slot} {}", arms.len()));
        if self.choices.chance(80) {
            arms.reverse();
        }
        block.lines.extend(arms.into_iter().flatten());
        block.count += 1;
        let [failure, success] = after;
        self.meet(failure, success, block);
    }

    fn success_arm(
        &mut self,
        want: &Want,
        slot: usize,
        kind: &Kind,
        level: usize,
    ) -> (Vec<(usize, String)>, Option<Slots>) {
        let before = self.scope.slots.clone();
        let bind = if self.choices.chance(40) { slot } else { self.target() };
        self.scope.bind(bind, kind.clone());
        let mut body = Block::new(level + 1);
        self.register(40, &mut body);
        if !(matches!(want, Want::Nothing) && self.choices.chance(60)) {
            let rest = self.block(want, level + 1);
            body.lines.extend(rest.lines);
            (body.count, body.ends) = (body.count + rest.count, rest.ends);
        }
        let after = self.leave(before, body.ends);
        let mut lines = vec![(level, format!("OK {bind} {}", body.count))];
        lines.extend(body.lines);
        (lines, after)
    }

    fn failure_arm(&mut self, want: &Want, level: usize) -> (Vec<(usize, String)>, Option<Slots>) {
        let before = self.scope.slots.clone();
        let bind = self.target();
        self.scope.bind(bind, Kind::Text);
        let body = if self.scope.may_break() && self.choices.chance(60) {
            let mut body = Block::new(level + 1);
            if self.choices.chance(60) {
                self.roll_back(&mut body);
            }
            self.end_loop(&mut body);
            body
        } else if self.choices.chance(150) {
            let mut body = Block::new(level + 1);
            self.roll_back(&mut body);
            self.fail(&mut body);
            body
        } else {
            self.block(want, level + 1)
        };
        let after = self.leave(before, body.ends);
        let mut lines = vec![(level, format!("ERR {bind} {}", body.count))];
        lines.extend(body.lines);
        (lines, after)
    }

    /// Compensations, in each of their forms.
    pub(super) fn roll_back(&mut self, block: &mut Block) {
        for _ in 0..self.choices.below(3) {
            let mut text = String::new();
            match self.choices.below(4) {
                0 | 1 => {}
                2 => text.push_str("UNDO "),
                _ => {
                    let slot = self.target();
                    text = format!("LET {slot} ");
                    let kind = self.any_attempt(1, &mut text);
                    block.statement(text);
                    if self.choices.chance(60) {
                        self.scope.bind(slot, kind);
                    } else {
                        self.scope.slots[slot] = Slot::Unset;
                        self.scope.bound.push(slot);
                    }
                    continue;
                }
            }
            self.any_call(1, &mut text);
            block.statement(text);
            self.register(16, block);
        }
    }

    /// ROLLBACKs, in this number of 256 cases.
    pub(super) fn register(&mut self, of_256: usize, block: &mut Block) {
        if of_256 < 256 && !self.choices.chance(of_256) {
            return;
        }
        for _ in 0..=self.choices.weighted(&[5, 1, 1]) {
            let mut text = "ROLLBACK ".to_owned();
            self.registered_call(&mut text);
            block.statement(text);
        }
    }
}
