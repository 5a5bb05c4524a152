//! Masks of bodies in ID text: which tokens of a vocabulary may come next, by the tables of the vocabulary.

use super::lex::{Lex, Machine};
use crate::automaton::state::Phase;
use crate::automaton::steps::Constant;
use crate::automaton::texts::Inside;
use crate::surface::Surface;
use crate::surface::walk::{ANY, Walks, with_tails};
use crate::vocab::bits::{set, set_all};
use crate::vocab::{Closer, Opening, Vocab};

/// The tokens that end a text before a blank or the end of a line, or with nothing behind it.
fn plausible(vocab: &Vocab, closers: &[Closer]) -> impl Iterator<Item = u32> {
    let fits = |it: &&Closer| matches!(vocab.tails.bytes(it.tail), [] | [b' ' | b'\n', ..]);
    closers.iter().filter(fits).map(|it| it.token)
}

impl Machine<'_, '_> {
    /// Sets the bits of the tokens that may come next, without a limit on the tokens after them.
    pub(super) fn fill(&mut self, vocab: &Vocab, bits: &mut [u32]) {
        if let Lex::Text(start, inside) = self.lex {
            return self.fill_text(vocab, start, inside, bits);
        }
        bits.fill(0);
        if self.may_end() {
            set(bits, vocab.eos());
        }
        self.prepare();
        self.walk_tree(&vocab.outside.tree, ANY, &|part| vocab.outside.bytes(vocab, part));
        let (mut next, mut openings) = (0, Vec::new());
        while let Some(&part) = self.walk.entries().get(next) {
            match vocab.outside.opening(part) {
                Some(opening) => openings.push((part, opening)),
                None => set_all(bits, vocab.outside.tokens(part)),
            }
            next += 1;
        }
        for (part, opening) in openings {
            self.tried(|this| {
                if vocab.outside.bytes(vocab, part).iter().all(|&byte| this.byte(byte)) {
                    this.open(vocab, opening, bits);
                }
            });
        }
        self.digits(vocab, bits);
    }

    fn fill_text(&mut self, vocab: &Vocab, start: usize, inside: Inside, bits: &mut [u32]) {
        if self.core.texts().is_some() {
            bits.fill(0);
            return self.listed(vocab, start, b"", bits);
        }
        if !self.has_room(vocab) {
            bits.fill(0);
            return self.walk_from(vocab, vocab.all(), ANY, 0, bits);
        }
        vocab.texts.fill(inside, bits);
        let closers = vocab.texts.closers(inside);
        let is_key = self.core.state.phase == Phase::CaseKey;
        if inside != Inside::Plain || !(is_key || self.text_is_free()) {
            return self.each(vocab, plausible(vocab, closers), 0, bits);
        }
        let fits = self.kept_ends(vocab, start, |this| {
            let tails = this.tails_behind(vocab);
            with_tails(closers, &tails).map(|it| it.token).collect()
        });
        if is_key { self.fill_key(vocab, start, &fits, bits) } else { set_all(bits, &fits) }
    }

    /// Whether any token may be in the unfinished text.
    fn has_room(&self, vocab: &Vocab) -> bool {
        self.room() > vocab.longest && self.core.format().is_none()
    }

    /// The tails that may follow the unfinished text, whatever its content is.
    fn tails_behind(&mut self, vocab: &Vocab) -> Vec<u32> {
        self.tried(|this| {
            this.core.take_constant(Constant::Text(""));
            this.text.push(b'"');
            this.lex = Lex::Behind;
            this.tails(vocab)
        })
    }

    /// Sets those of the tokens with which the unfinished text becomes a key that no other case has.
    fn fill_key(&mut self, vocab: &Vocab, start: usize, tokens: &[u32], bits: &mut [u32]) {
        let written = [self.text.get(start..).unwrap_or_default(), b"\""].concat();
        let Ok(mut key) = serde_json::from_slice::<String>(&written) else { return };
        let length = key.len();
        for &one in tokens {
            let token = vocab.token(one);
            let end = token.iter().position(|&byte| byte == b'"').unwrap_or_default();
            let rest = token.get(..end).map(core::str::from_utf8);
            key.truncate(length);
            match rest {
                Some(Ok(rest)) if !rest.contains('\\') => {
                    key.push_str(rest);
                    if self.core.takes_text(&key) {
                        set(bits, one);
                    }
                }
                _ => self.each(vocab, [one], 0, bits),
            }
        }
    }

    /// Sets the tokens that continue a text of which only some are allowed. Each begins with `begun`, bytes
    /// that the text has already; the text began at `start`.
    fn listed(&mut self, vocab: &Vocab, start: usize, begun: &[u8], bits: &mut [u32]) {
        let written = self.text.get(start..).unwrap_or_default().to_vec();
        for text in self.core.texts().unwrap_or_default() {
            let quoted = serde_json::Value::from(&**text).to_string();
            let Some(rest) = quoted.as_bytes().strip_prefix(written.as_slice()) else { continue };
            let mut token = begun.to_vec();
            for length in 0..=rest.len() {
                token.truncate(begun.len());
                token.extend_from_slice(rest.get(..length).unwrap_or_default());
                let (from, to) = vocab.beginning(&token);
                let range = vocab.sorted.get(from..to).unwrap_or_default();
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
        let Lex::Text(start, _) = self.lex else { return };
        if self.core.texts().is_some() {
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
        let fits = self.tails_behind(vocab);
        with_tails(&opening.closers, &fits).for_each(|it| set(bits, it.token));
    }
}
