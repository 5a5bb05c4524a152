//! Masks: which tokens of a vocabulary may come next, by the tables of the vocabulary.

use crate::automaton::lex::{Lex, Machine};
use crate::automaton::state::Phase;
use crate::automaton::texts::{Inside, place};
use crate::guide::{IdText, Point};
use crate::vocab::bits::{set, set_all};
use crate::vocab::{Closer, NO_NODE, Opening, Vocab};

/// What may follow a text: for each tail of a vocabulary, whether it may follow.
#[derive(Clone, Debug)]
pub(crate) struct Tails {
    vocab: u64,
    /// Where the text begins.
    pub(crate) start: usize,
    fits: Vec<u64>,
}

impl Tails {
    /// Finds what may follow the unfinished text, whatever its content is.
    fn behind(machine: &mut Machine<'_, '_>, vocab: &Vocab, start: usize) -> Tails {
        Tails { vocab: vocab.id, start, fits: machine.tails_behind(vocab) }
    }

    fn fits(&self, tail: u32) -> bool {
        self.fits.get(tail as usize / 64).is_some_and(|word| word >> (tail % 64) & 1 == 1)
    }
}

/// Sets the tokens whose tails may follow.
fn set_all_closers(bits: &mut [u32], closers: &[Closer], tails: &Tails) {
    closers.iter().filter(|it| tails.fits(it.tail)).for_each(|it| set(bits, it.token));
}

impl IdText<'_, '_> {
    /// Sets the bits of the tokens that may come next, without a limit on the tokens after them.
    pub(crate) fn fill(&mut self, vocab: &Vocab, bits: &mut [u32]) {
        if let Lex::Text(start, inside) = self.machine.lex {
            return self.fill_text(vocab, start, inside, bits);
        }
        bits.fill(0);
        if self.machine.may_end() {
            set(bits, vocab.eos());
        }
        self.machine.walk(vocab, &mut self.walk, bits);
        self.machine.digits(vocab, bits);
    }

    fn fill_text(&mut self, vocab: &Vocab, start: usize, inside: Inside, bits: &mut [u32]) {
        if self.machine.core.texts().is_some() {
            bits.fill(0);
            return self.machine.listed(vocab, start, b"", bits);
        }
        let at = place(inside);
        if self.machine.room() <= vocab.longest || self.machine.core.format().is_some() {
            bits.fill(0);
            self.machine.each(vocab, vocab.sorted.iter().copied(), bits);
            return;
        }
        vocab.texts.fill(at, bits);
        let closers = vocab.texts.closers(at);
        let is_key = self.machine.core.state.phase == Phase::CaseKey && inside == Inside::Plain;
        if !is_key && !self.machine.text_is_free() {
            return self.machine.each(vocab, closers.iter().map(|it| it.token), bits);
        }
        let known = self.tails.take().filter(|tails| tails.start == start && tails.vocab == vocab.id);
        let tails = known.unwrap_or_else(|| Tails::behind(&mut self.machine, vocab, start));
        if is_key {
            self.machine.fill_key(vocab, start, closers.iter().filter(|it| tails.fits(it.tail)), bits);
        } else {
            set_all_closers(bits, closers, &tails);
        }
        self.tails = Some(tails);
    }
}

/// How a walk goes back over a byte: bytes within a word, number or indent change nothing else.
#[derive(Clone, Copy, Debug)]
enum Back {
    Lex(Lex, usize),
    /// The last mark.
    All,
}

/// The data of a walk along tokens, whose memory the next one uses again.
#[derive(Default)]
pub(crate) struct Walk {
    marks: Vec<Point>,
    /// The next siblings of the nodes on the path, and how to go back to before those nodes.
    around: Vec<(u32, Back)>,
}

impl Clone for Walk {
    fn clone(&self) -> Walk {
        Walk::default()
    }
}

impl Machine<'_, '_> {
    /// Tries each of these tokens.
    pub(super) fn each(&mut self, vocab: &Vocab, tokens: impl Iterator<Item = u32>, bits: &mut [u32]) {
        let mark = self.point();
        for token in tokens {
            if vocab.token(token).iter().all(|&byte| self.byte(byte)) {
                set(bits, token);
            }
            self.back(&mark);
        }
    }

    /// The tails that may follow the unfinished text, whatever its content is.
    fn tails_behind(&mut self, vocab: &Vocab) -> Vec<u64> {
        let tails = vocab.texts.tails();
        let mut fits = vec![0_u64; tails.len().div_ceil(64)];
        let start = self.point();
        self.core.take_constant(crate::automaton::steps::Constant::Text(""));
        self.text.push(b'"');
        self.lex = Lex::Behind;
        let mark = self.point();
        for (number, tail) in tails.iter().enumerate() {
            if tail.iter().all(|&byte| self.byte(byte))
                && let Some(word) = fits.get_mut(number / 64)
            {
                *word |= 1 << (number % 64);
            }
            self.back(&mark);
        }
        self.back(&start);
        fits
    }

    /// Sets those of the tokens with which the unfinished text becomes a key that no other case has.
    fn fill_key<'v>(
        &mut self,
        vocab: &Vocab,
        start: usize,
        closers: impl Iterator<Item = &'v Closer>,
        bits: &mut [u32],
    ) {
        let written = [self.text.get(start..).unwrap_or_default(), b"\""].concat();
        let Ok(mut key) = serde_json::from_slice::<String>(&written) else { return };
        let length = key.len();
        for closer in closers {
            let token = vocab.token(closer.token);
            let end = token.iter().position(|&byte| byte == b'"').unwrap_or_default();
            let rest = token.get(..end).map(core::str::from_utf8);
            key.truncate(length);
            match rest {
                Some(Ok(rest)) if !rest.contains('\\') => {
                    key.push_str(rest);
                    if self.core.takes_text(&key) {
                        set(bits, closer.token);
                    }
                }
                _ => self.each(vocab, core::iter::once(closer.token), bits),
            }
        }
    }

    /// Sets the tokens that continue a text of which only some are allowed. Each begins with `begun`, bytes
    /// that the text has already; the text began at `start`.
    fn listed(&mut self, vocab: &Vocab, start: usize, begun: &[u8], bits: &mut [u32]) {
        let written = self.text.get(start..).unwrap_or_default().to_vec();
        let mark = self.point();
        let skipped = begun.len();
        for text in self.core.texts().unwrap_or_default() {
            let quoted = serde_json::Value::from(&**text).to_string();
            let Some(rest) = quoted.as_bytes().strip_prefix(written.as_slice()) else { continue };
            let mut token = begun.to_vec();
            for length in 0..=rest.len() {
                token.truncate(skipped);
                token.extend_from_slice(rest.get(..length).unwrap_or_default());
                let (from, to) = vocab.beginning(&token);
                let range = vocab.sorted.get(from..to).unwrap_or_default();
                if range.is_empty() {
                    break;
                }
                let same = range.iter().take_while(|&&one| vocab.token(one).len() == token.len());
                same.for_each(|&one| set(bits, one));
            }
            if token.len() != skipped + rest.len() {
                continue;
            }
            // Tokens that continue after the end of the text.
            let (from, to) = vocab.beginning(&token);
            for &one in vocab.sorted.get(from..to).unwrap_or_default() {
                let bytes = vocab.token(one).get(skipped..).unwrap_or_default();
                if bytes.iter().all(|&byte| self.byte(byte)) {
                    set(bits, one);
                }
                self.back(&mark);
            }
        }
    }

    /// Sets the tokens that begin outside texts, except those of digits.
    fn walk(&mut self, vocab: &Vocab, walk: &mut Walk, bits: &mut [u32]) {
        self.prepare();
        for &(byte, root) in vocab.trie.roots() {
            if self.may_take(byte) {
                self.walk_below(vocab, root, walk, bits);
            }
        }
    }

    /// Sets those of these tokens that begin with the bytes of a node. The lists are empty before and after.
    fn walk_below(&mut self, vocab: &Vocab, root: u32, walk: &mut Walk, bits: &mut [u32]) {
        let Walk { marks, around } = walk;
        let trie = &vocab.trie;
        let mut node = root;
        loop {
            let Some(here) = trie.node(node) else {
                let Some((next, back)) = around.pop() else { break };
                self.undo(back, marks);
                node = next;
                continue;
            };
            let sibling = if node == root { NO_NODE } else { here.sibling };
            if !self.may_take(here.byte) {
                node = sibling;
                continue;
            }
            let ends = matches!(here.byte, b' ' | b'\n') && !matches!(self.lex, Lex::Line(_) | Lex::Start);
            let back = if ends {
                marks.push(self.point());
                Back::All
            } else {
                Back::Lex(self.lex, self.text.len())
            };
            if self.byte(here.byte) {
                set_all(bits, trie.tokens(here));
                if let Some(opening) = trie.opening(here) {
                    self.open(vocab, opening, bits);
                } else if here.child != NO_NODE {
                    around.push((sibling, back));
                    node = here.child;
                    continue;
                }
            }
            self.undo(back, marks);
            node = sibling;
        }
    }

    /// Goes back over a byte.
    fn undo(&mut self, back: Back, marks: &mut Vec<Point>) {
        match back {
            Back::Lex(lex, length) => {
                self.lex = lex;
                self.text.truncate(length);
            }
            Back::All => {
                if let Some(mark) = marks.pop() {
                    self.back(&mark);
                }
            }
        }
    }

    /// Sets the tokens that begin a text, after their quote.
    fn open(&mut self, vocab: &Vocab, opening: &Opening, bits: &mut [u32]) {
        let Lex::Text(start, _) = self.lex else { return };
        if self.core.texts().is_some() {
            return self.listed(vocab, start, &opening.prefix, bits);
        }
        let skipped = opening.prefix.len();
        if self.room() <= vocab.longest || self.core.format().is_some() {
            let all = opening.stays.iter().copied().chain(opening.closers.iter().map(|it| it.token));
            return self.each_behind(vocab, skipped, all, bits);
        }
        set_all(bits, &opening.stays);
        if opening.closers.is_empty() {
            return;
        }
        if self.text_is_free() {
            let tails = Tails::behind(self, vocab, start);
            return set_all_closers(bits, &opening.closers, &tails);
        }
        self.each_behind(vocab, skipped, opening.closers.iter().map(|it| it.token), bits);
    }

    /// Tries each of these tokens, of which this number of bytes was taken.
    fn each_behind(
        &mut self,
        vocab: &Vocab,
        skipped: usize,
        tokens: impl Iterator<Item = u32>,
        bits: &mut [u32],
    ) {
        let mark = self.point();
        for token in tokens {
            let bytes = vocab.token(token).get(skipped..).unwrap_or_default();
            if bytes.iter().all(|&byte| self.byte(byte)) {
                set(bits, token);
            }
            self.back(&mark);
        }
    }
}
