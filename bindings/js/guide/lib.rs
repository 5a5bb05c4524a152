//! The WebAssembly module of `ilo-vm/guide`: vocabularies, sessions, guides and headers.
//!
//! It is a separate module, so that packages that only run programs do not load it. Messages for refused
//! tokens are the same as in the other packages (`ilo-bindings`).

// Arguments are passed by value because JavaScript passes copies.
#![allow(clippy::needless_pass_by_value, reason = "what JavaScript gives is owned")]
#![allow(unreachable_pub, reason = "wasm-bindgen exports only what is public")]
#![allow(clippy::redundant_closure_for_method_calls, reason = "a method is for one lifetime only")]

mod header;
mod thrown;

use ilo_asm::catalog::Catalog;
use ilo_bindings::guide::{Entry, Held};
use ilo_bindings::known::Known;
use ilo_guide::{Options, Session};
use std::rc::Rc;
use std::sync::Arc;
use thrown::{cannot_end, range, refused};
use wasm_bindgen::prelude::wasm_bindgen;

/// Prepares the instance: a panic becomes an exception with its message, after which the package makes a new
/// instance.
#[wasm_bindgen(start)]
pub fn prepare() {
    std::panic::set_hook(Box::new(|info| {
        wasm_bindgen::throw_str(&format!("ilo failed in itself: {info}"));
    }));
}

/// The tokens of a model.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Vocabulary(Rc<ilo_guide::Vocab>);

#[wasm_bindgen]
impl Vocabulary {
    /// Reads the concatenated bytes of all tokens, and the length of each.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: Vec<u8>, lengths: Vec<u32>, eos: u32) -> Result<Vocabulary, String> {
        let vocab = ilo_guide::Vocab::from_bytes(bytes, &lengths, eos).map_err(|error| range(&error.0))?;
        Ok(Vocabulary(Rc::new(vocab)))
    }

    /// The bytes of a token.
    pub fn token(&self, token: u32) -> Result<Vec<u8>, String> {
        if (token as usize) < self.0.len() {
            return Ok(self.0.token(token).to_vec());
        }
        Err(range(&format!("token {token}: the last is {}", self.0.len() - 1)))
    }

    /// Splits a text into tokens, the longest first.
    pub fn cut(&self, text: &[u8]) -> Option<Vec<u32>> {
        self.0.cut(text)
    }
}

/// A signature, tools, and the guides that write a program of it.
#[wasm_bindgen]
#[derive(Debug)]
pub struct GuideSession(Arc<Held>);

#[wasm_bindgen]
impl GuideSession {
    /// Begins a session with a catalogue in MCP's form.
    #[wasm_bindgen(constructor)]
    pub fn new(signature: &str, tools: &str, above: String, notation: &str) -> Result<GuideSession, String> {
        let catalog = Catalog::from_json(tools).map_err(|error| range(&format!("tools: {error}")))?;
        let known = Arc::new(Known { catalog, ..Known::default() });
        let options = Options { above, ..Options::default() };
        let held = Held::begin(|a, b, c| Session::following(a, b, c), known, signature, notation, &options);
        held.map(|held| GuideSession(Arc::new(held))).map_err(|error| range(&error.0))
    }

    /// The text before the body.
    pub fn prefix(&self) -> String {
        self.0.prefix()
    }
}

/// The words of a mask, if there are as many as the vocabulary needs.
fn checked<'b>(vocab: &Vocabulary, bits: &'b mut [u32]) -> Result<&'b mut [u32], String> {
    if bits.len() == vocab.0.mask_len() {
        return Ok(bits);
    }
    Err(range(&format!("a mask of this vocabulary has {} words, found {}", vocab.0.mask_len(), bits.len())))
}

/// A program that a model is writing.
#[wasm_bindgen]
#[derive(Debug)]
pub struct GuideCore {
    held: Arc<Held>,
    number: u64,
}

impl Drop for GuideCore {
    fn drop(&mut self) {
        self.held.remove(self.number);
    }
}

impl GuideCore {
    fn with<T>(&self, run: impl for<'a> FnOnce(&mut Entry<'a>) -> T) -> Result<T, String> {
        // The entry exists as long as its guide.
        self.held.with(self.number, run).ok_or_else(|| range("the guide is gone"))
    }
}

#[wasm_bindgen]
impl GuideCore {
    /// Begins a program.
    #[wasm_bindgen(constructor)]
    pub fn new(session: &GuideSession) -> GuideCore {
        let held = Arc::clone(&session.0);
        let number = held.add();
        GuideCore { held, number }
    }

    /// A copy of the guide that continues independently.
    #[must_use]
    pub fn copy(&self) -> GuideCore {
        GuideCore { held: Arc::clone(&self.held), number: self.held.copy(self.number) }
    }

    /// The body so far.
    pub fn text(&self) -> Result<Vec<u8>, String> {
        self.with(|entry| entry.text().to_vec())
    }

    /// The number of steps.
    pub fn steps(&self) -> Result<usize, String> {
        self.with(|entry| entry.steps())
    }

    /// Whether the program may end here.
    #[wasm_bindgen(js_name = mayEnd)]
    pub fn may_end(&self) -> Result<bool, String> {
        self.with(|entry| entry.may_end())
    }

    /// Whether the token that ends the text was taken.
    pub fn ended(&self) -> Result<bool, String> {
        self.with(|entry| entry.ended())
    }

    /// The approximate number of bytes of the guide.
    pub fn memory(&self) -> Result<usize, String> {
        self.with(|entry| entry.memory())
    }

    /// Takes a token.
    pub fn accept(&self, vocab: &Vocabulary, token: u32) -> Result<(), String> {
        self.with(|entry| entry.accept(&vocab.0, token))?.map_err(refused)
    }

    /// Takes bytes of the body, as one step.
    #[wasm_bindgen(js_name = acceptBytes)]
    pub fn accept_bytes(&self, bytes: &[u8]) -> Result<(), String> {
        self.with(|entry| entry.accept_bytes(bytes))?.map_err(refused)
    }

    /// The number of these tokens, from the first, that may come next in order.
    pub fn validate(&self, vocab: &Vocabulary, tokens: &[u32]) -> Result<usize, String> {
        self.with(|entry| entry.validate(&vocab.0, tokens))
    }

    /// Takes back this number of steps.
    pub fn rollback(&self, steps: u32) -> Result<(), String> {
        self.with(|entry| entry.rollback(steps as usize))?.map_err(|message| range(&message))
    }

    /// Fills a mask with the tokens that may come next.
    #[wasm_bindgen(js_name = fillMask)]
    pub fn fill_mask(&self, vocab: &Vocabulary, left: u32, bits: &mut [u32]) -> Result<(), String> {
        let bits = checked(vocab, bits)?;
        self.with(|entry| entry.fill_mask(&vocab.0, left, bits))?.map_err(|why| cannot_end(&why))
    }

    /// The bytes that must come next.
    pub fn forced(&self) -> Result<Vec<u8>, String> {
        self.with(|entry| entry.forced())
    }

    /// The tokens that must come next.
    #[wasm_bindgen(js_name = forcedTokens)]
    pub fn forced_tokens(&self, vocab: &Vocabulary, cut: Option<Vec<u32>>) -> Result<Vec<u32>, String> {
        self.with(|entry| entry.forced_tokens(&vocab.0, cut))
    }

    /// A text that ends the program.
    pub fn close(&self) -> Result<Option<Vec<u8>>, String> {
        self.with(|entry| entry.close())
    }

    /// What may come next, as JSON.
    pub fn next(&self) -> Result<String, String> {
        self.with(|entry| entry.next_json())
    }

    /// The whole file.
    pub fn finish(&self) -> Result<String, String> {
        self.with(|entry| entry.finish())?.map_err(refused)
    }
}
