//! A session, and the guides that borrow from it, as one value that another language can own.
//!
//! A guide borrows its session, and a session its catalogue. So all three are in one cell, and the other
//! language holds the number of a guide in it.

use super::body::{Body, Place};
use super::refusal::{Found, no_token, quoted, refused};
use super::{Refusal, steps_left};
use crate::known::Known;
use ilo_asm::catalog::Catalog;
use ilo_guide::{Options, Session, SessionError, Short, Vocab};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A guide, its earlier positions, and whether its text has ended.
pub struct Entry<'a> {
    pub(super) guide: Body<'a>,
    /// The position of the guide before each step.
    marks: Vec<Place>,
    pub(super) ended: bool,
}

impl Entry<'_> {
    /// The body so far.
    pub fn text(&self) -> &[u8] {
        self.guide.text()
    }

    /// The number of steps.
    pub fn steps(&self) -> usize {
        self.marks.len()
    }

    /// Whether the program may end here.
    pub fn may_end(&mut self) -> bool {
        self.guide.may_end()
    }

    /// Whether the token that ends the text was taken.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The approximate number of bytes of the guide.
    pub fn memory(&self) -> usize {
        self.guide.memory() + self.marks.capacity() * size_of::<Place>()
    }

    /// Takes a token.
    ///
    /// # Errors
    /// A token that may not come next; nothing has changed then.
    pub fn accept(&mut self, vocab: &Vocab, token: u32) -> Result<(), Refusal> {
        let mark = self.guide.mark();
        let taken = if self.ended { Err(0) } else { self.guide.accept(vocab, token).map_err(|it| it.at) };
        taken.map_err(|at| refused(self, &Found::Token { vocab, token, at }))?;
        self.marks.push(mark);
        self.ended = token == vocab.eos();
        Ok(())
    }

    /// Takes bytes of the body, as one step.
    ///
    /// # Errors
    /// Bytes that may not come next; nothing has changed then.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let mark = self.guide.mark();
        let taken = if self.ended { Err(0) } else { self.guide.accept_bytes(bytes).map_err(|it| it.at) };
        taken.map_err(|at| refused(self, &Found::Bytes { bytes, at }))?;
        self.marks.push(mark);
        Ok(())
    }

    /// The number of these tokens, from the first, that may come next in order.
    pub fn validate(&mut self, vocab: &Vocab, tokens: &[u32]) -> usize {
        if self.ended { 0 } else { self.guide.validate(vocab, tokens) }
    }

    /// Takes back this number of steps.
    ///
    /// # Errors
    /// More steps than were taken.
    pub fn rollback(&mut self, steps: usize) -> Result<(), String> {
        let left = steps_left(self.marks.len(), steps)?;
        if let Some(mark) = self.marks.get(left) {
            self.guide.rollback(mark);
            self.marks.truncate(left);
            self.ended = false;
        }
        Ok(())
    }

    /// Fills a mask with the tokens that may come next. After the end, only the end token is allowed.
    ///
    /// # Errors
    /// The vocabulary lacks bytes that the program may need, or no token leaves an end within the tokens
    /// left.
    pub fn fill_mask(&mut self, vocab: &Vocab, left: u32, bits: &mut [u32]) -> Result<(), String> {
        if self.ended {
            bits.fill(0);
            if let Some(word) = bits.get_mut(vocab.eos() as usize / 32) {
                *word = 1 << (vocab.eos() % 32);
            }
            return Ok(());
        }
        // At the first mask rather than where the model would be stuck.
        self.guide.can_write(vocab).map_err(|lacks| lacks.to_string())?;
        self.guide.fill_mask(vocab, left, bits).map_err(|short: Short| short.to_string())?;
        if bits.iter().all(|word| *word == 0) {
            return Err(no_token(self));
        }
        Ok(())
    }

    /// The bytes that must come next.
    pub fn forced(&mut self) -> Vec<u8> {
        if self.ended { Vec::new() } else { self.guide.forced() }
    }

    /// The tokens that must come next. `cut` has the tokens into which the model's tokenizer splits the
    /// forced bytes.
    pub fn forced_tokens(&mut self, vocab: &Vocab, cut: Option<Vec<u32>>) -> Vec<u32> {
        if self.ended {
            return Vec::new();
        }
        self.guide.forced_tokens(vocab, cut)
    }

    /// A text that ends the program.
    pub fn close(&mut self) -> Option<Vec<u8>> {
        self.guide.close()
    }

    /// The choices that may come next, as JSON.
    pub fn next_json(&mut self) -> String {
        self.guide.next_json()
    }

    /// The whole file.
    ///
    /// # Errors
    /// The program cannot end here.
    pub fn finish(&mut self) -> Result<String, Refusal> {
        self.guide.finish().map_err(|_| refused(self, &Found::End))
    }
}

/// The guides of a session by their numbers.
#[derive(Default)]
struct Guides<'a> {
    constrained: bool,
    next: u64,
    entries: HashMap<u64, Arc<Mutex<Entry<'a>>>>,
}

impl<'a> Guides<'a> {
    fn add(&mut self, entry: Entry<'a>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.entries.insert(number, Arc::new(Mutex::new(entry)));
        number
    }
}

type Table<'a> = Mutex<Guides<'a>>;

self_cell::self_cell!(
    struct Begun {
        owner: Arc<Known>,
        #[covariant]
        dependent: Session,
    }
);

self_cell::self_cell!(
    /// A session and its guides.
    pub struct Held {
        owner: Begun,
        #[not_covariant]
        dependent: Table,
    }
);

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").finish_non_exhaustive()
    }
}

/// Locks the cell. After a panic its content is used as it is, because a guide returns to its earlier
/// position.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a session of a catalogue, a signature and options.
type Make = for<'c> fn(&'c Catalog, &str, &Options) -> Result<Session<'c>, SessionError>;

impl Held {
    /// Begins a session with `make`. Its bodies are ID text or `constrained`.
    ///
    /// # Errors
    /// Why it cannot begin.
    pub fn begin(
        make: Make,
        known: Arc<Known>,
        signature: &str,
        notation: &str,
        options: &Options,
    ) -> Result<Held, SessionError> {
        let constrained = match notation {
            "id" => false,
            "constrained" => true,
            other => {
                let wrong = format!(
                    "`notation`: expected \"id\" or \"constrained\", found {}",
                    quoted(other.as_bytes())
                );
                return Err(SessionError(wrong));
            }
        };
        let begun = Begun::try_new(known, |known| make(&known.catalog, signature, options))?;
        Ok(Held::new(begun, |_| Mutex::new(Guides { constrained, ..Guides::default() })))
    }

    /// Whether its bodies are in `constrained`.
    pub fn is_constrained(&self) -> bool {
        self.with_dependent(|_, guides| lock(guides).constrained)
    }

    /// The text before the body.
    pub fn prefix(&self) -> String {
        if self.is_constrained() { self.session().constrained_prefix() } else { self.session().prefix() }
    }

    /// The session.
    pub fn session(&self) -> &Session<'_> {
        self.borrow_owner().borrow_dependent()
    }

    /// Begins a guide.
    pub fn add(&self) -> u64 {
        self.with_dependent(|begun, guides| {
            let mut guides = lock(guides);
            let guide = Body::new(begun.borrow_dependent(), guides.constrained);
            guides.add(Entry { guide, marks: Vec::new(), ended: false })
        })
    }

    /// Copies a guide.
    pub fn copy(&self, number: u64) -> u64 {
        self.with_dependent(|_, guides| {
            let entry = lock(guides).entries.get(&number).map(Arc::clone);
            // A guide of the other language has an entry until it is dropped.
            let Some(entry) = entry else { return number };
            let from = lock(&entry);
            let copy = Entry { guide: from.guide.clone(), marks: from.marks.clone(), ended: from.ended };
            drop(from);
            lock(guides).add(copy)
        })
    }

    /// Drops a guide.
    pub fn remove(&self, number: u64) {
        self.with_dependent(|_, guides| {
            lock(guides).entries.remove(&number);
        });
    }

    /// Applies an operation to a guide; nothing if there is none with this number.
    pub fn with<T>(&self, number: u64, run: impl for<'a> FnOnce(&mut Entry<'a>) -> T) -> Option<T> {
        self.with_dependent(|_, guides| {
            let entry = lock(guides).entries.get(&number).map(Arc::clone);
            entry.map(|entry| run(&mut lock(&entry)))
        })
    }
}
