//! The rules of statements and blocks: one set for each level, since a grammar cannot count blanks.

use super::rules::{Item, Rules, Sequence, rule, spaced, text, word};
use super::values::Expressions;
use crate::automaton::session::Session;
use ilo_asm::types::Inferred;
use ilo_spec::node::Word;
use ilo_spec::pure::Kinds;

/// The grammar of the bodies of a session's programs, with this number of levels of blocks.
pub(super) fn rules(session: &Session<'_>, depth: u8) -> Rules {
    let mut values = Expressions { session, rules: Rules::default() };
    values.define("root", |_| vec![vec![rule("block0")]]);
    for level in 0..=depth {
        values.level(level, depth);
    }
    values.rules
}

/// A line of a level.
fn line(level: u8, items: impl IntoIterator<Item = Item>) -> Sequence {
    let mut sequence = indent(level);
    sequence.extend(spaced(items));
    sequence.push(text("\n"));
    sequence
}

fn indent(level: u8) -> Sequence {
    if level == 0 { Vec::new() } else { vec![text("  ".repeat(level.into()))] }
}

/// A count and the block that it announces, or none.
fn block(name: &str, level: u8) -> [Sequence; 2] {
    let some = vec![rule("count"), text("\n"), rule(&format!("{name}{level}"))];
    [some, vec![text("0"), text("\n")]]
}

impl Expressions<'_, '_> {
    fn level(&mut self, level: u8, depth: u8) {
        let (block, step, last) = (format!("block{level}"), format!("step{level}"), format!("last{level}"));
        let more = vec![rule(&step), rule(&block)];
        self.define(&block, |_| vec![more, vec![rule(&step)], vec![rule(&last)]]);
        self.define(&step, |values| values.steps(level, depth));
        self.define(&last, |values| values.last_steps(level));
    }

    /// Statements that others may follow.
    fn steps(&mut self, level: u8, depth: u8) -> Vec<Sequence> {
        let any = self.last_expression(Kinds::ANY);
        let slot = rule("slot");
        let mut choices = vec![line(level, [word(Word::Let), slot.clone(), any.clone()])];
        if level > 0 {
            choices.push(line(level, [word(Word::Yield), any]));
        }
        if let Some(call) = self.call(Kinds::ANY) {
            choices.push(line(level, [call.clone()]));
            choices.push(line(level, [word(Word::Undo), call.clone()]));
            choices.push(line(level, [word(Word::Rollback), call]));
        }
        if level < depth {
            let name = format!("control{level}");
            let control = self.define(&name, |values| values.controls(level, depth));
            let bound = spaced([word(Word::Let), slot, control.clone()]);
            choices.push([indent(level), bound].concat());
            choices.push([indent(level), vec![control]].concat());
        }
        choices
    }

    /// Ways out of a block, and its value.
    fn last_steps(&mut self, level: u8) -> Vec<Sequence> {
        let (output, err) = (self.session.output.kinds(), self.session.err.map(Inferred::kinds));
        let any = self.last_expression(Kinds::ANY);
        let ok = self.last_expression(output);
        let fails = self.last_expression(err.unwrap_or(Kinds::ANY));
        let mut choices = vec![line(level, [any]), line(level, [word(Word::Fail), fails.clone()])];
        if err.is_some() {
            choices.push(line(level, [word(Word::RetOk), ok]));
            choices.push(line(level, [word(Word::RetErr), fails]));
        } else {
            choices.push(line(level, [word(Word::Ret), ok]));
        }
        if level > 0 {
            choices.push(line(level, [word(Word::Break)]));
            choices.push(line(level, [word(Word::Skip)]));
        }
        choices
    }

    /// IF, FOR, TRY and MATCH, after their indent.
    fn controls(&mut self, level: u8, depth: u8) -> Vec<Sequence> {
        let slot = rule("slot");
        let condition = self.expression(Kinds::BOOL.or(Kinds::NIL));
        let list = self.expression(Kinds::LIST);
        let inner = self.rules.of("inner", block("block", level + 1).into());
        let mut otherwise = indent(level);
        otherwise.extend(spaced([word(Word::Else), inner.clone()]));
        let heads = [
            spaced([word(Word::If), condition, inner.clone()]),
            spaced([word(Word::For), slot.clone(), list, inner.clone()]),
        ];
        let mut caught = [spaced([word(Word::Try), inner.clone()]), indent(level)].concat();
        caught.extend(spaced([word(Word::Err), slot.clone(), inner]));
        let mut choices = vec![caught];
        for head in heads {
            choices.push([head.clone(), otherwise.clone()].concat());
            choices.push(head);
        }
        // An arm is a level below its MATCH, and its block a level below that.
        if level + 2 <= depth {
            let inner = self.rules.of("inner", block("block", level + 2).into());
            let arm = |arm: Word| {
                let mut sequence = indent(level + 1);
                sequence.extend(spaced([word(arm), slot.clone(), inner.clone()]));
                sequence
            };
            let head = |count: &str| {
                let mut head = spaced([word(Word::Match), slot.clone(), text(count)]);
                head.push(text("\n"));
                head
            };
            choices.push([head("1"), arm(Word::Err)].concat());
            choices.push([head("1"), arm(Word::Ok)].concat());
            choices.push([head("2"), arm(Word::Err), arm(Word::Ok)].concat());
        }
        choices
    }
}
