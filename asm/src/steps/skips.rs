//! Reads `skip`: the rest of an iteration does not run, and the iteration yields nothing.
//!
//! The steps that follow in the block are read into the other branch: the OK arm of the call whose
//! handler skips, or the branch of an `if` that does not skip. If a nested block skips, a slot that is then
//! true guards the following steps of the enclosing blocks.

use super::reader::{StepReader, literal, of_slot};
use super::step::{After, Bind, Item, Rest, Step, Tail};
use crate::ast::{Arm, Block, Bound, Control, Expr, If, Literal, Match, Slot, Stmt, StmtKind};
use crate::dialect::{Key, names_steps};
use crate::document::{Entry, Kind, Node, entries};
use crate::span::Span;

impl<'a> StepReader<'_, 'a> {
    /// The steps of a block before its last one, if that one is `skip`.
    pub(crate) fn before_skip<'d>(&self, node: &'d Node<'a>) -> Option<Vec<Item<'d, 'a>>> {
        let word = self.dialect.word(Key::Skip);
        let is_skip = |node: &Node<'a>| matches!(entries(node), [only] if only.name() == Some(word));
        let named = self.dialect.is_yaml() && names_steps(node);
        let mut items = match &node.kind {
            Kind::List(items) if items.last().is_some_and(is_skip) => Item::listed(items),
            Kind::Record(list) if named && list.last().is_some_and(|last| is_skip(&last.value)) => {
                Item::named(list)
            }
            Kind::Record(_) if is_skip(node) => vec![Item { name: None, node }],
            _ => return None,
        };
        let last = items.pop()?;
        let [entry] = entries(last.node) else { return None };
        (self.in_loop() && matches!(entry.value.kind, Kind::Bool(true))).then_some(items)
    }

    /// Reads the steps that [`before_skip`](Self::before_skip) gives.
    pub(crate) fn steps_before_skip(&mut self, items: &[Item<'_, 'a>]) {
        self.scope.open_block();
        self.steps(items, Tail::Drop);
        self.scope.close_block();
    }

    /// Reads an `if` of which one branch ends with `skip`: the following steps are read into the other one.
    /// Returns false if it is another `if`.
    pub(crate) fn skipping_if(
        &mut self,
        step: &Step<'_, 'a>,
        condition: Expr<'a>,
        tail: Tail,
        rest: Rest<'_, '_, 'a>,
    ) -> bool {
        let (then, otherwise) = (step.get(Key::Then), step.get(Key::Else));
        let beside = step.keyed.entry(Key::Skip).filter(|_| self.in_loop() && then.is_none());
        let of_then = beside.map(|_| Vec::new()).or_else(|| self.before_skip(then?));
        let of_else = otherwise.filter(|_| of_then.is_none()).and_then(|node| self.before_skip(node));
        let (before, negated, other) = match (of_then, of_else) {
            (Some(items), _) => (items, false, otherwise.map(|node| (node, Key::Else))),
            (None, Some(items)) => (items, true, then.map(|node| (node, Key::Then))),
            (None, None) => return false,
        };
        if let Some(entry) = beside {
            self.expect_true(Key::Skip, entry);
        }
        let at = step.place();
        let skips = self.block(|this| {
            this.compensations(step.get(Key::Compensate));
            this.steps_before_skip(&before);
            this.skip_pass(rest.tail, 2, at);
        });
        let is_last = rest.items.is_empty();
        let used = |name: &str| self.survey.used_after(name, step.start);
        let target = step.target.filter(|target| !target.own || used(target.name.text));
        // This block does not count as a block of the loop.
        let outer = self.at;
        let goes_on = self.block(|this| {
            let start = this.statements.len();
            if let Some((node, key)) = other {
                let of_branch = match target {
                    Some(_) => Tail::Value,
                    None if is_last => tail,
                    None => Tail::Drop,
                };
                this.branch_steps(node, of_branch, key);
            }
            if let Some(target) = target {
                let bind = this.bind_target(target);
                this.bind_last(start, bind);
            }
            this.within(outer, |this| this.steps(rest.items, rest.tail));
        });
        let (negated, then, otherwise) = match (skips.statements.is_empty(), negated) {
            (true, negated) => (!negated, goes_on, None),
            (false, false) => (false, skips, Some(goes_on)),
            (false, true) => (false, goes_on, Some(skips)),
        };
        let condition = if negated { self.not(condition, condition.span) } else { condition };
        self.push_if(If { condition, then, otherwise, span: at }, step.head());
        true
    }

    /// Ends a step with a MATCH.
    pub(crate) fn push_match(&mut self, node: Match<'a>, step: &Step<'_, 'a>) {
        self.push_control(Control::Match(self.arena.alloc(node)), step.head());
    }

    /// `skip` as a step that is not the last one of a branch of an `if`, or as the action of an arm.
    pub(crate) fn skip_with(&mut self, entry: &Entry<'a>, tail: Tail) {
        self.expect_true(Key::Skip, entry);
        if !self.in_loop() {
            let help = format!("`{}` ends the function", self.dialect.word(self.dialect.return_key()));
            return self.no_loop_to_skip(entry.key.span, &help);
        }
        self.skip_pass(tail, 1, entry.key.span);
    }

    /// Reports `skip` outside loops.
    pub(crate) fn no_loop_to_skip(&mut self, at: Span, help: &str) {
        self.bad_step(
            at,
            "`skip` leaves out an element of a loop, but there is no loop here",
            "`skip` in a loop",
            "no enclosing loop",
            help,
        );
    }

    /// Ends a block that skips the rest of the iteration. If there are more than `levels` blocks within the
    /// loop around it, a slot informs the enclosing blocks.
    pub(crate) fn skip_pass(&mut self, of_block: Tail, levels: usize, at: Span) {
        let level = self.at.blocks;
        let Some(open) = self.loops.last_mut().filter(|open| open.level + levels < level) else { return };
        let flag = *open.skipped.get_or_insert_with(|| self.scope.own("skipped"));
        let value = Bound::Expr(literal(Literal::Bool(true), at));
        self.push(StmtKind::Let { slot: flag, slot_span: at, value }, at);
        if of_block == Tail::Value {
            self.push(StmtKind::Value(literal(Literal::Nil, at)), at);
        }
    }

    /// A step whose handler skips: the following steps are read into the OK arm, after what `first` adds.
    pub(crate) fn skipping(
        &mut self,
        (slot, slot_span): Bind,
        err: Arm<'a>,
        step: &Step<'_, 'a>,
        rest: Rest<'_, '_, 'a>,
        first: impl FnOnce(&mut Self) -> Bind,
    ) -> After {
        let mut bind = (slot, slot_span);
        // This block does not count as a block of the loop.
        let outer = self.at;
        let body = self.block(|this| {
            bind = first(this);
            this.within(outer, |this| this.steps(rest.items, rest.tail));
        });
        let ok = Arm { bind: bind.0, bind_span: bind.1, body, span: step.place() };
        self.push_match(Match { slot, slot_span, err: Some(err), ok: Some(ok), span: step.place() }, step);
        After::Taken
    }

    /// The slot that is true if a step of this block, or of a nested one, has skipped the rest of the
    /// iteration.
    pub(crate) fn skipped(&self) -> Option<Slot> {
        self.loops.last().and_then(|open| open.skipped)
    }

    /// Reads the rest of a block for iterations that `flag` does not skip; in the block of the loop itself
    /// the flag starts as false.
    pub(crate) fn guard(&mut self, flag: Slot, start: usize, rest: Rest<'_, '_, 'a>) {
        let level = self.at.blocks;
        let outermost = self.loops.last().is_some_and(|open| open.level + 1 >= level);
        let at = self.statements.get(start).map_or(Span::default(), |statement| statement.span);
        if outermost {
            let value = Bound::Expr(literal(Literal::Bool(false), at));
            let lowered = Stmt { kind: StmtKind::Let { slot: flag, slot_span: at, value }, span: at };
            self.statements.insert(start.min(self.statements.len()), lowered);
            if let Some(open) = self.loops.last_mut() {
                open.skipped = None;
            }
        }
        if rest.items.is_empty() {
            return;
        }
        let then: Block<'a> = self.block_at(self.at, |this| this.steps(rest.items, rest.tail));
        let condition = self.not(of_slot(flag, at), at);
        let otherwise = (rest.tail == Tail::Value && !outermost)
            .then(|| self.block(|this| this.push(StmtKind::Value(literal(Literal::Nil, at)), at)));
        let node = If { condition, then, otherwise, span: at };
        self.push_if(node, at);
    }
}
