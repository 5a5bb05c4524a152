//! The header of a function that a model writes: of a helper, or of the program.

use crate::thrown::{cannot_end, range, refused};
use crate::{GuideSession, Vocabulary, checked};
use ilo_bindings::guide::Header;
use wasm_bindgen::prelude::wasm_bindgen;

/// The header of the next function of a file.
#[wasm_bindgen]
#[derive(Debug)]
pub struct HeaderCore(Header);

#[wasm_bindgen]
impl HeaderCore {
    /// Begins a header.
    #[wasm_bindgen(constructor)]
    pub fn new(session: &GuideSession) -> Result<HeaderCore, String> {
        Header::new(&session.0).map(HeaderCore).map_err(|message| range(&message))
    }

    /// A copy of the header that continues independently.
    #[must_use]
    pub fn copy(&self) -> HeaderCore {
        HeaderCore(self.0.clone())
    }

    /// The header so far.
    pub fn text(&self) -> Vec<u8> {
        self.0.text().to_vec()
    }

    /// The number of steps.
    pub fn steps(&self) -> usize {
        self.0.steps()
    }

    /// Whether the header is complete.
    pub fn ended(&self) -> bool {
        self.0.ended()
    }

    /// Whether it is, or can only become, the header of the program itself.
    #[wasm_bindgen(js_name = isOwn)]
    pub fn is_own(&self) -> bool {
        self.0.is_own()
    }

    /// Takes a token.
    pub fn accept(&mut self, vocab: &Vocabulary, token: u32) -> Result<(), String> {
        self.0.accept(&vocab.0, token).map_err(refused)
    }

    /// Takes bytes, as one step.
    #[wasm_bindgen(js_name = acceptBytes)]
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.0.accept_bytes(bytes).map_err(refused)
    }

    /// The number of these tokens, from the first, that may come next in order.
    pub fn validate(&self, vocab: &Vocabulary, tokens: &[u32]) -> usize {
        self.0.validate(&vocab.0, tokens)
    }

    /// Takes back this number of steps.
    pub fn rollback(&mut self, steps: u32) -> Result<(), String> {
        self.0.rollback(steps as usize).map_err(|message| range(&message))
    }

    /// Fills a mask with the tokens that may come next.
    #[wasm_bindgen(js_name = fillMask)]
    pub fn fill_mask(&mut self, vocab: &Vocabulary, left: u32, bits: &mut [u32]) -> Result<(), String> {
        let bits = checked(vocab, bits)?;
        self.0.fill_mask(&vocab.0, left, bits).map_err(|why| cannot_end(&why))
    }

    /// The bytes that must come next.
    pub fn forced(&mut self) -> Vec<u8> {
        self.0.forced()
    }

    /// A text that completes the header.
    pub fn close(&self) -> Vec<u8> {
        self.0.close().into_bytes()
    }
}
