//! The tokens of the parts of an end. Each part is cut once.

use super::Vocab;
use hashbrown::HashMap;
use std::sync::RwLock;

/// The most parts whose tokens are kept.
const PARTS: usize = 4096;

/// `None` if the vocabulary cannot write the part.
type Cut = Option<Box<[u32]>>;

/// By the bytes of a part.
#[derive(Debug, Default)]
pub(super) struct Parts(RwLock<HashMap<Box<[u8]>, Cut>>);

impl Parts {
    pub(super) fn memory(&self) -> usize {
        self.0.read().map_or(0, |known| 64 * known.len())
    }
}

impl Vocab {
    /// What this makes of the tokens of a part; `None` if the vocabulary cannot write it.
    pub(crate) fn part<T>(&self, part: &[u8], make: impl Fn(&[u32]) -> T) -> Option<T> {
        let make = |tokens: &Cut| tokens.as_deref().map(&make);
        let known = self.parts.0.read().ok().and_then(|known| known.get(part).map(make));
        known.unwrap_or_else(|| {
            let tokens = self.cut(part).map(Into::into);
            let made = make(&tokens);
            if let Ok(mut known) = self.parts.0.write()
                && known.len() < PARTS
            {
                known.insert(part.into(), tokens);
            }
            made
        })
    }
}
