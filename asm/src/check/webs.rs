//! Webs: the bindings of a slot and the reads that they may reach. A program may use one slot, or one name,
//! for values that have nothing to do with each other; each of them is a web of its own.
//!
//! More paths are assumed than there are: every binding in the body of a loop reaches its head and its end,
//! and every binding in a TRY its handler. So a web may be larger than needed, never smaller.

use crate::ast::{Block, Control, Expr, ExprKind, For, Function, Match, Slot, Stmt, StmtKind, Try};
use crate::span::Span;
use hashbrown::HashMap;
use ilo_spec::limits::REGISTERS;
use smallvec::{SmallVec, smallvec};

/// The webs of a function.
#[derive(Default)]
pub(super) struct Webs {
    /// By the place where a slot is read or bound.
    webs: HashMap<(Slot, Span), usize>,
    /// A number above that of each web.
    pub(super) end: usize,
}

impl Webs {
    /// None of a function with too many slots, which is not compiled.
    pub(super) fn of(function: &Function<'_>) -> Webs {
        let slots = function.slots.len();
        if slots > REGISTERS {
            return Webs { end: 1, ..Webs::default() };
        }
        let mut walk = Versions {
            current: (0..slots).collect(),
            values: (0..slots).map(|slot| Version { slot, joins: None }).collect(),
            ..Versions::default()
        };
        walk.block(&function.body);
        walk.webs()
    }

    /// The web of a slot that is read or bound at a place.
    pub(super) fn at(&self, slot: Slot, place: Span) -> Option<usize> {
        self.webs.get(&(slot, place)).copied()
    }
}

/// A value that a slot may hold: one binding, or the join of several.
struct Version {
    slot: usize,
    joins: Option<SmallVec<[usize; 4]>>,
}

/// The value of each slot at the end of a branch; `None` if that is not reached.
type Branch = Option<Vec<usize>>;

#[derive(Default)]
struct Versions {
    /// The value of each slot.
    current: Vec<usize>,
    values: Vec<Version>,
    /// Each place with its value.
    places: Vec<((Slot, Span), usize)>,
    /// The values that are read.
    read: Vec<usize>,
}

impl Versions {
    fn set(&mut self, slot: usize, value: usize) {
        if let Some(current) = self.current.get_mut(slot) {
            *current = value;
        }
    }

    fn join(&mut self, slot: usize, joined: SmallVec<[usize; 4]>) -> usize {
        self.values.push(Version { slot, joins: Some(joined) });
        self.values.len() - 1
    }

    fn bind(&mut self, slot: Slot, place: Span) {
        let value = self.values.len();
        self.values.push(Version { slot: slot.0 as usize, joins: None });
        self.places.push(((slot, place), value));
        self.set(slot.0 as usize, value);
    }

    fn reads(&mut self, slot: Slot, place: Span) {
        if let Some(&value) = self.current.get(slot.0 as usize) {
            self.places.push(((slot, place), value));
            self.read.push(value);
        }
    }

    fn value(&mut self, value: &Expr<'_>) {
        if let ExprKind::Ref(slot) = value.kind {
            self.reads(slot, value.span);
        }
        value.children(|child| self.value(child));
    }

    /// Returns whether the end of the block is reached.
    fn block(&mut self, block: &Block<'_>) -> bool {
        let mut reached = true;
        for statement in block.statements {
            reached &= self.statement(statement);
        }
        reached
    }

    fn statement(&mut self, statement: &Stmt<'_>) -> bool {
        statement.each_value(|value| self.value(value));
        let reached = match statement.control() {
            None => statement.completes(),
            Some(Control::If(node)) => {
                let branches = [Some(&node.then), node.otherwise.as_ref()];
                let branches = branches.map(|block| self.branch(None, block));
                self.meet(branches)
            }
            Some(Control::Match(node)) => self.arms(node),
            Some(Control::For(node)) => self.passes(node),
            Some(Control::Try(node)) => self.tried(node),
        };
        if let StmtKind::Let { slot, slot_span, .. } = statement.kind {
            self.bind(slot, slot_span);
        }
        reached
    }

    /// Walks a branch, and then goes back to its start.
    fn branch(&mut self, bound: Option<(Slot, Span)>, block: Option<&Block<'_>>) -> Branch {
        let before = self.current.clone();
        if let Some((slot, place)) = bound {
            self.bind(slot, place);
        }
        let reached = block.is_none_or(|block| self.block(block));
        let after = core::mem::replace(&mut self.current, before);
        reached.then_some(after)
    }

    /// Goes on behind two branches. Returns whether the end of one of them is reached.
    fn meet(&mut self, branches: [Branch; 2]) -> bool {
        let (one, other) = match branches {
            [Some(one), Some(other)] => (one, other),
            [Some(only), None] | [None, Some(only)] => {
                self.current = only;
                return true;
            }
            [None, None] => return false,
        };
        for (slot, (one, other)) in one.into_iter().zip(other).enumerate() {
            let value = if one == other { one } else { self.join(slot, smallvec![one, other]) };
            self.set(slot, value);
        }
        true
    }

    fn arms(&mut self, node: &Match<'_>) -> bool {
        self.reads(node.slot, node.slot_span);
        let arms = [&node.err, &node.ok].map(|arm| {
            let bound = arm.as_ref().map(|arm| (arm.bind, arm.bind_span));
            self.branch(bound, arm.as_ref().map(|arm| &arm.body))
        });
        self.meet(arms)
    }

    fn passes(&mut self, node: &For<'_>) -> bool {
        let heads = self.heads(&node.body, Some(node.item));
        heads.iter().for_each(|&(slot, head)| self.set(slot, head));
        let first = self.values.len();
        self.bind(node.item, node.item_span);
        self.block(&node.body);
        self.reach(&heads, first);
        heads.iter().for_each(|&(slot, head)| self.set(slot, head));
        if let Some(otherwise) = &node.otherwise {
            let after = self.branch(None, Some(otherwise));
            let broken = Some(self.current.clone());
            self.meet([after, broken]);
        }
        true
    }

    fn tried(&mut self, node: &Try<'_>) -> bool {
        let heads = self.heads(&node.body, None);
        let first = self.values.len();
        let body = self.branch(None, Some(&node.body));
        self.reach(&heads, first);
        heads.iter().for_each(|&(slot, head)| self.set(slot, head));
        let handler = &node.handler;
        let handled = self.branch(Some((handler.bind, handler.bind_span)), Some(&handler.body));
        self.meet([body, handled])
    }

    /// For each slot that a block binds, in order, a join that its value before reaches.
    fn heads(&mut self, block: &Block<'_>, item: Option<Slot>) -> Vec<(usize, usize)> {
        let mut slots: Vec<usize> = item.map(|item| item.0 as usize).into_iter().collect();
        each_bound(block, &mut |slot| slots.push(slot.0 as usize));
        slots.sort_unstable();
        slots.dedup();
        let known = slots.into_iter().filter_map(|slot| Some((slot, *self.current.get(slot)?)));
        let known: Vec<(usize, usize)> = known.collect();
        known.into_iter().map(|(slot, before)| (slot, self.join(slot, smallvec![before]))).collect()
    }

    /// Lets each binding from `first` on reach the join of its slot.
    fn reach(&mut self, heads: &[(usize, usize)], first: usize) {
        for value in first..self.values.len() {
            let of = self.values.get(value).filter(|value| value.joins.is_none()).map(|value| value.slot);
            let at = of.and_then(|slot| heads.binary_search_by_key(&slot, |&(slot, _)| slot).ok());
            let head = at.and_then(|at| heads.get(at)).and_then(|&(_, head)| self.values.get_mut(head));
            if let Some(joined) = head.and_then(|head| head.joins.as_mut()) {
                joined.push(value);
            }
        }
    }

    fn webs(mut self) -> Webs {
        let mut sets = Sets((0..self.values.len()).collect());
        // What a join joins is one web if the join is read.
        let mut done = vec![false; self.values.len()];
        while let Some(value) = self.read.pop() {
            let Some(done) = done.get_mut(value).filter(|done| !**done) else { continue };
            *done = true;
            for &joined in self.values.get(value).and_then(|value| value.joins.as_ref()).into_iter().flatten()
            {
                sets.unite(value, joined);
                self.read.push(joined);
            }
        }
        // A place that is in the tree twice is in one web.
        let mut webs: HashMap<(Slot, Span), usize> = HashMap::with_capacity(self.places.len());
        for &(place, value) in &self.places {
            let first = *webs.entry(place).or_insert(value);
            sets.unite(first, value);
        }
        webs.values_mut().for_each(|web| *web = sets.root(*web));
        Webs { webs, end: self.values.len() }
    }
}

/// Visits each slot that a block binds.
pub(super) fn each_bound(block: &Block<'_>, each: &mut impl FnMut(Slot)) {
    for statement in block.statements {
        if let StmtKind::Let { slot, .. } = statement.kind {
            each(slot);
        }
        let Some(control) = statement.control() else { continue };
        if let Control::Match(node) = control {
            each(node.slot);
        }
        for (bound, block) in control.blocks() {
            bound.into_iter().for_each(&mut *each);
            each_bound(block, each);
        }
    }
}

/// Disjoint sets of values: each value with one of its set, a root with itself.
struct Sets(Vec<usize>);

impl Sets {
    fn root(&mut self, mut value: usize) -> usize {
        while let Some(&above) = self.0.get(value).filter(|&&above| above != value) {
            let next = self.0.get(above).copied().unwrap_or(above);
            if let Some(place) = self.0.get_mut(value) {
                *place = next;
            }
            value = next;
        }
        value
    }

    fn unite(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        if let Some(place) = self.0.get_mut(one.max(other)) {
            *place = one.min(other);
        }
    }
}
