//! Masks within texts, in both notations: the tokens that stay in one are in tables of the vocabulary, and
//! those that end one are found by the bytes after the end.

use crate::automaton::state::Phase;
use crate::automaton::texts::Inside;
use crate::automaton::{formats, keys};
use crate::surface::Bytes;
use crate::surface::walk::{ANY, Walks, with_tails};
use crate::vocab::bits::set;
use crate::vocab::{Closer, Vocab};
use ilo_asm::ast::Literal;
use ilo_asm::catalog::SchemaShape;

impl<S: Bytes> TextMasks for S {}

pub(crate) trait TextMasks: Walks {
    /// Sets the tokens that continue a text whose quote is at `start`, or end it: from the tables, if it has
    /// room for any of them.
    fn fill_in_text(
        &mut self,
        vocab: &Vocab,
        (start, inside): (usize, Inside),
        has_room: bool,
        bits: &mut [u32],
    ) {
        if !has_room || formats::format(self.core()).is_some() {
            bits.fill(0);
            return self.walk_from(vocab, vocab.all(), ANY, 0, bits);
        }
        vocab.texts.fill(inside, bits);
        let closers = vocab.texts.closers(inside);
        let written = self.text().get(start + 1..).unwrap_or_default().to_vec();
        // What follows a literal does not depend on its content, except for a name in AT.
        let is_key = self.core().state.phase == Phase::CaseKey;
        let in_at = keys::in_at(self.core()).filter(|_| !is_key);
        if let Some(names) = in_at.map(names) {
            return self.fill_names_in_at(vocab, &names, &written, closers, 0, bits);
        }
        let fits = self.kept_ends(vocab, start, |this| {
            if !is_key && !this.core().takes_constant(Literal::Text("")) {
                return Vec::new();
            }
            this.tried(|this| {
                this.end_any_text();
                this.tails(vocab)
            })
        });
        let fit = with_tails(closers, &fits);
        if !is_key {
            return fit.for_each(|it| set(bits, it.token));
        }
        let as_it_is = self.may_be_key(&written);
        for closer in fit {
            let bytes = vocab.token(closer.token);
            let fits = match bytes.iter().position(|&byte| byte == b'"') {
                Some(0) if inside == Inside::Plain => as_it_is,
                Some(at) => self.may_be_key(&[&written, bytes.get(..at).unwrap_or_default()].concat()),
                None => None,
            };
            if fits.unwrap_or_else(|| self.takes(bytes)) {
                set(bits, closer.token);
            }
        }
    }

    /// Whether a text may be the key of the case; `None` if it has escapes.
    fn may_be_key(&self, text: &[u8]) -> Option<bool> {
        let text = core::str::from_utf8(text).ok().filter(|text| !text.contains('\\'))?;
        Some(self.core().takes_constant(Literal::Text(text)) && !self.meets_more(text))
    }

    /// Sets those of these tokens that may end a text that names a field of a value, which has these fields.
    /// All texts that name no known field have the same effect.
    fn fill_names_in_at(
        &mut self,
        vocab: &Vocab,
        names: &[Box<[u8]>],
        written: &[u8],
        closers: &[Closer],
        skipped: usize,
        bits: &mut [u32],
    ) {
        let mut others: Option<Vec<u32>> = None;
        for closer in closers {
            let bytes = vocab.token(closer.token).get(skipped..).unwrap_or_default();
            let end = bytes.iter().position(|&byte| byte == b'"').unwrap_or_default();
            let whole = [written, bytes.get(..end).unwrap_or_default()].concat();
            let is_known =
                whole.contains(&b'\\') || names.binary_search_by(|name| (**name).cmp(&whole)).is_ok();
            let fits = if is_known {
                self.takes(bytes)
            } else {
                let tails = others.get_or_insert_with(|| {
                    self.tried(|this| {
                        let ends = bytes.iter().take(end + 1).all(|&byte| this.byte(byte));
                        if ends { this.tails(vocab) } else { Vec::new() }
                    })
                });
                tails.binary_search(&closer.tail).is_ok()
            };
            if fits {
                set(bits, closer.token);
            }
        }
    }
}

/// The names of the fields of a value, in order.
pub(crate) fn names(shape: SchemaShape<'_>) -> Vec<Box<[u8]>> {
    shape.names().map(|name| name.as_bytes().into()).collect()
}
