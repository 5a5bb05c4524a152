//! The number of tokens of the parts of an end. Those of most parts are computed once.

use super::Vocab;
use crate::automaton::state::LINES;
use hashbrown::HashMap;
use ilo_spec::node::{Place, TABLE};

/// The integers whose lengths are kept.
const INTEGERS: u32 = 128;
/// The constants whose lengths are kept.
const CONSTANTS: [&str; 4] = ["nil", "true", "false", "\"\""];

/// In tokens; `None` if the vocabulary cannot write a part.
#[derive(Debug)]
pub(crate) struct Lengths(HashMap<Box<[u8]>, Option<usize>>);

impl Lengths {
    /// Those of nodes with a blank before them, of the rests of nodes, and of the words of lines.
    pub(super) fn new(vocab: &Vocab) -> Lengths {
        let words = TABLE.iter().map(|row| row.mnemonic).chain(CONSTANTS).map(str::to_owned);
        let nodes = words.chain((0..INTEGERS).map(|number| number.to_string()));
        let rests = nodes.map(|node| format!(" {node}")).flat_map(|node| {
            let rest = |from: usize| node.get(from..).map(str::to_owned);
            (0..node.len()).filter_map(rest).collect::<Vec<_>>()
        });
        let lines = TABLE.iter().filter(|row| row.place != Place::Expression).flat_map(|row| {
            (0..LINES).map(|level| format!("\n{}{}", "  ".repeat(level.into()), row.mnemonic))
        });
        let all = rests.chain(lines);
        Lengths(all.map(|part| (part.as_bytes().into(), vocab.length(part.as_bytes()))).collect())
    }

    pub(super) fn memory(&self) -> usize {
        48 * self.0.len()
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

    /// Takes the tokens of these bytes. Returns whether they are within the limit.
    pub(crate) fn takes(&mut self, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        let known = self.vocab.lengths().0.get(bytes).copied();
        let length = known.unwrap_or_else(|| self.vocab.length(bytes));
        let left = length.and_then(|length| self.left.checked_sub(length));
        self.left = left.unwrap_or_default();
        left.is_some()
    }
}
