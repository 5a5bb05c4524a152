//! A header of a function that a model writes, and its position before each step.

use super::Held;
use super::refusal::{Found, quoted};
use super::{Refusal, steps_left};
use ilo_guide::{HeaderMark, Refused, Vocab};

/// A header and its steps.
#[derive(Clone, Debug)]
pub struct Header {
    header: ilo_guide::Header,
    marks: Vec<HeaderMark>,
}

impl Header {
    /// Begins the header of the next function.
    ///
    /// # Errors
    /// The bodies of the session are not ID text.
    pub fn new(held: &Held) -> Result<Header, String> {
        if held.is_constrained() {
            return Err("a header is ID text: make its session without `notation`".to_owned());
        }
        Ok(Header { header: ilo_guide::Header::new(held.session()), marks: Vec::new() })
    }

    /// The header so far.
    pub fn text(&self) -> &[u8] {
        self.header.text()
    }

    /// Whether the header is complete.
    pub fn ended(&self) -> bool {
        self.header.ended()
    }

    /// Whether it is, or can only become, the header of the program itself.
    pub fn is_own(&self) -> bool {
        self.header.is_own()
    }

    /// The number of steps.
    pub fn steps(&self) -> usize {
        self.marks.len()
    }

    /// Takes a token.
    ///
    /// # Errors
    /// A token that may not come next; nothing has changed then.
    pub fn accept(&mut self, vocab: &Vocab, token: u32) -> Result<(), Refusal> {
        let taken = self.step(|header| header.accept(vocab, token));
        taken.map_err(|at| self.refused(&Found::Token { vocab, token, at }))
    }

    /// Takes bytes, as one step.
    ///
    /// # Errors
    /// Bytes that may not come next; nothing has changed then.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let taken = self.step(|header| header.accept_bytes(bytes));
        taken.map_err(|at| self.refused(&Found::Bytes { bytes, at }))
    }

    fn step(
        &mut self,
        take: impl FnOnce(&mut ilo_guide::Header) -> Result<(), Refused>,
    ) -> Result<(), usize> {
        let mark = self.header.mark();
        take(&mut self.header).map_err(|refused| refused.at)?;
        self.marks.push(mark);
        Ok(())
    }

    fn refused(&mut self, found: &Found<'_>) -> Refusal {
        let (mark, good) = (self.header.mark(), found.good());
        // These bytes were accepted before.
        let _ = self.header.accept_bytes(good);
        let next = self.header.next_bytes();
        let close = self.header.close();
        let column = self.header.text().len() + 1;
        self.header.rollback(&mark);
        let expected = match next.as_slice() {
            [] => "nothing: the header has ended".to_owned(),
            [only] => quoted(&[*only]),
            several => format!("one of {}, such as in {}", quoted(several), quoted(close.as_bytes())),
        };
        let message = format!("1:{column} of the header: expected {expected}; found {}", found.shown());
        Refusal { message, at: good.len() }
    }

    /// The number of these tokens, from the first, that may come next in order.
    pub fn validate(&self, vocab: &Vocab, tokens: &[u32]) -> usize {
        let mut header = self.header.clone();
        tokens.iter().take_while(|&&token| header.accept(vocab, token).is_ok()).count()
    }

    /// Takes back this number of steps.
    ///
    /// # Errors
    /// More steps than were taken.
    pub fn rollback(&mut self, steps: usize) -> Result<(), String> {
        let left = steps_left(self.marks.len(), steps)?;
        if let Some(mark) = self.marks.get(left) {
            self.header.rollback(mark);
            self.marks.truncate(left);
        }
        Ok(())
    }

    /// Fills a mask with the tokens that may come next.
    ///
    /// # Errors
    /// There is no such token, or none after which the header ends within the tokens left.
    pub fn fill_mask(&mut self, vocab: &Vocab, left: u32, bits: &mut [u32]) -> Result<(), String> {
        let none = || "the vocabulary has no token for what may come next in the header".to_owned();
        self.header.fill_mask(vocab, left, bits).map_err(|short| match short.needed {
            Some(needed) => format!("the header cannot end within the tokens left: it takes {needed}"),
            None => none(),
        })?;
        if bits.iter().all(|word| *word == 0) {
            return Err(none());
        }
        Ok(())
    }

    /// The bytes that must come next.
    pub fn forced(&mut self) -> Vec<u8> {
        self.header.forced()
    }

    /// A text that completes the header.
    pub fn close(&self) -> String {
        self.header.close()
    }
}
