//! The state of reading a function: its names and slots, its tree so far, and the position in its blocks;
//! what does not change meanwhile, such as the notation, the source and the declarations of the header; and
//! the keys of its records: the meaning of each, and unknown keys. Callers read the values.

use super::habits;
use super::scope::Scope;
use super::step::Keyed;
use crate::arena::Arena;
use crate::ast::{
    Binary, Block, Call, CallId, Control, Expr, ExprKind, Field, If, Literal, LoopId, Name, OutputName,
    PartSet, Slot, Stmt, StmtKind, Unary,
};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::document_names::Survey;
use crate::dialect::{Dialect, HANDLER, Key};
use crate::document::{Entry, Node, entries, first_of, rename, shown};
use crate::expr::reference::{FAILURES, Reference};
use crate::span::Span;
use core::cell::Cell;
use ilo_spec::error::Code;
use ilo_spec::program::Number;

/// The names of a file's functions, for `mcp://self`.
#[derive(Clone, Copy)]
pub(crate) struct Functions<'a> {
    /// In source order: the name, and whether the source has it.
    pub(crate) list: &'a [(&'a str, bool)],
    /// Their inputs, as they are written.
    pub(crate) inputs: &'a [Option<Node<'a>>],
    /// The index of the current function.
    pub(crate) own: usize,
}

/// A loop whose body is being read.
pub(crate) struct EnclosingLoop<'a> {
    /// Its start in the source.
    pub(crate) start: u32,
    /// The name of its element.
    pub(crate) element: Option<&'a str>,
    /// Whether it has a BREAK.
    pub(crate) breaks: bool,
    /// Whether its list has a place; else what a pass gives at its end goes nowhere.
    pub(crate) gives: bool,
    /// The condition of `until`, which is tested where a pass is skipped too.
    pub(crate) until: Option<Node<'a>>,
}

/// A failure whose handler is being read, and the enclosing handlers.
#[derive(Clone, Copy)]
pub(crate) struct Failure<'a> {
    pub(crate) slot: Slot,
    /// Whether it is the failure of a tool, and so a text.
    pub(crate) is_text: bool,
    outer: Option<&'a Failure<'a>>,
}

/// The names of the enclosing steps, the innermost first.
#[derive(Clone, Copy)]
pub(super) struct Naming<'a> {
    pub(super) name: &'a str,
    pub(super) outer: Option<&'a Naming<'a>>,
}

/// Which loops may be in an expression: they run before its step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum InnerLoops {
    /// None: the step may not evaluate the expression.
    #[default]
    Refused,
    /// Those in which nothing can fail: the handler of the step would not see it.
    Infallible,
    /// All.
    All,
}

/// The position in the function. [`StepReader::within`] restores it as a whole.
#[derive(Clone, Copy, Default)]
pub(crate) struct Placement<'a> {
    /// The number of enclosing blocks and expressions.
    pub(crate) depth: usize,
    /// The number of enclosing blocks.
    pub(crate) blocks: usize,
    /// The end of the current step in the outermost block of the function.
    pub(crate) step_end: u32,
    /// The number of enclosing cases whose values are read twice.
    pub(crate) doubled: u8,
    /// Whether a failure goes to the handler of a `try`.
    pub(crate) in_try: bool,
    /// Whether an enclosing record is reported as a whole, so that its parts are not reported.
    pub(crate) reported: bool,
    /// Whether the expression is a condition, or an operand of one.
    pub(crate) condition: bool,
    /// The loops that may be in the expression.
    pub(crate) loops: InnerLoops,
    pub(super) failure: Option<&'a Failure<'a>>,
    pub(super) naming: Option<&'a Naming<'a>>,
}

/// The state of reading one function.
pub(crate) struct StepReader<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) source: &'a str,
    pub(crate) arena: &'a Arena,
    /// The maximum nesting of blocks and expressions together.
    pub(crate) nesting: usize,
    pub(crate) functions: Functions<'a>,
    pub(crate) survey: Survey<'a>,
    /// The output type.
    pub(crate) output: OutputName<'a>,
    /// Where habits are left out, as in tests: whether they would have changed something.
    pub(crate) canonical: Option<&'a Cell<bool>>,
    /// The inputs whose type is a list.
    pub(crate) lists: &'a [&'a str],
    pub(crate) diagnostics: Diagnostics,
    pub(crate) scope: Scope<'a>,
    pub(crate) at: Placement<'a>,
    /// The enclosing loops, the innermost last.
    pub(crate) loops: Vec<EnclosingLoop<'a>>,
    /// The statements of the enclosing blocks, the innermost last.
    pub(crate) statements: Vec<Stmt<'a>>,
    /// The suspects: expressions about which a lint has warned.
    pub(crate) suspects: Vec<Span>,
    /// Each `or` of an expression that is no condition, with the span of the word.
    pub(crate) ors: Vec<(Span, Span)>,
    pub(crate) parts: Vec<PartSet<'a>>,
    pub(crate) call_count: u32,
    pub(crate) loop_count: u32,
    /// Whether too deep nesting of the function has been reported.
    pub(crate) too_deep: bool,
}

/// The keys of a record before anything is reported.
pub(crate) struct KeySearch<'d, 'a> {
    pub(crate) found: Keyed<'d, 'a>,
    pub(crate) unknown: Vec<(usize, &'d Entry<'a>)>,
    /// An entry that repeats one before it.
    pub(crate) repeated: Vec<(&'d Entry<'a>, &'d Entry<'a>, Key)>,
}

impl<'a> StepReader<'a> {
    /// The reference that an inexact one means.
    pub(crate) fn resolve(&self, reference: &Reference<'a>) -> Option<Reference<'a>> {
        self.of_habits(habits::resolve(reference, self))
    }

    /// What habits have found, unless they are left out.
    pub(crate) fn of_habits<T>(&self, found: Option<T>) -> Option<T> {
        if let Some(left_out) = self.canonical {
            left_out.set(left_out.get() || found.is_some());
        }
        found.filter(|_| self.canonical.is_none())
    }

    /// Whether a bare name refers to a value.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.named(name).is_some()
    }

    /// Whether an input has this name.
    pub(crate) fn has_input(&self, name: &str) -> bool {
        self.scope.input(name).is_some()
    }

    pub(crate) fn in_loop(&self) -> bool {
        !self.loops.is_empty()
    }

    /// Whether the function returns a result.
    pub(crate) fn is_result(&self) -> bool {
        self.output.err.is_some()
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub(crate) fn bad_step(&mut self, span: Span, message: &str, expected: &str, found: &str, help: &str) {
        self.report(Diagnostic::new(Code::BadStep, span, message).expected(expected, found).help(help));
    }

    /// Reports an entry beside another one of which a record has only one.
    pub(crate) fn one_of_two(&mut self, before: &Entry<'a>, entry: &Entry<'a>, help: &str) {
        let (one, other) = (shown(&before.key), shown(&entry.key));
        let message = format!("one thing is done here, not both `{one}` and `{other}`");
        self.bad_step(entry.key.span, &message, "one of them", "both", help);
    }

    /// The only entry of a record with one of these keys.
    pub(crate) fn only_one<'d>(
        &mut self,
        keyed: &Keyed<'d, 'a>,
        keys: impl IntoIterator<Item = Key>,
    ) -> Option<(Key, &'d Entry<'a>)> {
        let mut given = keys.into_iter().filter_map(|key| keyed.entry(key).map(|entry| (key, entry)));
        let first = given.next()?;
        if let Some((_, entry)) = given.next() {
            self.one_of_two(first.1, entry, "leave one of them out");
        }
        Some(first)
    }

    /// Reads something at another position, and restores this one.
    pub(crate) fn within<T>(&mut self, at: Placement<'a>, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = core::mem::replace(&mut self.at, at);
        let found = read(self);
        self.at = outer;
        found
    }

    /// Reads something nested, unless it is too deep, which is reported once for each function.
    pub(crate) fn deeper<T>(&mut self, at: Span, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let inner = Placement { depth: self.at.depth + 1, ..self.at };
        self.fits(1, at).then(|| self.within(inner, read))
    }

    /// Whether this number of levels may be nested here; if not, it is reported.
    pub(crate) fn fits(&mut self, levels: usize, at: Span) -> bool {
        let most = self.nesting;
        let fits = self.at.depth + levels <= most;
        if !fits && !core::mem::replace(&mut self.too_deep, true) {
            let wrong =
                Diagnostic::new(Code::TooDeep, at, format!("this is nested deeper than {most} levels"))
                    .expected(format!("at most {most} levels"), format!("{} levels", most + 1));
            self.report(wrong.help("bind what is inside in a step of its own first"));
        }
        fits
    }

    /// The levels that the expression of a text may have, of which the text itself is the first.
    pub(crate) fn levels_left(&self) -> usize {
        (self.nesting + 1).saturating_sub(self.at.depth)
    }

    /// The position in a value that may not be evaluated although its step is.
    pub(crate) fn sometimes(&self) -> Placement<'a> {
        Placement { loops: InnerLoops::Refused, ..self.at }
    }

    /// The position in the value of a case, which is read twice if `doubled`.
    pub(crate) fn in_case(&self, doubled: bool) -> Placement<'a> {
        Placement { doubled: self.at.doubled + u8::from(doubled), ..self.at }
    }

    /// The position inside the handler of the failure in `slot`.
    pub(crate) fn in_handler(&self, slot: Slot, is_text: bool) -> Placement<'a> {
        let failure = self.arena.alloc(Failure { slot, is_text, outer: self.at.failure });
        Placement { failure: Some(failure), ..self.at }
    }

    /// The position in a step that binds these names.
    pub(crate) fn in_step(&self, names: [Option<&'a str>; 2]) -> Placement<'a> {
        let naming = names
            .into_iter()
            .flatten()
            .fold(self.at.naming, |outer, name| Some(&*self.arena.alloc(Naming { name, outer })));
        Placement { naming, ..self.at }
    }

    /// Whether an enclosing step binds this name.
    pub(crate) fn binds(&self, name: &str) -> bool {
        core::iter::successors(self.at.naming, |naming| naming.outer).any(|naming| naming.name == name)
    }

    /// The slot to which a name refers here.
    pub(crate) fn named(&self, name: &str) -> Option<Slot> {
        match self.at.failure {
            Some(failure) if self.is_failure(name) => Some(failure.slot),
            _ => self.scope.find(name),
        }
    }

    /// Whether a name means the failure in a handler: the word of the notation, and that of the others if the
    /// function binds no variable of this name.
    pub(crate) fn is_failure(&self, name: &str) -> bool {
        let of_others = || FAILURES.contains(&name) && self.survey.first_binding(name).is_none();
        name == self.dialect.failure() || of_others()
    }

    /// An unnamed slot that is not the slot of a failure of an enclosing handler.
    pub(crate) fn hidden(&mut self, name: Option<&'a str>) -> Slot {
        let handled = self.at.failure;
        let busy = |slot| {
            core::iter::successors(handled, |failure| failure.outer).any(|failure| failure.slot == slot)
        };
        self.scope.hidden(name, busy)
    }

    pub(crate) fn new_call(
        &mut self,
        tool: Name<'a>,
        arguments: &'a [Field<'a>],
        span: Span,
    ) -> &'a Call<'a> {
        let id = self.new_attempt();
        self.arena.alloc(Call { id, tool, arguments, span })
    }

    /// The number of a call, or of a fallible function.
    pub(crate) fn new_attempt(&mut self) -> CallId {
        let id = CallId(self.call_count);
        self.call_count += 1;
        id
    }

    pub(crate) fn new_loop(&mut self) -> LoopId {
        let id = LoopId(self.loop_count);
        self.loop_count += 1;
        id
    }

    pub(crate) fn push(&mut self, kind: StmtKind<'a>, span: Span) {
        self.statements.push(Stmt { kind, span });
    }

    pub(crate) fn push_control(&mut self, control: Control<'a>, span: Span) {
        self.push(StmtKind::Control(control), span);
    }

    pub(crate) fn push_if(&mut self, node: If<'a>, span: Span) {
        self.push_control(Control::If(self.arena.alloc(node)), span);
    }

    /// A block with the statements that `read` adds, one level deeper.
    pub(crate) fn block(&mut self, read: impl FnOnce(&mut Self)) -> Block<'a> {
        let inner = Placement { blocks: self.at.blocks + 1, loops: InnerLoops::All, ..self.at };
        self.apart(|this| this.within(inner, read)).0
    }

    /// Reads something, and takes the statements that it adds out of the current block.
    pub(crate) fn apart<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> (Block<'a>, T) {
        let start = self.statements.len();
        let found = read(self);
        let statements = self.arena.alloc_slice_copy(self.statements.get(start..).unwrap_or_default());
        self.statements.truncate(start);
        (Block { statements }, found)
    }

    pub(crate) fn alloc(&self, expr: Expr<'a>) -> &'a Expr<'a> {
        self.arena.alloc(expr)
    }

    pub(crate) fn not(&self, operand: Expr<'a>, span: Span) -> Expr<'a> {
        Expr { kind: ExprKind::Unary(Unary::Not, self.alloc(operand)), span }
    }

    pub(crate) fn binary(&self, operator: Binary, a: Expr<'a>, b: Expr<'a>, span: Span) -> Expr<'a> {
        Expr { kind: ExprKind::Binary(operator, self.alloc(a), self.alloc(b)), span }
    }

    /// Reads the keys of a record, which may have `keys`; `what` names the record in messages.
    pub(crate) fn keyed<'d>(&mut self, node: &'d Node<'a>, keys: &[Key], what: &str) -> Keyed<'d, 'a> {
        let KeySearch { mut found, mut unknown, repeated } = self.known(node, keys);
        for (entry, before, key) in repeated {
            self.repeated_key(entry, before, key);
        }
        if !unknown.is_empty() {
            unknown = habits::words(self, &mut found, unknown, (keys, what));
        }
        for entry in unknown {
            self.unknown_key(entry, keys, what, &mut found);
        }
        found
    }

    /// The keys of a record that the notation has for `keys`.
    pub(crate) fn known<'d>(&self, node: &'d Node<'a>, keys: &[Key]) -> KeySearch<'d, 'a> {
        let list: &'d [Entry<'a>] = entries(node);
        let mut read =
            KeySearch { found: Keyed::of(list, node.span), unknown: Vec::new(), repeated: Vec::new() };
        for (index, entry) in list.iter().enumerate() {
            match entry.name().and_then(|name| self.dialect.key(name, keys)) {
                None => read.unknown.push((index, entry)),
                Some(key) => {
                    let before = read.found.put(key, index);
                    read.repeated.extend(before.map(|before| (entry, before, key)));
                }
            }
        }
        read
    }

    pub(crate) fn repeated_key(&mut self, entry: &Entry<'a>, before: &Entry<'a>, key: Key) {
        let word = self.dialect.word(key);
        let message = format!("`{}` repeats `{}`", shown(&entry.key), shown(&before.key));
        let wrong = Diagnostic::new(Code::DuplicateKey, entry.key.span, message)
            .expected(format!("`{word}` once"), "both")
            .related(before.key.span, "first here");
        self.report(wrong.help("leave one of them out"));
    }

    /// Reports an unknown key. The nearest key that the record does not have is read in its place.
    fn unknown_key(
        &mut self,
        (index, entry): (usize, &Entry<'a>),
        keys: &[Key],
        what: &str,
        found: &mut Keyed<'_, 'a>,
    ) {
        let name = entry.name();
        let free: Vec<Key> = keys.iter().copied().filter(|&key| !found.has(key)).collect();
        let handles = name.is_some_and(|name| self.dialect.key(name, &[Key::Handler]).is_some());
        let near = name.filter(|_| !handles).and_then(|name| self.dialect.nearest(name, &free));
        let word = near.map(|key| self.dialect.word(key));
        let wrong = self.dialect.unknown_key(&entry.key, keys, what, word);
        let help = match self.dialect.listed(&free) {
            _ if handles => format!("put this step under `try`, with `{}` beside that", shown(&entry.key)),
            words if words.is_empty() => "leave it out".to_owned(),
            words if *keys == HANDLER => format!("a value is under `value`; otherwise use one of {words}"),
            words => format!("leave it out, or use one of {words}"),
        };
        self.report(wrong.fix_or_help(word.and_then(|word| rename(&entry.key, word)), help));
        if let Some(key) = near {
            found.put(key, index);
        }
    }

    /// Reports a missing key.
    pub(crate) fn missing(&mut self, span: Span, key: Key, what: &str, help: &str) {
        let word = self.dialect.word(key);
        let wrong = Diagnostic::new(Code::MissingKey, span, format!("`{word}` is missing in {what}"))
            .expected(format!("`{word}`"), format!("{what} without it"));
        self.report(wrong.help(help.to_owned()));
    }

    /// Reports a value of the wrong kind.
    pub(crate) fn bad_shape(&mut self, node: &Node<'a>, what: &str, expected: &str) {
        self.report(wrong_shape(node, what, expected));
    }
}

/// The diagnostic of a value of the wrong kind.
pub(crate) fn wrong_shape(node: &Node<'_>, what: &str, expected: &str) -> Diagnostic {
    let found = if node.text() == Some("") { "an empty text" } else { node.kind_name() };
    let message = format!("{what} is {expected}, but this is {found}");
    Diagnostic::new(Code::BadShape, first_of(node), message).expected(expected, found)
}

pub(crate) fn literal(literal: Literal<'_>, span: Span) -> Expr<'_> {
    Expr { kind: ExprKind::Literal(literal), span }
}

pub(crate) fn number<'a>(value: i64, span: Span) -> Expr<'a> {
    literal(Literal::Number(Number::Int(value)), span)
}

/// In place of an expression that could not be read, which is reported.
pub(crate) fn bad<'a>(span: Span) -> Expr<'a> {
    Expr { kind: ExprKind::Bad, span }
}

pub(crate) fn of_slot<'a>(slot: Slot, span: Span) -> Expr<'a> {
    Expr { kind: ExprKind::Ref(slot), span }
}
