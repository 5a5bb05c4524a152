//! The notation as a surface: what ends of programs have in common. In texts and names one token is nearly as
//! good as another, and so are the digits of a number.

use super::choices::Begins;
use super::close::Completion;
use super::machine::{Around, JsonMachine, Lex, Next};
use super::names::NAME as LONGEST;
use super::{ends, mask, texts};
use crate::automaton::state::Phase;
use crate::automaton::texts::{Inside, Led, run};
use crate::automaton::{formats, keys};
use crate::show::Node;
use crate::surface::{Class, Groups, Growth, Surface};
use crate::vocab::Vocab;
use crate::vocab::bits::set;
use ilo_asm::notation::Notation;

/// The tokens by which the end of a number can grow, and that of a text or name in addition to its own bytes.
const DIGITS: usize = 24;
const NAME: usize = 8;

/// The most tokens that the end of an unfinished step may need, apart from its call, and the most that each
/// enclosing level may need.
const STEP: &str =
    r#"{"match":"letters","err":{"as":"letters","then":[{"raise":[]}]},"then":[{"raise":[]}]}"#;
const BRANCH: &str = r#"],"err":{"as":"letters","then":[{"raise":[]}]}}"#;

/// What is known of the position of a mask.
#[derive(Clone, Copy)]
pub struct MaskStart {
    /// The length of the body before the choices.
    from: usize,
    /// Whether a number may be next or more of one, and whether any.
    number: bool,
    any_number: bool,
    /// Whether a text may be next whose content has no effect, if it certainly is a text.
    opens: bool,
}

/// Whether a token continues a number, whatever its digits are.
fn is_number(token: &[u8]) -> bool {
    token.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'))
}

/// The class of a token in a text, or that begins one or ends a reference in it, if what follows the text
/// does not depend on its content: unlike for keys, and texts that may be references.
fn in_free_text<'t>(machine: &JsonMachine<'_>, here: &MaskStart, token: &'t [u8]) -> Option<Class<'t>> {
    let text = if here.opens { token.strip_prefix(b"\"")? } else { token };
    let (class, end) = match run(Inside::Plain, text) {
        Led::Closed(end) => (Class::Ends(text.get(end..)?), end.checked_sub(1)?),
        Led::On(Inside::Plain) if here.opens => (Class::Text, text.len()),
        Led::On(_) | Led::Refused => return None,
    };
    let content = text.get(..end)?;
    let is_sure = |written: &[u8]| {
        !content.contains(&b'$') && ends::is_sure_text(machine, &[written, content].concat())
    };
    let is_free = match machine.place.lex {
        Lex::Text { inside: Inside::Plain, .. } => machine.core.state.phase != Phase::CaseKey,
        Lex::Bare { inside: Inside::Plain, dollar } if !(dollar && content.starts_with(b"{")) => {
            is_sure(texts::written_text(machine))
        }
        Lex::Choice { .. } => here.opens && is_sure(b""),
        _ => false,
    };
    is_free.then_some(class)
}

/// The bytes of a token after the end of a name, if that is bound for the first time.
fn behind_new_name<'t>(machine: &JsonMachine<'_>, token: &'t [u8]) -> Option<&'t [u8]> {
    let Lex::Name { start, .. } = machine.place.lex else { return None };
    let end = token.iter().position(|&byte| byte == b'"')?;
    let name = [machine.text.get(start..)?, token.get(..end)?].concat();
    let is_new = machine.place.names.iter().all(|it| it.name.as_bytes() != name);
    token.get(end..).filter(|_| is_new)
}

impl Surface for JsonMachine<'_> {
    type Here = MaskStart;
    /// The place of a choice.
    type Node = usize;
    const NOTATION: Notation = Notation::Constrained;

    fn memory(&self) -> usize {
        let arounds = self.arounds.capacity() * size_of::<(Around, u32)>();
        self.core.memory() + self.text.capacity() + arounds + self.memo.memory()
    }

    fn nodes(&mut self) -> Vec<Node> {
        match self.place.lex {
            _ if self.place.next == Next::End => vec![Node::End],
            Lex::Choice { low, high, depth } => {
                let all = self.choices().all(low, high);
                all.map(|it| Node::Bytes(it.1.get(depth..).unwrap_or_default().to_owned())).collect()
            }
            Lex::Text { .. } => vec![Node::Text(None)],
            Lex::Bare { .. } => {
                let mut all = vec![Node::Text(None)];
                all.extend(texts::rests(self).into_iter().map(Node::Bytes));
                all
            }
            Lex::Name { .. } => vec![Node::Bound],
            Lex::Number { .. } => vec![Node::AnyNumber],
        }
    }

    fn fill(&mut self, vocab: &Vocab, bits: &mut [u32]) {
        if self.place.next == Next::End {
            bits.fill(0);
            return set(bits, vocab.eos());
        }
        mask::fill_tokens(self, vocab, bits);
    }

    fn growth(&self, vocab: &Vocab) -> Option<Growth> {
        let length = |text: &str| vocab.part(text.as_bytes(), <[u32]>::len);
        let session = self.core.session;
        let [call, constant] = session.longest();
        // Another call may have fewer bytes and more tokens.
        let call = 2 * length(call)?.max(length(constant)?);
        // An unfinished path needs its field, a `${` a name.
        let fields = session.fields.iter().chain(session.parameters.iter().map(|it| &it.0));
        let longest = fields.map(String::len).max().unwrap_or_default();
        let statement = length(STEP)? + call + longest;
        Some(Growth { statement, level: length(BRANCH)?, part: 0, nodes: vocab.json().openings + 1 })
    }

    fn size(&self) -> usize {
        self.text.len()
    }

    fn here(&mut self) -> MaskStart {
        let between = matches!(self.place.lex, Lex::Choice { depth: 0, .. });
        let begins = if between { self.choices().begins() } else { Begins::default() };
        let in_number = matches!(self.place.lex, Lex::Number { .. });
        let any_number = if in_number {
            keys::takes_any_number(&self.core)
        } else {
            begins.number && mask::begins_any_number(self)
        };
        MaskStart {
            from: self.place.from,
            number: in_number || begins.number || begins.key,
            any_number,
            opens: begins.text,
        }
    }

    fn groups<'v>(&self, here: &MaskStart, vocab: &'v Vocab) -> Option<Groups<'v>> {
        let json = vocab.json();
        let within = |mask, inside: Inside, slack: Option<usize>| Groups {
            mask,
            like: b"",
            slack: slack.filter(|_| inside == Inside::Plain),
            others: Some(vec![vocab.texts.closers(inside)]),
        };
        Some(match self.place.lex {
            // After a plain token the end has the same length, except for a key that must differ from others.
            Lex::Text { inside, .. } if formats::format(&self.core).is_none() => {
                let slack = match self.core.state.phase {
                    Phase::CaseKey => NAME,
                    _ => 1,
                };
                within(&vocab.texts.plain, inside, Some(slack))
            }
            // A text that is nearly a reference needs one more byte. A `${` needs more.
            Lex::Bare { inside, dollar } => within(&json.stays, inside, (!dollar).then_some(NAME)),
            // A result that must be matched may have the name, twice, and four letters more.
            Lex::Name { .. } => {
                let slack = if self.core.owes() { 2 * LONGEST + NAME } else { NAME };
                let others = json.name_ends.iter().map(|it| it.1.as_slice()).collect();
                Groups { mask: &json.names, like: b"", slack: Some(slack), others: Some(others) }
            }
            Lex::Choice { depth: 0, .. } if here.opens => {
                Groups { mask: &json.begins, like: b"\" ", slack: Some(NAME), others: None }
            }
            Lex::Text { .. } | Lex::Choice { .. } | Lex::Number { .. } => return None,
        })
    }

    fn class<'t>(&self, here: &MaskStart, token: &'t [u8]) -> Option<(Class<'t>, usize)> {
        if here.number && is_number(token) {
            let is_digits = here.any_number && token.iter().all(u8::is_ascii_digit);
            return Some(if is_digits { (Class::Digits, 0) } else { (Class::Number, DIGITS) });
        }
        if let Some(class) = in_free_text(self, here, token) {
            return Some((class, 0));
        }
        behind_new_name(self, token).filter(|_| !self.core.owes()).map(|tail| (Class::Ends(tail), NAME))
    }

    fn node(&self, here: &MaskStart, becomes: Completion, _: bool) -> Option<usize> {
        let Completion::Choice(place, _) = becomes else { return None };
        (self.place.from == here.from).then_some(place)
    }
}
