//! Blocks and statements, written with the state of slots, so that nearly all of them pass the checks. Calls
//! whose failures are handled or rolled back are in `calls`.

mod calls;
mod tries;

use super::generator::Generator;
use super::kind::Kind;
use super::scope::{Slot, Slots, join};

/// What the value of a block is needed for.
#[derive(Clone, Debug)]
pub(super) enum Want {
    /// Nothing reads it.
    Nothing,
    /// Each path to its end has a value.
    Value(Kind),
    /// Some path to its end has a value.
    Maybe(Kind),
}

/// The depth from which a loop contains no further blocks: the oracle visits the body of a loop twice, so a
/// loop inside it four times.
const NESTED: usize = 5;

/// A finished block.
#[derive(Debug)]
pub(super) struct Block {
    /// Each line with the number of indents before it.
    pub(super) lines: Vec<(usize, String)>,
    /// The number of its statements.
    count: usize,
    level: usize,
    /// No path reaches its end.
    ends: bool,
}

/// A loop whose body is written: its state at the end of a pass, and at its BREAKs.
struct Passes {
    after: Option<Slots>,
    broken: Option<Slots>,
}

impl Block {
    fn new(level: usize) -> Block {
        Block { lines: Vec::new(), count: 0, level, ends: false }
    }

    fn line(&mut self, text: String) {
        self.lines.push((self.level, text));
    }

    /// A statement of one line.
    fn statement(&mut self, text: String) {
        self.line(text);
        self.count += 1;
    }
}

impl Generator<'_> {
    /// Writes a block that starts from the current state of slots and leaves the state at its end.
    pub(super) fn block(&mut self, want: &Want, level: usize) -> Block {
        let mut block = Block::new(level);
        let most = if level > 3 { 2 } else { 5 };
        for _ in 0..self.choices.below(most) {
            if block.ends || self.budget == 0 {
                break;
            }
            self.budget -= 1;
            self.statement(&mut block);
        }
        if !block.ends {
            self.finish(want, &mut block);
        }
        block
    }

    /// Writes a block on a path of its own: returns the state at its end, and leaves the state here
    /// unchanged.
    fn branch(&mut self, want: &Want, level: usize) -> (Block, Option<Slots>) {
        let before = self.scope.slots.clone();
        let block = self.block(want, level);
        let after = self.leave(before, block.ends);
        (block, after)
    }

    /// Restores the state from before a path was written.
    fn leave(&mut self, before: Slots, ends: bool) -> Option<Slots> {
        let after = std::mem::replace(&mut self.scope.slots, before);
        self.scope.slots.resize(after.len(), Slot::Unset);
        (!ends).then_some(after)
    }

    /// Continues where these paths join.
    fn meet(&mut self, a: Option<Slots>, b: Option<Slots>, block: &mut Block) {
        match join(a, b) {
            Some(slots) => self.scope.slots = slots,
            None => block.ends = true,
        }
    }

    /// A slot to bind: a new one, or one that may be bound again.
    fn target(&mut self) -> usize {
        if self.scope.slots.len() > 40 || self.choices.chance(60) {
            let free: Vec<usize> =
                (0..self.scope.slots.len()).filter(|&slot| self.scope.slots[slot] != Slot::Checked).collect();
            if !free.is_empty() {
                return *self.choices.pick(&free);
            }
        }
        self.scope.fresh()
    }

    fn bind_expr(&mut self, kind: &Kind, block: &mut Block) {
        let depth = 1 + self.choices.below(3);
        let text = self.text_of(kind, depth, true);
        let slot = self.target();
        block.statement(format!("LET {slot} {text}"));
        self.scope.bind(slot, kind.clone());
    }

    fn statement(&mut self, block: &mut Block) {
        match self.choices.weighted(&[8, 4, 4, 3, 5, 3, 2, 3, 2, 2, 1, 1, 1, 1, 2, 2]) {
            0 => {
                let kind = Kind::choose(&mut self.choices, 2);
                self.bind_expr(&kind, block);
            }
            1 => self.rebind(block),
            2 => self.when(&Want::Nothing, "", block),
            3 => self.loop_over(&Want::Nothing, "", block),
            4 => self.checked(&Want::Nothing, None, block),
            5 => self.bind_control(block),
            6 => {
                let mut text = String::new();
                if self.choices.chance(128) {
                    text.push_str("UNDO ");
                    self.any_call(2, &mut text);
                } else {
                    self.any_attempt(2, &mut text);
                }
                block.statement(text);
                self.register(60, block);
            }
            7 => {
                let mut text = String::new();
                let kind = self.any_attempt(2, &mut text);
                let slot = self.target();
                block.statement(format!("LET {slot} {text}"));
                self.scope.bind(slot, kind);
                self.register(60, block);
            }
            8 => self.accumulate(block),
            9 => self.guard(block),
            10 => {
                let text = self.text_of(&Kind::Any, 2, true);
                block.statement(text);
            }
            14 => self.yields(block),
            15 => self.tries(&Want::Nothing, "", block),
            11 => self.doubled(block),
            12 => self.register(256, block),
            _ => self.carried(block),
        }
    }

    /// Binds a slot again, to a value of its kind.
    fn rebind(&mut self, block: &mut Block) {
        let plain: Vec<(usize, Kind)> = (0_usize..)
            .zip(&self.scope.slots)
            .filter_map(|(slot, state)| match state {
                Slot::Plain(kind) => Some((slot, kind.clone())),
                _ => None,
            })
            .collect();
        if plain.is_empty() {
            return self.bind_expr(&Kind::Number, block);
        }
        let (slot, kind) = self.choices.pick(&plain).clone();
        let text = self.text_of(&kind, 2, true);
        block.statement(format!("LET {slot} {text}"));
    }

    fn bind_control(&mut self, block: &mut Block) {
        let slot = self.target();
        let prefix = format!("LET {slot} ");
        let before = block.count;
        let kind = match self.choices.below(4) {
            3 => {
                let kind = Kind::choose(&mut self.choices, 2);
                self.tries(&Want::Value(kind.clone()), &prefix, block);
                kind
            }
            0 => {
                let kind = Kind::choose(&mut self.choices, 2);
                self.when(&Want::Value(kind.clone()), &prefix, block);
                kind
            }
            1 => {
                let item = Kind::choose(&mut self.choices, 1);
                let kind = Kind::list(item);
                self.loop_over(&Want::Value(kind.clone()), &prefix, block);
                kind
            }
            _ => {
                let kind = Kind::choose(&mut self.choices, 2);
                self.checked(&Want::Value(kind.clone()), Some(slot), block);
                kind
            }
        };
        if !block.ends && block.count > before && self.scope.slots[slot] != Slot::Checked {
            self.scope.bind(slot, kind);
        }
    }

    /// IF, with ELSE or without.
    fn when(&mut self, want: &Want, prefix: &str, block: &mut Block) {
        let mut condition = String::new();
        self.truth(2, false, &mut condition);
        let level = block.level + 1;
        let (then, after_then) = self.branch(want, level);
        let other = match want {
            Want::Nothing => self.choices.chance(110).then_some(Want::Nothing),
            Want::Value(_) => Some(want.clone()),
            Want::Maybe(kind) => match self.choices.below(3) {
                0 => None,
                1 => Some(Want::Nothing),
                _ => Some(Want::Value(kind.clone())),
            },
        };
        block.line(format!("{prefix}IF {condition} {}", then.count));
        block.lines.extend(then.lines);
        let after_else = match other {
            None => Some(self.scope.slots.clone()),
            Some(want) => {
                self.scope.has_else = true;
                let (otherwise, after) = self.branch(&want, level);
                block.line(format!("ELSE {}", otherwise.count));
                block.lines.extend(otherwise.lines);
                after
            }
        };
        block.count += 1;
        self.meet(after_then, after_else, block);
    }

    /// FOR; if a list is wanted, its block yields the items.
    fn loop_over(&mut self, want: &Want, prefix: &str, block: &mut Block) {
        let mut list = String::new();
        let item = self.list(1, &mut list);
        let slot = self.target();
        let before = self.scope.slots.clone();
        self.scope.bind(slot, item);
        let body = match want {
            Want::Value(Kind::List(kind)) | Want::Maybe(Kind::List(kind)) => {
                if self.choices.chance(90) {
                    Want::Maybe((**kind).clone())
                } else {
                    Want::Value((**kind).clone())
                }
            }
            _ => Want::Nothing,
        };
        let spare = if block.level < NESTED { 0 } else { core::mem::take(&mut self.budget) };
        self.scope.begin_loop(true);
        let inner = match body {
            Want::Value(kind) | Want::Maybe(kind) if self.choices.chance(70) => {
                self.yielding(kind, block.level + 1)
            }
            body => self.block(&body, block.level + 1),
        };
        let (broken, skipped) = self.scope.end_loop();
        let after = join(self.leave(before, inner.ends), skipped);
        block.line(format!("{prefix}FOR {slot} {list} {}", inner.count));
        block.lines.extend(inner.lines);
        block.count += 1;
        self.behind(Passes { after, broken }, want, block);
        self.budget += spare;
    }

    /// Continues after the passes of a loop: perhaps its ELSE, and the state where all paths join.
    fn behind(&mut self, Passes { after, broken }: Passes, want: &Want, block: &mut Block) {
        let none = Some(self.scope.slots.clone());
        let unbroken = join(after, none);
        if let Some(slots) = &unbroken {
            self.scope.slots.clone_from(slots);
        }
        if broken.is_none() || !self.choices.chance(150) {
            return self.meet(unbroken, broken, block);
        }
        self.scope.has_else = true;
        let level = block.level + 1;
        let (otherwise, after_else) = match want {
            Want::Value(_) => {
                let before = self.scope.slots.clone();
                let mut otherwise = Block::new(level);
                if self.budget > 0 && self.choices.chance(60) {
                    self.budget -= 1;
                    self.statement(&mut otherwise);
                }
                if !otherwise.ends {
                    self.end(&mut otherwise);
                }
                self.leave(before, true);
                (otherwise, None)
            }
            _ => self.branch(&Want::Nothing, level),
        };
        block.line(format!("ELSE {}", otherwise.count));
        block.lines.extend(otherwise.lines);
        self.meet(after_else, broken, block);
    }

    /// Ends the function with a failure.
    fn fail(&mut self, block: &mut Block) {
        let (word, kind) = match &self.scope.err {
            Some(kind) if !self.choices.chance(40) => ("RET_ERR", kind.clone()),
            _ => ("FAIL", Kind::Text),
        };
        let text = self.text_of(&kind, 2, true);
        block.statement(format!("{word} {text}"));
        block.ends = true;
    }

    /// The body of a loop that collects what its YIELDs add.
    fn yielding(&mut self, kind: Kind, level: usize) -> Block {
        if let Some(of) = self.scope.loops.last_mut() {
            of.yields = Some(kind);
        }
        let mut body = Block::new(level);
        self.yields(&mut body);
        let rest = self.block(&Want::Nothing, level);
        body.lines.extend(rest.lines);
        (body.count, body.ends) = (body.count + rest.count, rest.ends);
        body
    }

    /// YIELD, if the innermost loop has any.
    fn yields(&mut self, block: &mut Block) {
        if let Some(kind) = self.scope.yields() {
            let depth = 1 + self.choices.below(2);
            let text = self.text_of(&kind, depth, true);
            block.statement(format!("YIELD {text}"));
        }
    }

    /// Ends the loop or its pass.
    fn end_loop(&mut self, block: &mut Block) {
        if self.choices.chance(120) {
            block.statement("SKIP".to_owned());
            self.scope.note_skip();
            block.ends = true;
            return;
        }
        block.statement("BREAK".to_owned());
        self.scope.note_break();
        block.ends = true;
    }

    /// Ends the function, or the loop.
    fn end(&mut self, block: &mut Block) {
        if self.scope.may_break() && self.choices.chance(110) {
            return self.end_loop(block);
        }
        if self.scope.open > 0 || self.choices.chance(40) {
            return self.fail(block);
        }
        let word = if self.scope.err.is_some() { "RET_OK" } else { "RET" };
        let kind = self.scope.ok.clone();
        let depth = 1 + self.choices.below(2);
        let text = self.result(&kind, depth);
        block.statement(format!("{word} {text}"));
        block.ends = true;
    }

    /// A value that the function returns: sometimes one whose type the checker cannot prove. It is of another
    /// type in most runs.
    fn result(&mut self, kind: &Kind, depth: usize) -> String {
        if !self.choices.chance(20) {
            return self.text_of(kind, depth, true);
        }
        let mut text = String::new();
        match self.choices.below(4) {
            0 => self.call_of_tool(depth, &mut text),
            1 => self.parse(&Kind::Any, depth, true, &mut text),
            2 => self.get(&Kind::Any, depth, true, &mut text),
            _ => {
                let item = Kind::choose(&mut self.choices, 1);
                self.parse(&Kind::list(item), depth, true, &mut text);
            }
        }
        text
    }

    /// An IF that ends the function.
    fn guard(&mut self, block: &mut Block) {
        let mut condition = String::new();
        self.truth(2, false, &mut condition);
        let before = self.scope.slots.clone();
        let mut body = Block::new(block.level + 1);
        if self.scope.may_break() && self.choices.chance(150) {
            if self.budget > 0 && self.choices.chance(60) {
                self.budget -= 1;
                self.statement(&mut body);
            }
            if !body.ends && self.scope.may_break() {
                self.end_loop(&mut body);
            }
            if !body.ends {
                self.end(&mut body);
            }
        } else if self.choices.chance(70) {
            self.roll_back(&mut body);
            self.fail(&mut body);
        } else {
            self.end(&mut body);
        }
        self.leave(before, true);
        block.line(format!("IF {condition} {}", body.count));
        block.lines.extend(body.lines);
        block.count += 1;
    }

    /// A slot that a loop carries from one pass to the next.
    fn accumulate(&mut self, block: &mut Block) {
        let kind = match self.choices.below(4) {
            0 => Kind::list(Kind::Number),
            1 => Kind::Number,
            2 => Kind::Text,
            _ => Kind::list(Kind::choose(&mut self.choices, 1)),
        };
        let slot = self.scope.fresh();
        block.statement(match kind {
            Kind::Number => format!("LET {slot} LIT 1 0"),
            Kind::Text => format!("LET {slot} LIT 0 \"\""),
            _ => format!("LET {slot} LIST 0"),
        });
        self.scope.bind(slot, kind.clone());
        let mut list = String::new();
        let item = self.list(1, &mut list);
        let item_slot = self.scope.fresh();
        let before = self.scope.slots.clone();
        self.scope.bind(item_slot, item);
        let mut body = Block::new(block.level + 1);
        self.scope.begin_loop(true);
        let nests = block.level < NESTED;
        if nests && self.choices.chance(80) && self.budget > 0 {
            self.budget -= 1;
            self.statement(&mut body);
        }
        if !body.ends {
            let more = match &kind {
                Kind::List(item) => format!("APPEND REF {slot} {}", self.text_of(&item.clone(), 1, true)),
                Kind::Text => format!("CONCAT REF {slot} {}", self.text_of(&Kind::Any, 1, true)),
                _ => format!("ADD REF {slot} {}", self.text_of(&Kind::Number, 1, true)),
            };
            body.statement(format!("LET {slot} {more}"));
            if nests && self.choices.chance(60) && self.budget > 0 {
                self.budget -= 1;
                self.statement(&mut body);
            }
        }
        let (broken, skipped) = self.scope.end_loop();
        let after = join(self.leave(before, body.ends), skipped);
        block.line(format!("FOR {item_slot} {list} {}", body.count));
        block.lines.extend(body.lines);
        block.count += 1;
        self.behind(Passes { after, broken }, &Want::Nothing, block);
    }

    /// A product whose result is examined: the machine has one instruction for it, except for other operands.
    fn doubled(&mut self, block: &mut Block) {
        let slot = self.scope.fresh();
        let factor = self.text_of(&Kind::Number, 0, false);
        let mut by = String::new();
        self.literal_number(&mut by);
        let mut least = String::new();
        self.literal_number(&mut least);
        block.statement(format!("LET {slot} MUL {factor} {by}"));
        let other = self.choices.chance(40).then(|| self.text_of(&Kind::Number, 0, false));
        self.scope.bind(slot, Kind::Number);
        let (then, after) = self.branch(&Want::Nothing, block.level + 1);
        let tested = other.unwrap_or_else(|| format!("REF {slot}"));
        block.line(format!("IF GTE {tested} {least} {}", then.count));
        block.lines.extend(then.lines);
        block.count += 1;
        let without = Some(self.scope.slots.clone());
        self.meet(after, without, block);
    }

    /// A result that each pass of a loop takes from the pass before and leaves for the next.
    fn carried(&mut self, block: &mut Block) {
        let slot = self.scope.fresh();
        let callee_text = |this: &mut Self| {
            let mut call = String::new();
            let kind = this.any_attempt(1, &mut call);
            (format!("LET {slot} {call}"), kind)
        };
        let (first, kind) = callee_text(self);
        block.statement(first);
        let mut list = String::new();
        let item = self.list(0, &mut list);
        let item_slot = self.scope.fresh();
        let before = self.scope.slots.clone();
        self.scope.slots[slot] = Slot::Checked;
        self.scope.open += 1;
        self.scope.bind(item_slot, item);
        self.scope.begin_loop(false);
        let mut body = Block::new(block.level + 1);
        self.matched(&Want::Nothing, slot, &Kind::Any, "", &mut body);
        if !body.ends {
            let (again, _) = callee_text(self);
            body.statement(again);
        }
        self.scope.open -= 1;
        self.scope.end_loop();
        self.leave(before, body.ends);
        block.line(format!("FOR {item_slot} {list} {}", body.count));
        block.lines.extend(body.lines);
        block.count += 1;
        self.scope.slots[slot] = Slot::Checked;
        self.scope.open += 1;
        self.matched(&Want::Nothing, slot, &kind, "", block);
        self.scope.open -= 1;
    }

    /// The last statement of a block.
    fn finish(&mut self, want: &Want, block: &mut Block) {
        match want {
            // Another value at the end of a pass would be an error.
            Want::Nothing if self.scope.yields().is_some() => self.yields(block),
            Want::Nothing => match self.choices.weighted(&[10, 2, 1]) {
                0 => {}
                1 => {
                    let text = self.text_of(&Kind::Any, 1, true);
                    block.statement(text);
                }
                _ => self.end(block),
            },
            Want::Maybe(kind) => match self.choices.weighted(&[3, 4, 1]) {
                0 | 2 => self.finish(&Want::Value(kind.clone()), block),
                _ => self.when(want, "", block),
            },
            Want::Value(kind) => match self.choices.weighted(&[9, 2, 2, 2, 1, 1]) {
                5 if block.level < 5 => self.tries(want, "", block),
                1 if block.level < 5 => self.when(want, "", block),
                2 if block.level < 5 => self.checked(want, None, block),
                3 if matches!(kind, Kind::List(_)) => self.loop_over(want, "", block),
                4 => self.end(block),
                _ => {
                    let depth = 1 + self.choices.below(3);
                    let is_result = block.level == 0;
                    let text =
                        if is_result { self.result(kind, depth) } else { self.text_of(kind, depth, true) };
                    block.statement(text);
                }
            },
        }
    }
}
