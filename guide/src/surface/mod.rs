//! A notation: what may come next in an unfinished program, byte by byte, and how the program ends soonest.
//!
//! ID text and `constrained` are surfaces. What is built on them is in `walk`, `digits`, `looks`, `budget`
//! and `body`.

pub(crate) mod digits;
pub(crate) mod walk;

use crate::automaton::formats;
use crate::automaton::keys;
use crate::automaton::state::Core;
use crate::automaton::texts::Inside;
use crate::show::Node;
use crate::vocab::{Closer, Lacks, Vocab};
use core::hash::Hash;
use ilo_asm::notation::Notation;
use ilo_spec::json::quoted;
use walk::{Found, Look, Tree, Walk};

/// The most steps to an end.
const STEPS: usize = 20_000;

/// Receives the parts of an end, each with what separates it from the one before. Returns whether there is
/// room for more.
pub(crate) type Out<'o> = dyn FnMut(&[u8]) -> bool + 'o;

/// A text that is followed byte by byte, forward and back.
pub trait Steps {
    /// A position to return to.
    type Point;

    fn text(&self) -> &[u8];
    /// The position, to return to before anything else changes.
    fn point(&self) -> Self::Point;
    /// The same, to return to after any changes.
    fn mark(&self) -> Self::Point {
        self.point()
    }
    fn back(&mut self, point: &Self::Point);
    /// Takes a byte. Returns `false` if it may not come next; the caller must then undo the changes.
    fn byte(&mut self, byte: u8) -> bool;
    /// Computes what several bytes are tried against.
    fn prepare(&mut self) {}
    fn may_end(&mut self) -> bool;
    /// A number by which the session is recognised.
    fn session(&self) -> usize {
        0
    }

    /// Tries a step and undoes it.
    fn tried<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let point = self.point();
        let result = run(self);
        self.back(&point);
        result
    }
}

/// The bytes of an unfinished program.
pub trait Bytes: Steps {
    /// A position in an unfinished part, for bytes that change nothing else.
    type Lex: Copy;

    fn core(&self) -> &Core<'_>;
    fn lex(&self) -> Self::Lex;
    /// Goes back over bytes that changed only the position in an unfinished part.
    fn relex(&mut self, lex: Self::Lex, length: usize);
    /// Takes a byte that changes only that.
    fn look(&mut self, byte: u8) -> Look;
    /// The least byte above one that may come next, if it is known without trying.
    fn next_byte(&self, byte: u8) -> Option<u8>;
    fn walk(&mut self) -> &mut Walk<Self::Lex, Self::Point>;
    /// Between choices and in them, finds those that end within entries among these children of a node, of a
    /// tree that a walk began at this length of the text, and the entries within choices. Returns the number
    /// of bytes of the choices before.
    fn within(
        &mut self,
        _tree: &Tree<'_, '_>,
        _children: (u32, u32),
        _start: usize,
        _found: &mut Found,
    ) -> Option<usize> {
        None
    }
    /// Takes the rest of a choice, of which this number of bytes was taken.
    fn take_choice(&mut self, _choice: usize, _taken: usize) -> bool {
        false
    }
    /// The position in an unfinished text.
    fn inside(&self) -> Option<Inside>;
    /// Ends the unfinished text, of which only the end counts.
    fn end_any_text(&mut self);
    /// Whether a text may not be the key of a case, although no other has it.
    fn meets_more(&self, _key: &str) -> bool {
        false
    }
}

/// How an unfinished program ends soonest.
pub trait Ends: Bytes {
    /// The node that an unfinished part will become.
    type Becomes: Copy;

    /// The bytes that complete the unfinished part, and the node that it becomes.
    fn completion(&mut self) -> Option<(Vec<u8>, Self::Becomes)>;
    /// Takes that node, and the bytes that complete it.
    fn complete(&mut self, becomes: Self::Becomes, rest: &[u8]) -> bool;
    /// Writes the next node of an end. Returns whether the end was found, when that is known.
    fn close_step(&mut self, out: &mut Out<'_>) -> Option<bool>;

    /// The bytes that end the unfinished number that begins at a byte.
    fn rest_of_number(&self, start: usize) -> Option<Vec<u8>> {
        let written = self.text().get(start..)?;
        Some(keys::first_number(self.core(), written)?.as_bytes().get(written.len()..)?.to_vec())
    }

    /// The bytes that end the unfinished text whose quote is at a byte.
    fn rest_of_text(&mut self, start: usize) -> Option<Vec<u8>> {
        let written = self.text().get(start..)?;
        if let Some(texts) = keys::texts(self.core()) {
            let mut rests = texts.map(quoted);
            return rests.find_map(|text| Some(text.as_bytes().strip_prefix(written)?.to_vec()));
        }
        if let Some(format) = formats::format(self.core()) {
            let rest = formats::rest(format, written.get(1..)?)?;
            return Some([rest.as_bytes(), b"\""].concat());
        }
        self.rest_of_any_text()
    }

    /// The same if nothing is known of it. Each byte that is tried at a plain position is tried before the
    /// others after it.
    fn rest_of_any_text(&mut self) -> Option<Vec<u8>> {
        const PLAIN: &[u8] = b"\" abcdefghijklmnopqrstuvwxyz0123456789-_";
        self.tried(|this| {
            let from = this.text().len();
            while let Some(inside) = this.inside() {
                let low = if let Inside::Character(_, low, _) = inside { [low] } else { [0] };
                let bytes: &[u8] = match inside {
                    Inside::Escape => b"nu\"\\/bfrt",
                    Inside::Unicode(..) => b"0123456789abcdef",
                    Inside::Character(..) => &low,
                    Inside::Plain => PLAIN,
                };
                let mut fits = |bytes: &[u8]| this.tried(|it| bytes.iter().all(|&byte| it.byte(byte)));
                // There are more letters than keys of cases, so that one of them makes a key that is new.
                let mut ends = |byte: u8| if byte == b'"' { fits(b"\"") } else { fits(&[byte, b'"']) };
                let all = || bytes.iter().copied();
                let ending = all().find(|&byte| inside == Inside::Plain && ends(byte));
                let byte = ending.or_else(|| all().find(|&byte| fits(&[byte])))?;
                this.byte(byte);
            }
            this.text().get(from..).map(<[u8]>::to_vec)
        })
    }

    /// Writes an end, from the end of a complete part. `false` if none was found, or there is no room for it.
    fn close_all(&mut self, out: &mut Out<'_>) -> bool {
        (0..STEPS).find_map(|_| self.close_step(out)).unwrap_or(false)
    }

    /// An end of the program, in parts; `None` if none was found, which would be a defect.
    fn close(&mut self) -> Option<Vec<Vec<u8>>> {
        self.tried(|this| {
            let (rest, becomes) = this.completion()?;
            let taken = this.complete(becomes, &rest);
            let mut parts = vec![rest];
            let mut add = |part: &[u8]| {
                parts.push(part.to_vec());
                true
            };
            (taken && this.close_all(&mut add)).then_some(parts)
        })
    }
}

/// A notation: what masks and budgets need.
pub trait Surface: Ends {
    /// What is known of the position that a mask is for.
    type Here: Copy;
    /// A node that tokens end or begin, if what follows it is the same for all of them.
    type Node: Copy + Eq + Hash;
    const NOTATION: Notation;

    fn memory(&self) -> usize;
    /// What may come next.
    fn nodes(&mut self) -> Vec<Node>;
    /// Sets the tokens that may come next, without a limit on those after them, and clears all others.
    fn fill(&mut self, vocab: &Vocab, bits: &mut [u32]);

    /// The most that nodes can add to an end; `None` if the vocabulary cannot write them.
    fn growth(&self, vocab: &Vocab) -> Option<Growth>;
    /// The number of nodes of the program so far, or more.
    fn size(&self) -> usize;

    fn here(&mut self) -> Self::Here;
    /// Whether a token ends the unfinished part before it begins another.
    fn crosses(_here: &Self::Here, _token: &[u8]) -> bool {
        false
    }
    /// The tokens that are decided at once.
    fn groups<'v>(&self, here: &Self::Here, vocab: &'v Vocab) -> Option<Groups<'v>>;
    /// For a token after which the end has nearly the length of that after others: its class, and the
    /// difference.
    fn class<'t>(&self, here: &Self::Here, token: &'t [u8]) -> Option<(Class<'t>, usize)>;
    /// The node that is completed behind a token.
    fn node(&self, here: &Self::Here, becomes: Self::Becomes, crosses: bool) -> Option<Self::Node>;

    /// Whether a vocabulary has a token for each byte that the program may need.
    fn can_write(&self, vocab: &Vocab) -> Result<(), Lacks> {
        vocab.can_write(self.core().session, Self::NOTATION)
    }
}

/// The most that nodes can add to an end, in tokens of a vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// An unfinished statement, each level of blocks around it, and each part that is counted.
    pub(crate) statement: usize,
    pub(crate) level: usize,
    pub(crate) part: usize,
    /// The most nodes that one token begins.
    pub(crate) nodes: usize,
}

/// Tokens of which the ends have nearly the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class<'t> {
    /// They begin a text.
    Text,
    /// They are digits, or other parts of a number.
    Digits,
    Number,
    /// They end a text or a name, and have these bytes behind it.
    Ends(&'t [u8]),
}

/// What is decided for many tokens at once, from tables of a vocabulary.
pub struct Groups<'v> {
    /// The mask of some tokens. After each of them the end is at most so much longer than after these bytes;
    /// if nothing is known of that, none is allowed.
    pub(crate) mask: &'v [u32],
    pub(crate) like: &'static [u8],
    pub(crate) slack: Option<usize>,
    /// If no others are allowed except some of these: them.
    pub(crate) others: Option<Vec<&'v [Closer]>>,
}
