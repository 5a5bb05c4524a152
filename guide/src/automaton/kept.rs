//! What depends only on a session and on what is wanted, found once for all its guides: the words that a
//! value may begin with, and the tools that a call may go to.

use crate::automaton::offers::Words;
use crate::automaton::want::WantKey;
use hashbrown::HashMap;
use ilo_spec::node::Word;
use std::sync::{OnceLock, RwLock};

/// The most wants whose words or tools are kept, the most lists of tools, and the most tools in them.
const MOST: usize = 4096;
const LISTS: usize = 256;
const TOOLS: usize = 1 << 17;

/// A call that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    pub(crate) want: WantKey,
    /// The word of the statement, UNDO or ROLLBACK, that has the call.
    pub(crate) marked: Option<Word>,
    pub(crate) followed: bool,
    pub(crate) deep: bool,
}

/// By what is wanted: words, where names are written as texts or not; the place of a list of tools.
#[derive(Debug, Default)]
pub(crate) struct ByWant {
    words: RwLock<HashMap<(WantKey, bool), Words>>,
    calls: RwLock<HashMap<Call, usize>>,
    lists: Vec<OnceLock<Box<[u32]>>>,
}

impl ByWant {
    pub(super) fn new() -> ByWant {
        ByWant { lists: vec![OnceLock::new(); LISTS], ..ByWant::default() }
    }

    pub(super) fn words(&self, key: &(WantKey, bool)) -> Option<Words> {
        self.words.read().ok()?.get(key).copied()
    }

    pub(super) fn keep_words(&self, key: (WantKey, bool), words: Words) {
        if let Ok(mut known) = self.words.write()
            && known.len() < MOST
        {
            known.insert(key, words);
        }
    }

    /// The place of the tools of a call.
    pub(super) fn tools_for(&self, call: &Call) -> Option<usize> {
        self.calls.read().ok()?.get(call).copied()
    }

    /// Keeps the tools of a call, if there is room. Many calls have the same. Returns their place.
    pub(super) fn keep(&self, call: Call, tools: &[u32]) -> Option<usize> {
        let mut known = self.calls.write().ok().filter(|known| known.len() < MOST)?;
        let kept = || self.lists.iter().map_while(OnceLock::get);
        let place = kept().position(|list| **list == *tools).or_else(|| {
            let place = kept().count();
            let has_room = kept().map(|list| list.len()).sum::<usize>() + tools.len() <= TOOLS;
            self.lists.get(place).filter(|_| has_room)?.set(tools.into()).ok().map(|()| place)
        })?;
        known.insert(call, place);
        Some(place)
    }

    /// The tools at a place.
    pub(super) fn tools(&self, place: usize) -> &[u32] {
        self.lists.get(place).and_then(OnceLock::get).map_or(&[], |list| list)
    }
}
