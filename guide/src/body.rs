//! An unfinished text, such as a program in either notation: its bytes and tokens, forward and back.

use crate::budget::{Budget, Short};
use crate::show::Node;
use crate::surface::{Steps, Surface};
use crate::tokens::{Print, Refused};
use crate::vocab::{Lacks, Vocab};
use core::fmt::{self, Debug};
use ilo_asm::notation::Notation;
use serde_json::{Value, json};

/// The most bytes that are forced at once.
const FORCED: usize = 4096;

/// An unfinished text. A clone continues independently.
#[derive(Clone)]
pub struct Body<S> {
    pub(crate) surface: S,
    budget: Budget,
}

/// A position of a [`Body`] to return to.
#[derive(Clone, Copy)]
pub struct BodyMark<P> {
    point: P,
    print: Print,
}

impl<P> Debug for BodyMark<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mark({:?})", self.print)
    }
}

impl<S: Steps> Debug for Body<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({:?})", String::from_utf8_lossy(self.text()))
    }
}

impl<S: Steps> Body<S> {
    pub(crate) fn of(surface: S) -> Body<S> {
        Body { surface, budget: Budget::default() }
    }

    /// The text so far.
    pub fn text(&self) -> &[u8] {
        self.surface.text()
    }

    /// Takes bytes of the text.
    ///
    /// # Errors
    /// A byte that may not come next. Then nothing has changed.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        let point = self.surface.point();
        match bytes.iter().position(|&byte| !self.surface.byte(byte)) {
            Some(at) => {
                self.surface.back(&point);
                Err(Refused { at })
            }
            None => Ok(()),
        }
    }

    /// The bytes that may come next.
    pub fn next_bytes(&mut self) -> Vec<u8> {
        self.surface.prepare();
        (0..=u8::MAX).filter(|&byte| self.surface.tried(|surface| surface.byte(byte))).collect()
    }

    /// Whether the text may end here.
    pub fn may_end(&mut self) -> bool {
        self.surface.may_end()
    }

    /// The position in the text, to return to.
    pub fn mark(&self) -> BodyMark<S::Point> {
        BodyMark { point: self.surface.mark(), print: Print::of(self.surface.session(), self.text()) }
    }

    /// Returns to an earlier position of this text. A mark of another text, of which this one is no
    /// continuation, changes nothing.
    pub fn rollback(&mut self, mark: &BodyMark<S::Point>) {
        if mark.print.begins(self.surface.session(), self.text()) {
            self.surface.back(&mark.point);
        }
    }

    /// The bytes that must come next: as long as there is only one choice. Empty if the text may end.
    pub fn forced(&mut self) -> Vec<u8> {
        let point = self.surface.point();
        let mut forced = Vec::new();
        while forced.len() < FORCED && !self.may_end() {
            let next = self.next_bytes();
            let [only] = next[..] else { break };
            self.surface.byte(only);
            forced.push(only);
        }
        self.surface.back(&point);
        forced
    }

    /// Takes a token. The end token changes nothing.
    ///
    /// # Errors
    /// A token that may not come next. Then nothing has changed.
    pub fn accept(&mut self, vocab: &Vocab, token: u32) -> Result<(), Refused> {
        let bytes = vocab.usable(token);
        match token == vocab.eos() {
            true if self.may_end() => Ok(()),
            false if !bytes.is_empty() => self.accept_bytes(bytes),
            _ => Err(Refused { at: 0 }),
        }
    }

    /// The number of these tokens, from the first, that may come next in order. Nothing changes.
    pub fn validate(&mut self, vocab: &Vocab, tokens: &[u32]) -> usize {
        let point = self.surface.point();
        let mut ended = false;
        let valid = tokens.iter().take_while(|&&token| {
            let fits = !ended && self.accept(vocab, token).is_ok();
            ended |= token == vocab.eos();
            fits
        });
        let count = valid.count();
        self.surface.back(&point);
        count
    }
}

impl<S: Surface> Body<S> {
    /// What may come next, as nodes. Within a token or another part, what it may become or the rest of it.
    #[allow(clippy::should_implement_trait, reason = "it lists choices and does not advance")]
    pub fn next(&mut self) -> Vec<Node> {
        self.surface.nodes()
    }

    /// What may come next, as JSON: `next` lists nodes (in `constrained` texts, and records such as `{"name":
    /// true}` for free parts), `forced` is the text that must follow, `close` a text that ends the program,
    /// and `prefix` the text that the host writes before the body.
    pub fn next_json(&mut self) -> String {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let next: Vec<Value> = self.next().iter().map(Node::to_json).collect();
        let session = self.surface.core().session;
        let is_id = S::NOTATION == Notation::Id;
        let prefix = if is_id { session.prefix() } else { session.constrained_prefix() };
        json!({
            "next": next,
            "may_end": self.may_end(),
            "forced": text(self.forced()),
            "close": self.close().map(text),
            "prefix": prefix,
        })
        .to_string()
    }

    /// Whether a vocabulary has a token for each byte that the program may need. If not, a model with it may
    /// get stuck, at the first token or later.
    ///
    /// # Errors
    /// What it lacks.
    pub fn can_write(&self, vocab: &Vocab) -> Result<(), Lacks> {
        self.surface.can_write(vocab)
    }

    /// The approximate number of bytes of the guide.
    pub fn memory(&self) -> usize {
        self.surface.memory() + size_of::<Self>()
    }

    /// A text that ends the program.
    pub fn close(&mut self) -> Option<Vec<u8>> {
        self.surface.close().map(|parts| parts.concat())
    }

    /// Sets the bits of the tokens that may come next, and clears all others, so that the program can still
    /// be ended with `left` tokens: this one, those after it, and the one that ends the text. `u32::MAX`
    /// means no budget. `bits` has [`Vocab::mask_len`] words: bit `t % 32` of word `t / 32` is that of token
    /// `t`. Within few tokens of the end, a mask may leave out tokens that would fit.
    ///
    /// # Errors
    /// Where the budget was too small from the start. The mask then has the next token of the shortest end
    /// known.
    pub fn fill_mask(&mut self, vocab: &Vocab, left: u32, bits: &mut [u32]) -> Result<(), Short> {
        self.surface.prepare();
        self.surface.fill(vocab, bits);
        self.budget.keep(&mut self.surface, vocab, left, bits)
    }

    /// The tokens that must come next, as the model's tokenizer splits them, without those at the end that a
    /// longer token could cover together with what follows. `encode` is that tokenizer, such as
    /// [`Vocab::cut`].
    pub fn forced_tokens(
        &mut self,
        vocab: &Vocab,
        encode: impl FnOnce(&[u8]) -> Option<Vec<u32>>,
    ) -> Vec<u32> {
        let bytes = self.forced();
        let mut tokens = encode(&bytes).unwrap_or_default();
        let point = self.surface.point();
        let mut at = 0;
        for place in 0..tokens.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            let own = tokens.get(place).map_or(&[][..], |&token| vocab.usable(token));
            if own.is_empty() || self.covers(vocab, rest) || self.accept_bytes(own).is_err() {
                tokens.truncate(place);
                break;
            }
            at += own.len();
        }
        self.surface.back(&point);
        tokens
    }

    /// Whether a token that may come next begins with these bytes and has more.
    fn covers(&mut self, vocab: &Vocab, rest: &[u8]) -> bool {
        let mut longer =
            vocab.beginning(rest).iter().map(|&token| vocab.token(token)).filter(|it| it.len() > rest.len());
        longer.any(|token| self.surface.tried(|surface| token.iter().all(|&byte| surface.byte(byte))))
    }
}
