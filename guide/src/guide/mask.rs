//! Masks of bodies in ID text: which tokens of a vocabulary may come next, by the tables of the vocabulary.

use super::digits;
use super::lex::{InToken, LineMachine};
use crate::automaton::{formats, keys};
use crate::surface::texts::TextMasks;
use crate::surface::walk::{ANY, Walks, with_tails};
use crate::surface::{Bytes, Steps};
use crate::vocab::bits::{set, set_all};
use crate::vocab::{Closer, Opening, Vocab, outside};
use ilo_spec::json::quoted;

/// The tokens that end a text before a blank or the end of a line, or with nothing behind it.
fn plausible(vocab: &Vocab, closers: &[Closer]) -> impl Iterator<Item = u32> {
    let fits = |it: &&Closer| matches!(vocab.tails.bytes(it.tail), [] | [b' ' | b'\n', ..]);
    closers.iter().filter(fits).map(|it| it.token)
}

impl LineMachine<'_> {
    /// Sets the bits of the tokens that may come next, without a limit on the tokens after them.
    pub(super) fn fill_tokens(&mut self, vocab: &Vocab, bits: &mut [u32]) {
        bits.fill(0);
        if let InToken::Text(start, inside) = self.lex {
            return match keys::texts(&self.core) {
                Some(_) => self.listed(vocab, start, b"", bits),
                None => self.fill_in_text(vocab, (start, inside), self.room() > vocab.longest, bits),
            };
        }
        if self.may_end() {
            set(bits, vocab.eos());
        }
        self.prepare();
        let tree = &vocab.outside.tree;
        self.walk_tree(tree, ANY, &|token| outside(vocab.token(token)));
        for token in self.walk.entries().to_vec() {
            let Some(opening) = vocab.outside.opening(token) else {
                set(bits, token);
                continue;
            };
            self.tried(|this| {
                if outside(vocab.token(token)).iter().all(|&byte| this.byte(byte)) {
                    this.open(vocab, opening, bits);
                }
            });
        }
        tree.set_equal(bits);
        digits::digits(self, vocab, bits);
    }

    /// Whether any token may be in the unfinished text.
    fn has_room(&self, vocab: &Vocab) -> bool {
        self.room() > vocab.longest && formats::format(&self.core).is_none()
    }

    /// Sets the tokens that continue a text of which only some are allowed. Each begins with `begun`, bytes
    /// that the text has already; the text began at `start`.
    fn listed(&mut self, vocab: &Vocab, start: usize, begun: &[u8], bits: &mut [u32]) {
        let written = self.text.get(start..).unwrap_or_default().to_vec();
        for text in keys::texts(&self.core).into_iter().flatten() {
            let quoted = quoted(text);
            let Some(rest) = quoted.as_bytes().strip_prefix(written.as_slice()) else { continue };
            let mut token = begun.to_vec();
            for length in 0..=rest.len() {
                token.truncate(begun.len());
                token.extend_from_slice(rest.get(..length).unwrap_or_default());
                let range = vocab.beginning(&token);
                if range.is_empty() {
                    break;
                }
                // Tokens may continue after the end of the text.
                let fits = |one: &&u32| length == rest.len() || vocab.token(**one).len() == token.len();
                self.each(vocab, range.iter().take_while(fits).copied(), begun.len(), bits);
            }
        }
    }

    /// Sets the tokens that begin a text, after their quote.
    fn open(&mut self, vocab: &Vocab, opening: &Opening, bits: &mut [u32]) {
        let InToken::Text(start, _) = self.lex else { return };
        if keys::texts(&self.core).is_some() {
            let from = self.text.len().saturating_sub(opening.skipped);
            let begun = self.text.get(from..).unwrap_or_default().to_vec();
            return self.listed(vocab, start, &begun, bits);
        }
        if !self.has_room(vocab) {
            self.each(vocab, opening.stays.iter().copied(), opening.skipped, bits);
            return self.each(vocab, plausible(vocab, &opening.closers), opening.skipped, bits);
        }
        set_all(bits, &opening.stays);
        if !self.text_is_free() {
            return self.each(vocab, plausible(vocab, &opening.closers), opening.skipped, bits);
        }
        let fits = self.tried(|this| {
            this.end_any_text();
            this.tails(vocab)
        });
        with_tails(&opening.closers, &fits).for_each(|it| set(bits, it.token));
    }
}
