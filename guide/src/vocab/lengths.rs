//! The number of tokens of the parts of an end, computed once.

use super::Vocab;
use crate::automaton::close::Out;
use crate::automaton::state::LINES;
use hashbrown::HashMap;
use ilo_spec::node::{TABLE, Word};

/// The length of a part that the vocabulary cannot write.
const NEVER: u16 = u16::MAX;
/// The integers whose lengths are kept.
const INTEGERS: u32 = 128;
/// The constants whose lengths are kept.
const CONSTANTS: [&str; 5] = ["nil", "true", "false", "0", "\"\""];
/// More than the number of words.
const WORDS: usize = 64;

/// In tokens, each with the separator before the part.
#[derive(Debug)]
pub(crate) struct Lengths {
    /// At the beginning of a line, by level and word.
    lines: Vec<u16>,
    words: Vec<u16>,
    integers: Vec<u16>,
    constants: Vec<u16>,
    /// Without anything before: integers, and what may be left of a word.
    rests: HashMap<Box<[u8]>, u16>,
}

impl Lengths {
    pub(super) fn new(vocab: &Vocab) -> Lengths {
        let length = |text: &str| {
            let tokens = vocab.cut(text.as_bytes());
            tokens.and_then(|tokens| u16::try_from(tokens.len()).ok()).unwrap_or(NEVER)
        };
        let words = |before: &str| {
            let mut lengths = [NEVER; WORDS];
            for row in TABLE {
                if let Some(place) = lengths.get_mut(row.word as usize) {
                    *place = length(&format!("{before}{}", row.mnemonic));
                }
            }
            lengths
        };
        let mnemonics = TABLE.iter().map(|row| row.mnemonic).chain(CONSTANTS);
        let rests = mnemonics.flat_map(|word| (0..word.len()).filter_map(|from| word.get(from..)));
        let integers = (0..INTEGERS).map(|number| number.to_string());
        let rests = rests.map(str::to_owned).chain(integers);
        Lengths {
            rests: rests.map(|rest| (rest.as_bytes().into(), length(&rest))).collect(),
            lines: (0..LINES).flat_map(|level| words(&format!("\n{}", "  ".repeat(level.into())))).collect(),
            words: words(" ").to_vec(),
            integers: (0..INTEGERS).map(|number| length(&format!(" {number}"))).collect(),
            constants: CONSTANTS.map(|text| length(&format!(" {text}"))).to_vec(),
        }
    }

    pub(super) fn memory(&self) -> usize {
        32 * self.rests.len()
            + 2 * (self.lines.len() + self.words.len() + self.integers.len() + self.constants.len())
    }
}

/// The length of an end in tokens, as long as it is within a limit.
pub(crate) struct Length<'v> {
    vocab: &'v Vocab,
    /// The rest of the limit.
    pub(crate) left: usize,
}

impl<'v> Length<'v> {
    pub(crate) fn new(vocab: &'v Vocab, limit: usize) -> Length<'v> {
        Length { vocab, left: limit }
    }

    /// Takes this number of tokens.
    fn take(&mut self, length: Option<usize>) -> bool {
        let left = length.and_then(|length| self.left.checked_sub(length));
        self.left = left.unwrap_or_default();
        left.is_some()
    }

    fn known(&mut self, length: Option<&u16>) -> bool {
        self.take(length.filter(|&&length| length != NEVER).map(|&length| length.into()))
    }
}

impl Out for Length<'_> {
    fn line(&mut self, level: u8, word: Word) -> bool {
        self.known(self.vocab.lengths().lines.get(usize::from(level) * WORDS + word as usize))
    }

    fn word(&mut self, word: Word) -> bool {
        self.known(self.vocab.lengths().words.get(word as usize))
    }

    fn integer(&mut self, number: u32) -> bool {
        match self.vocab.lengths().integers.get(number as usize) {
            Some(length) => self.known(Some(length)),
            None => self.bytes(format!(" {number}").as_bytes()),
        }
    }

    fn constant(&mut self, text: &str) -> bool {
        let lengths = self.vocab.lengths();
        let known = CONSTANTS.iter().position(|it| *it == text).and_then(|at| lengths.constants.get(at));
        let integer = || lengths.integers.get(text.parse::<usize>().ok()?);
        match known.or_else(integer) {
            Some(length) => self.known(Some(length)),
            None => self.bytes(format!(" {text}").as_bytes()),
        }
    }

    /// Takes the tokens of these bytes.
    fn bytes(&mut self, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        match self.vocab.lengths().rests.get(bytes) {
            Some(length) => self.known(Some(length)),
            None => self.take(self.vocab.cut(bytes).map(|tokens| tokens.len())),
        }
    }
}
