//! The choices at each position: the byte strings of which one comes next.

use super::choice::{Act, Choice, choice};
use super::choices::{Choices, Fits, List};
use super::machine::{Around, Binds, JsonMachine, Next, Owner};
use super::{close, handlers, loops, names, paths, texts, values};
use crate::automaton::offers::{self, NUMBER, TEXT, Words, one};
use crate::automaton::state::{self, ITEMS, LEVELS, Phase};
use crate::automaton::{blocks, ends, integers, keys, operands};
use crate::surface::Steps;
use ilo_asm::ast::Literal;
use ilo_spec::node::Word;

/// The bytes that may begin a number.
pub(super) const DIGITS: [&str; 11] = ["-", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
/// The `max` of a `while` that may be written.
const MOST_PASSES: [u16; 16] = [2, 3, 4, 5, 6, 8, 10, 15, 20, 25, 30, 50, 100, 200, 500, 1000];
/// The words that are not steps.
const SECOND: Words = 1 << (Word::Else as u8) | 1 << (Word::Ok as u8) | 1 << (Word::Err as u8);

impl JsonMachine<'_> {
    pub(super) fn offers(&mut self) -> Choices {
        match self.place.next {
            Next::Tool => self.tools(),
            Next::Key => self.keys(false),
            Next::After if matches!(self.around(), Some(Around::Fields(_))) => self.keys(true),
            Next::Field => paths::fields(self, self.place.path, false),
            Next::HoleField => texts::hole_fields(self),
            Next::Value => values::values(self, false),
            Next::Item => values::values(self, true),
            _ => Choices::listed(self.listed()),
        }
    }

    fn listed(&mut self) -> Vec<Choice> {
        match self.place.next {
            Next::First => {
                let mut all = self.steps();
                all.extend(self.end_of_block());
                all
            }
            Next::Step => self.steps(),
            Next::Behind => self.behind_step(),
            Next::Block(kind) => self.behind_block(kind),
            Next::Let => self.behind_let(),
            Next::Part => vec![choice(",\"expr\":", Act::BoundExpr), choice(",\"push\":", Act::PushPart)],
            Next::Arm(_) => {
                let of_match = self.core.block().kind == state::Kind::Match;
                let kind = if of_match { Owner::Failure } else { Owner::Caught };
                vec![choice(",\"then\":[", Act::Open(kind))]
            }
            Next::Handler => handlers::ways(self),
            Next::Match => {
                vec![choice(",\"err\":{\"as\":\"", Act::Failure), choice(",\"then\":[", Act::OnlySuccess)]
            }
            Next::In => vec![choice(",\"in\":", Act::Goes(Next::Value))],
            Next::Passes => {
                vec![choice(",\"where\":", Act::Where), choice(",\"yield\":[", Act::Passes)]
            }
            Next::After => self.behind_value(),
            Next::Arguments => self.arguments(),
            Next::CaseKey => self.case_keys(),
            Next::Colon => match self.around() {
                Some(Around::Cases { pairs: true, .. }) => vec![choice(",", Act::Goes(Next::Value))],
                _ => vec![choice(":", Act::Goes(Next::Value))],
            },
            Next::Hole => texts::holes(self),
            Next::Tool | Next::Key | Next::Field | Next::HoleField | Next::Value | Next::Item | Next::End => {
                Vec::new()
            }
        }
    }

    /// The words that the next step may begin with.
    pub(super) fn step_words(&mut self) -> Words {
        let level = blocks::level(&self.core);
        let mut words = blocks::line_words(&mut self.core, level) & !SECOND;
        if names::new_slot(self, Binds::Let).is_none() {
            words &= !(one(Word::Let) | one(Word::For));
        }
        if names::new_slot(self, Binds::Failure).is_none() {
            words &= !(one(Word::Match) | one(Word::Try));
        }
        words
    }

    fn steps(&mut self) -> Vec<Choice> {
        let (words, level) = (self.step_words(), blocks::level(&self.core));
        let all = [
            (Word::Let, "{\"let\":\"", Act::Let),
            (Word::Call, "{\"call\":", Act::Call),
            (Word::Ret, "{\"ret\":", Act::Step(Word::Ret, "}")),
            (Word::RetOk, "{\"ret\":{\"ok\":", Act::Step(Word::RetOk, "}}")),
            (Word::RetErr, "{\"ret\":{\"err\":", Act::Step(Word::RetErr, "}}")),
            (Word::Fail, "{\"raise\":", Act::Step(Word::Fail, "}")),
            (Word::If, "{\"if\":", Act::If),
            (Word::For, "{\"for\":\"", Act::For),
            (Word::For, "{\"while\":", Act::While),
            (Word::For, "{\"do\":[", Act::Until),
            (Word::Break, "{\"break\":true}", Act::Exit(Word::Break)),
            (Word::Skip, "{\"skip\":true}", Act::Exit(Word::Skip)),
            (Word::Yield, "{\"yield\":", Act::Step(Word::Yield, "}")),
            (Word::Try, "{\"try\":[", Act::Try),
            (Word::Undo, "{\"compensate\":[{\"call\":", Act::Step(Word::Undo, "]}")),
            (Word::Rollback, "{\"rollback\":{\"call\":", Act::Step(Word::Rollback, "}")),
        ];
        // A loop with a condition fails if it does not end. That of `until` is an IF in its passes.
        let loops = blocks::may_fail_with_text(&self.core);
        let deeper = self.core.block().level + 1 < LEVELS;
        let fits = |act| match act {
            Act::While => loops,
            Act::Until => loops && deeper,
            _ => true,
        };
        let steps = all.into_iter().filter(|it| words & one(it.0) != 0 && fits(it.2));
        let mut found: Vec<Choice> = steps.map(|it| choice(it.1, it.2)).collect();
        if handlers::may_give(self) {
            found.push(choice("{\"value\":", Act::Give));
        }
        let others = all.iter().fold(one(Word::Match), |others, it| others | one(it.0));
        if words & !others != 0 {
            found.push(choice("{\"expr\":", Act::Expr));
        }
        if words & one(Word::Match) != 0 {
            let names = self.tried(|this| {
                blocks::begin_line(&mut this.core, level, Word::Match);
                names::named(this)
            });
            let named = names.into_iter();
            found.extend(named.map(|it| choice(format!("{{\"match\":\"{}\"", it.0), Act::Match(it.1))));
        }
        found
    }

    fn behind_step(&mut self) -> Vec<Choice> {
        let mut found = Vec::new();
        if self.step_words() != 0 {
            found.push(choice(",", Act::Goes(Next::Step)));
        }
        found.extend(self.end_of_block());
        found
    }

    /// The end of the innermost block, if it may end here.
    pub(super) fn end_of_block(&mut self) -> Option<Choice> {
        let at = self.place.around;
        self.may_end(at).then(|| match self.block_from(at).map(|it| it.0) {
            None => choice("]}", Act::EndBody),
            Some(Owner::Handler) => choice("]}}", Act::EndHandler),
            Some(Owner::Caught) => choice("]}", Act::EndBlock),
            Some(Owner::Until) => choice("],\"until\":", Act::UntilWhat),
            Some(_) => choice("]", Act::EndBlock),
        })
    }

    /// Whether the innermost block around here may end, so that the construct with it can continue.
    pub(super) fn may_end(&mut self, at: u32) -> bool {
        let Some((kind, outer)) = self.block_from(at) else { return self.core.trial(blocks::end) };
        self.tried(|this| {
            // The steps of a handler are no value.
            let fits = kind != Owner::Handler
                || ends::settle(&mut this.core) && !this.core.block().last.gives.completes();
            fits && this.close_block(kind) && this.may_follow(kind, outer)
        })
    }

    /// Whether something may follow a block of a step within these constructs.
    pub(super) fn may_follow(&mut self, kind: Owner, outer: u32) -> bool {
        match kind {
            Owner::Failure => self.may_begin(Word::Ok),
            Owner::Try => self.may_begin(Word::Err),
            Owner::Then | Owner::Pass => self.step_may_end(outer) || self.may_begin(Word::Else),
            _ => self.step_may_end(outer),
        }
    }

    /// Whether a line of the innermost block may begin with a word.
    pub(super) fn may_begin(&mut self, word: Word) -> bool {
        let level = blocks::level(&self.core);
        blocks::line_words(&mut self.core, level) & one(word) != 0
    }

    /// Whether the step within these constructs may end here, so that a step or an end can follow.
    pub(super) fn step_may_end(&mut self, at: u32) -> bool {
        self.tried(|this| {
            ends::settle(&mut this.core) && {
                this.core.state.phase = Phase::Line;
                blocks::may_fail(&this.core) || this.step_words() != 0 || this.may_end(at)
            }
        })
    }

    fn behind_block(&mut self, kind: Owner) -> Vec<Choice> {
        match kind {
            Owner::Failure => {
                let mut found = vec![choice("},\"then\":[", Act::Success)];
                let at = self.place.around;
                if self.tried(|this| this.leave_out_success() && this.step_may_end(at)) {
                    found.push(choice("}}", Act::NoSuccess));
                }
                return found;
            }
            Owner::Try => return vec![choice(",\"err\":{\"as\":\"", Act::Caught)],
            _ => {}
        }
        let mut found = Vec::new();
        if self.step_may_end(self.place.around) {
            found.push(choice("}", Act::EndStep));
        }
        if matches!(kind, Owner::Then | Owner::Pass) && self.may_begin(Word::Else) {
            found.push(choice(",\"else\":[", Act::Else));
        }
        found
    }

    fn behind_let(&mut self) -> Vec<Choice> {
        let words = self.core.trial(offers::words);
        let mut found = vec![choice(",\"expr\":", Act::BoundExpr)];
        let parts = [
            (Word::Call, ",\"call\":", Act::BoundCall),
            (Word::Append, ",\"push\":", Act::Push),
            (Word::Merge, ",\"merge\":", Act::Begin(Word::Merge)),
            (Word::MatchMap, ",\"match\":", Act::Begin(Word::MatchMap)),
            (Word::If, ",\"if\":", Act::If),
            (Word::For, ",\"for\":\"", Act::For),
            (Word::Try, ",\"try\":[", Act::Try),
        ];
        for (_, bytes, act) in parts.into_iter().filter(|it| words & one(it.0) != 0) {
            let fits = match act {
                Act::Push => self.tried(|this| loops::may_change(this, Word::Append, this.core.state.slot)),
                Act::Begin(Word::Merge) => values::may_merge(self),
                Act::For => names::new_slot(self, Binds::Let).is_some(),
                Act::Try => names::new_slot(self, Binds::Failure).is_some(),
                _ => true,
            };
            found.extend(fits.then(|| choice(bytes, act)));
        }
        found
    }

    fn behind_value(&mut self) -> Vec<Choice> {
        let mut found: Vec<Choice> = close::soonest_behind_value(self).into_iter().collect();
        // The parts for which a list or cases have room.
        let left = self.core.frame().map_or(0, |frame| frame.left);
        match self.around() {
            Some(Around::Call(_)) => found.extend(handlers::parts_of_call(self)),
            Some(Around::List) if left > 1 => found.push(choice(",", Act::Comma)),
            Some(Around::If) => found.extend(handlers::leaves(self)),
            Some(Around::For(_)) => {
                found.push(choice(",\"where\":", Act::Where));
                let has_slot = self.tried(|this| {
                    this.begin_block();
                    names::new_slot(this, Binds::Index).is_some()
                });
                found.extend(has_slot.then(|| choice(",\"index\":\"", Act::Index)));
            }
            Some(Around::While(_)) => {
                let open = |most| choice(format!(",\"max\":{most},\"do\":["), Act::Open(Owner::While));
                found.extend(MOST_PASSES.map(open));
            }
            Some(Around::Subject) => {
                let takes_text = self.core.trial(|core| {
                    core.take_integer(ITEMS + 1);
                    core.takes_kind(TEXT)
                });
                found.extend(takes_text.then(|| choice(",\"cases\":{\"", Act::Cases)));
            }
            Some(Around::Cases { pairs: false }) => {
                found.push(choice("},\"default\":", Act::Default));
                if left > 2 {
                    found.push(choice(",\"", Act::TextKey));
                }
            }
            Some(Around::Cases { pairs: true }) => {
                found.push(choice("]],\"default\":", Act::Default));
                if left > 2 && self.core.constants() != 0 {
                    found.push(choice("],[", Act::Goes(Next::CaseKey)));
                }
            }
            _ => {}
        }
        found
    }

    fn tools(&mut self) -> Choices {
        let (session, tools) = (self.core.session, integers::integers(&mut self.core));
        if integers::has_all_tools(&self.core, tools) {
            return Choices::of(List::Tools, Fits::All);
        }
        let all = &session.json().tools;
        let mut fits = Fits::new(all.all.len(), false);
        integers::each(&self.core, tools, |number| fits.put(all.place(number, false), true));
        Choices::of(List::Tools, fits)
    }

    /// The keys of a case in a list that may come next.
    fn case_keys(&mut self) -> Vec<Choice> {
        let core = &self.core;
        let mut found = Vec::new();
        if core.takes_kind(TEXT) {
            found.push(choice("\"", Act::TextKey));
        }
        if core.takes_kind(NUMBER) {
            let fit = DIGITS.into_iter().filter(|digit| keys::number_goes_on(core, digit.as_bytes()));
            found.extend(fit.map(|digit| choice(digit, Act::NumberKey)));
        }
        if core.takes_constant(Literal::Nil) {
            found.push(choice("null", Act::Nil));
        }
        for (truth, bytes) in [(true, "true"), (false, "false")] {
            if core.takes_constant(Literal::Bool(truth)) {
                found.push(choice(bytes, Act::Bool(truth)));
            }
        }
        found
    }

    fn arguments(&mut self) -> Vec<Choice> {
        let (least, most) = operands::pair_counts(&self.core).unwrap_or_default();
        let mut found = Vec::new();
        if most > 0 {
            found.push(choice(",\"args\":{", Act::Arguments));
        }
        if least == 0 {
            found.push(choice("}", Act::EndCall));
            found.extend(handlers::parts_of_call(self));
        }
        found
    }

    /// The keys that may come next in a record, and its end. A comma is before a further key.
    fn keys(&mut self, further: bool) -> Choices {
        let (Some(Around::Fields(end)), Some(frame)) = (self.around(), self.core.frame()) else {
            return Choices::listed([]);
        };
        let missing = operands::missing(&self.core, &frame);
        // The open count is one more than the most fields.
        let room = frame.left.saturating_sub(1) as usize;
        // An empty list is left out, but not an empty record.
        let has_some = frame.given != state::NONE || frame.word == Word::Obj;
        let may_end = |none: bool| missing.is_empty() && (has_some || none);
        let session = self.core.session;
        let (all, numbers) = (&session.json().keys[usize::from(further)], integers::integers(&mut self.core));
        let but = integers::left_out(&self.core, numbers).filter(|_| missing.len() < room);
        let mut fits = Fits::new(all.all.len(), but.is_some());
        let mut left = false;
        if let Some(given) = but {
            given.iter().for_each(|&number| fits.put(all.place(number, false), false));
            left = given.len() < session.named.len();
        } else {
            integers::each(&self.core, numbers, |number| {
                let place =
                    all.place(number, false).filter(|_| missing.len() < room || missing.contains(&number));
                fits.put(place, true);
                left |= place.is_some();
            });
        }
        // The ends of records are behind all keys.
        let ends = (0..).zip(&all.all).skip(all.all.len().saturating_sub(2));
        ends.for_each(|it| fits.put(Some(it.0), *it.1.bytes == *end && may_end(!left)));
        Choices::of(List::Keys { further }, fits)
    }

    /// Tries a step in an expression that begins with a word, and undoes it.
    pub(super) fn opened<T>(&mut self, word: Word, run: impl FnOnce(&mut Self) -> T) -> T {
        self.tried(|this| {
            this.open(word);
            run(this)
        })
    }

    /// The names that may come next if a value may begin with these words, each with the bytes after it, and
    /// the beginnings of paths.
    pub(super) fn references(&mut self, words: Words, end: &str) -> Vec<Choice> {
        let mut found = Vec::new();
        if words & one(Word::Ref) != 0 {
            let names = self.opened(Word::Ref, |this| names::named(this));
            found.extend(names.into_iter().map(|it| choice(it.0 + end, Act::Ref(it.1))));
        }
        if words & one(Word::Field) != 0 {
            let (names, aim) = self.opened(Word::Field, |this| (names::named(this), paths::aim(this)));
            let paths = names.into_iter().filter(|it| paths::has_fields(self, it.1, aim));
            found.extend(paths.map(|it| choice(it.0 + ".", Act::Path(it.1))));
        }
        found
    }
}
