//! A stack that allocates only when it grows beyond a few items.

use alloc::vec::Vec;

/// Items stored inline: values are rarely nested deeper.
const INLINE: usize = 8;

/// A stack whose first items are stored inline.
pub(crate) struct InlineStack<T> {
    inline: [T; INLINE],
    spill: Vec<T>,
    len: usize,
}

impl<T: Copy> InlineStack<T> {
    /// An empty stack; `blank` fills the unused slots.
    pub(crate) fn new(blank: T) -> InlineStack<T> {
        InlineStack { inline: [blank; INLINE], spill: Vec::new(), len: 0 }
    }

    pub(crate) fn push(&mut self, item: T) {
        match self.inline.get_mut(self.len) {
            Some(place) => *place = item,
            None => self.spill.push(item),
        }
        self.len += 1;
    }

    pub(crate) fn pop(&mut self) {
        self.spill.pop();
        self.len = self.len.saturating_sub(1);
    }

    pub(crate) fn last(&mut self) -> Option<&mut T> {
        let top = self.len.checked_sub(1)?;
        if top < INLINE { self.inline.get_mut(top) } else { self.spill.last_mut() }
    }
}
