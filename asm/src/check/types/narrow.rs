//! Which values are not nil at a point, by the tests on the way to it.
//!
//! A fact is a path: a slot, with fields and items. It holds until something binds its slot, or the slot of
//! one of its indices. At the head of a loop a fact about what the loop binds holds only if it does before
//! the loop and at the end of each pass; in a handler nothing does that its block has tested or bound.
//!
//! Facts are only kept in a function in which some value may be nil.

use crate::ast::{
    Apply, Binary, Block, Case, Control, Expr, ExprKind, Literal, LoopId, Slot, StmtKind, Unary,
};
use hashbrown::HashMap;
use ilo_spec::program::Number;
use ilo_spec::pure::Pure;
use smallvec::SmallVec;

/// The most facts that are kept at a point. With more, everything counts as tested, so that nothing is
/// reported in error.
const MOST: usize = 128;

/// The number of a path.
type PathId = u32;

/// Paths, in no order.
type Paths = SmallVec<[PathId; 4]>;

/// The last step of a path, and the path before it; `None` before a slot.
type Link<'a> = (Option<PathId>, Step<'a>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step<'a> {
    Root(Slot),
    Field(&'a str),
    Item(i64),
    By(Slot),
}

/// What is known at a point.
#[derive(Clone, Debug, Default)]
pub(super) struct Proven {
    /// Whether the point is not reachable, or too much is known: then no value may be nil.
    all: bool,
    /// The paths whose values are not nil.
    paths: Paths,
    /// Slots that hold the outcome of a test: a path is not nil if the slot is true, or if it is not.
    tests: SmallVec<[(Slot, bool, PathId); 2]>,
}

impl Proven {
    /// At a point that is not reachable.
    fn never() -> Proven {
        Proven { all: true, ..Proven::default() }
    }

    fn has(&self, path: PathId) -> bool {
        self.all || self.paths.contains(&path)
    }

    /// What holds on both of two ways to a point.
    fn meet(&mut self, other: &Proven) {
        if self.all {
            self.clone_from(other);
        } else if !other.all {
            self.paths.retain(|path| other.paths.contains(path));
            self.tests.retain(|test| other.tests.contains(test));
        }
    }
}

/// What is known where control leaves the passes of a loop, while its body or its ELSE is walked.
struct LoopExits {
    /// At its BREAKs.
    broken: Proven,
    /// Where its SKIPs end a pass.
    skipped: Proven,
}

/// The facts of a function, while it is walked.
#[derive(Default)]
pub(super) struct Narrowing<'a> {
    /// Whether some value may be nil, so that facts are kept.
    pub(super) on: bool,
    /// What is known at the current point.
    now: Proven,
    /// The enclosing loops.
    loops: SmallVec<[LoopExits; 2]>,
    /// What was known at the end of the passes of a loop when the function was walked last.
    ends: HashMap<LoopId, Proven>,
    numbers: HashMap<Link<'a>, PathId>,
    links: Vec<Link<'a>>,
}

impl<'a> Narrowing<'a> {
    /// Begins at the start of the function. Numbers of paths stay, and so does what is known at the end of
    /// passes.
    pub(super) fn begin(&mut self) {
        self.now = Proven::default();
        self.loops.clear();
    }

    /// What is known here, to come back to it.
    pub(super) fn point(&self) -> Proven {
        if self.on { self.now.clone() } else { Proven::default() }
    }

    /// Goes on from a point. Returns what was known here.
    pub(super) fn from(&mut self, point: Proven) -> Proven {
        if self.on { core::mem::replace(&mut self.now, point) } else { Proven::default() }
    }

    /// Joins another way to this point.
    pub(super) fn join(&mut self, other: &Proven) {
        if self.on {
            self.now.meet(other);
        }
    }

    /// Control does not continue here.
    pub(super) fn leave(&mut self) {
        self.from(Proven::never());
    }

    /// A BREAK of the innermost loop.
    pub(super) fn leave_loop(&mut self) {
        let now = self.from(Proven::never());
        self.loops.last_mut().into_iter().for_each(|open| open.broken.meet(&now));
    }

    /// A SKIP of the innermost loop.
    pub(super) fn leave_pass(&mut self) {
        let now = self.from(Proven::never());
        self.loops.last_mut().into_iter().for_each(|open| open.skipped.meet(&now));
    }

    /// Begins the body of a loop.
    pub(super) fn enter_loop(&mut self, id: LoopId, item: Slot, body: &Block<'a>) {
        self.loops.push(LoopExits { broken: Proven::never(), skipped: Proven::never() });
        let before = if self.on { self.now.paths.clone() } else { Paths::new() };
        self.forget_bound(body);
        if let Some(end) = self.ends.get(&id).filter(|end| !end.all) {
            let again = before.into_iter().filter(|path| end.paths.contains(path));
            again.for_each(|path| {
                if !self.now.has(path) {
                    self.now.paths.push(path);
                }
            });
        }
        self.forget(item);
    }

    /// Ends the body of a loop.
    pub(super) fn end_pass(&mut self, id: LoopId) {
        if self.on {
            let skipped = self.loops.last().map_or_else(Proven::never, |open| open.skipped.clone());
            self.join(&skipped);
            self.ends.insert(id, self.point());
        }
    }

    /// Ends a loop, behind its ELSE.
    pub(super) fn end_loop(&mut self) {
        if let Some(LoopExits { broken, .. }) = self.loops.pop() {
            self.join(&broken);
        }
    }

    /// Whether a test has shown that a value is not nil.
    pub(super) fn knows(&mut self, value: &Expr<'a>) -> bool {
        self.now.all || self.path(value).is_some_and(|path| self.now.has(path))
    }

    /// From here on a value is not nil: if it were, the run would have ended.
    pub(super) fn learn(&mut self, value: &Expr<'a>) {
        if let Some(path) = self.path(value) {
            self.add(path);
        }
    }

    /// From here on a slot holds a new value.
    pub(super) fn bind(&mut self, slot: Slot, nil: bool) {
        self.forget(slot);
        if !nil {
            let path = self.number((None, Step::Root(slot)));
            self.add(path);
        }
    }

    /// A slot holds the outcome of a condition.
    pub(super) fn bind_test(&mut self, slot: Slot, condition: &Expr<'a>) {
        if !self.on || !condition.is_comparison() {
            return;
        }
        for satisfied in [true, false] {
            let shown = self.shown(condition, satisfied);
            let left = MOST.saturating_sub(self.now.tests.len());
            // The condition may be about what the slot held before.
            let kept = shown.into_iter().filter(|&path| !depends(&self.links, path, slot));
            self.now.tests.extend(kept.take(left).map(|path| (slot, satisfied, path)));
        }
    }

    /// From here on a condition is satisfied, or not.
    pub(super) fn assume(&mut self, condition: &Expr<'a>, satisfied: bool) {
        if self.on {
            for path in self.shown(condition, satisfied) {
                self.add(path);
            }
        }
    }

    /// What holds in a case of `MATCH_MAP`; `None` is the default, where none of the keys is equal.
    pub(super) fn assume_case(&mut self, subject: &Expr<'a>, case: Option<&Case<'a>>, all: &[Case<'a>]) {
        if !self.on {
            return;
        }
        match (case.map(|case| case.key), all) {
            (Some(Literal::Bool(truth)), _) => self.assume(subject, truth),
            (None, [Case { key: Literal::Bool(truth), .. }]) => self.assume(subject, !truth),
            (Some(Literal::Nil), _) => {}
            (None, _) if all.iter().all(|case| !matches!(case.key, Literal::Nil)) => {}
            _ => self.learn(subject),
        }
    }

    /// Forgets what a block binds: it may run any number of times, or end anywhere.
    pub(super) fn forget_bound(&mut self, block: &Block<'a>) {
        if !(self.now.paths.is_empty() && self.now.tests.is_empty()) {
            each_bound(block, &mut |slot| self.forget(slot));
        }
    }

    fn forget(&mut self, slot: Slot) {
        let links = &self.links;
        self.now.paths.retain(|path| !depends(links, *path, slot));
        self.now.tests.retain(|(of, _, path)| *of != slot && !depends(links, *path, slot));
    }

    /// Adds a path, with those that it begins with.
    fn add(&mut self, path: PathId) {
        let mut next = Some(path);
        while let Some(path) = next.filter(|&path| !self.now.has(path)) {
            self.now.all |= self.now.paths.len() >= MOST;
            self.now.paths.push(path);
            next = self.links.get(path as usize).and_then(|&(before, _)| before);
        }
    }

    fn number(&mut self, link: Link<'a>) -> PathId {
        let links = &mut self.links;
        *self.numbers.entry(link).or_insert_with(|| {
            links.push(link);
            u32::try_from(links.len() - 1).unwrap_or(PathId::MAX)
        })
    }

    /// The path that an expression reads; one that is read by GET gives nil where it is absent.
    fn path(&mut self, value: &Expr<'a>) -> Option<PathId> {
        match value.kind {
            ExprKind::Ref(slot) => Some(self.number((None, Step::Root(slot)))),
            ExprKind::Field(of, name) => {
                let of = self.path(of)?;
                Some(self.number((Some(of), Step::Field(name.text))))
            }
            ExprKind::Binary(Binary::At, of, key) => self.part(of, key),
            ExprKind::Apply(Apply { function: Pure::Get, operands: [of, key, default @ ..], .. }) => {
                if default.iter().all(Expr::is_nil) {
                    self.part(of, key)
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    fn part(&mut self, of: &Expr<'a>, key: &Expr<'a>) -> Option<PathId> {
        let step = match key.kind {
            // `x ?? y` reads item 0 of a list that holds x alone.
            ExprKind::Literal(Literal::Number(Number::Int(0))) if let ExprKind::List([only]) = of.kind => {
                return self.path(only);
            }
            ExprKind::Literal(Literal::Text(name)) => Step::Field(name),
            ExprKind::Literal(Literal::Number(Number::Int(index))) => Step::Item(index),
            ExprKind::Ref(slot) => Step::By(slot),
            _ => return None,
        };
        let of = self.path(of)?;
        Some(self.number((Some(of), step)))
    }

    /// The paths that are not nil if a condition is satisfied, or if it is not.
    fn shown(&mut self, condition: &Expr<'a>, satisfied: bool) -> Paths {
        match condition.kind {
            ExprKind::Unary(Unary::Not, of) => self.shown(of, !satisfied),
            ExprKind::Binary(operator @ (Binary::And | Binary::Or), a, b) => {
                let (mut one, other) = (self.shown(a, satisfied), self.shown(b, satisfied));
                if (operator == Binary::And) == satisfied {
                    one.extend(other);
                } else {
                    one.retain(|path| other.contains(path));
                }
                one
            }
            ExprKind::Binary(operator @ (Binary::Eq | Binary::Neq), a, b) => {
                let equal = (operator == Binary::Eq) == satisfied;
                let found = self.compared(a, b, equal).or_else(|| self.compared(b, a, equal));
                found.into_iter().collect()
            }
            ExprKind::Has(of, name) if satisfied => {
                let of = self.path(of);
                of.map(|of| self.number((Some(of), Step::Field(name.text)))).into_iter().collect()
            }
            ExprKind::Binary(Binary::HasName, of, key) if satisfied => match of.kind {
                ExprKind::List(items) if items.iter().all(is_given) => self.path(key),
                _ => self.part(of, key),
            }
            .into_iter()
            .collect(),
            ExprKind::Binary(operator, Expr { kind: ExprKind::Unary(Unary::Len, of), .. }, number) => {
                if is_above_zero(operator, number, satisfied) { self.filled(of) } else { None }
                    .into_iter()
                    .collect()
            }
            ExprKind::Ref(slot) if self.now.tests.iter().any(|test| test.0 == slot) => {
                let tests = self.now.tests.iter().filter(|test| (test.0, test.1) == (slot, satisfied));
                tests.map(|test| test.2).collect()
            }
            _ if satisfied => {
                self.differs(condition, &[Literal::Nil, Literal::Bool(false)]).into_iter().collect()
            }
            _ => Paths::new(),
        }
    }

    /// The path that is not nil if a value equals another one, or differs from it.
    fn compared(&mut self, value: &Expr<'a>, other: &Expr<'a>, equal: bool) -> Option<PathId> {
        let ExprKind::Literal(constant) = other.kind else { return None };
        if let ExprKind::Unary(Unary::Len, of) = value.kind {
            let zero = matches!(constant, Literal::Number(Number::Int(0)));
            return if zero == equal { None } else { self.filled(of) };
        }
        if !equal {
            return self.differs(value, &[constant]);
        }
        match value.kind {
            ExprKind::Apply(Apply { function: Pure::Get, operands: [of, key, default], .. })
                if let ExprKind::Literal(default) = default.kind
                    && default != constant =>
            {
                self.part(of, key)
            }
            _ if matches!(constant, Literal::Nil) => None,
            _ => self.path(value),
        }
    }

    /// The path of a value that is none of these constants, if its own nil or its default is one of them.
    fn differs(&mut self, value: &Expr<'a>, from: &[Literal<'a>]) -> Option<PathId> {
        let among = |constant: Literal<'_>| from.contains(&constant);
        match value.kind {
            ExprKind::Apply(Apply { function: Pure::Get, operands: [of, key, default], .. }) => {
                let ExprKind::Literal(default) = default.kind else { return None };
                if among(default) { self.part(of, key) } else { None }
            }
            _ if among(Literal::Nil) => self.path(value),
            _ => None,
        }
    }

    /// The path of a value that is not empty, although its default is.
    fn filled(&mut self, value: &Expr<'a>) -> Option<PathId> {
        let ExprKind::Apply(Apply { function: Pure::Get, operands: [of, key, default], .. }) = value.kind
        else {
            return self.path(value);
        };
        match default.kind {
            ExprKind::List([]) | ExprKind::Record([]) | ExprKind::Literal(Literal::Text("")) => {
                self.part(of, key)
            }
            _ => None,
        }
    }
}

/// Whether a path begins with a slot, or has it as an index.
fn depends(links: &[Link<'_>], path: PathId, slot: Slot) -> bool {
    let mut next = Some(path);
    while let Some(&(before, step)) = next.and_then(|path| links.get(path as usize)) {
        if matches!(step, Step::Root(one) | Step::By(one) if one == slot) {
            return true;
        }
        next = before;
    }
    false
}

/// Whether a value is a constant other than nil.
fn is_given(value: &Expr<'_>) -> bool {
    matches!(value.kind, ExprKind::Literal(literal) if !matches!(literal, Literal::Nil))
}

/// Whether a length is above 0 if its comparison with a number is true, or not.
fn is_above_zero(operator: Binary, number: &Expr<'_>, satisfied: bool) -> bool {
    let ExprKind::Literal(Literal::Number(Number::Int(number))) = number.kind else { return false };
    match (operator, satisfied) {
        (Binary::Gt, true) | (Binary::Lte, false) => number >= 0,
        (Binary::Gte, true) | (Binary::Lt, false) => number >= 1,
        _ => false,
    }
}

/// Visits each slot that a block binds.
fn each_bound(block: &Block<'_>, each: &mut impl FnMut(Slot)) {
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
