//! Where the nodes of syntax trees are, and the texts that no source has as they are.

use bumpalo::Bump;

/// The memory of syntax trees: what is added stays where it is until the arena is dropped.
///
/// It may be moved to another thread, but not shared between threads. Destructors do not run.
///
/// ```
/// use ilo_asm::arena::Arena;
/// use ilo_asm::diagnostic::Diagnostics;
///
/// let (arena, mut found) = (Arena::new(), Diagnostics::default());
/// let source = "; fn f() -> number\nRET LIT 1 2\n";
/// let file = ilo_asm::compile::read(source, &arena, &Default::default(), &mut found);
/// assert_eq!(file.functions.len(), 1);
/// ```
#[derive(Debug, Default)]
pub struct Arena(pub(crate) Bump);

impl Arena {
    /// An arena without memory, which takes it with the first value.
    pub fn new() -> Arena {
        Arena::default()
    }

    /// Adds a value.
    #[inline(always)]
    pub fn alloc<T>(&self, value: T) -> &mut T {
        self.0.alloc(value)
    }

    /// Adds a copy of a text.
    #[inline(always)]
    pub fn alloc_str(&self, text: &str) -> &str {
        self.0.alloc_str(text)
    }

    /// Adds the values of an iterator.
    pub(crate) fn collect<T: Copy>(&self, values: impl Iterator<Item = T>) -> &[T] {
        self.alloc_slice_copy(&values.collect::<Vec<T>>())
    }

    /// Adds a copy of some values.
    #[inline(always)]
    pub fn alloc_slice_copy<T: Copy>(&self, values: &[T]) -> &[T] {
        self.0.alloc_slice_copy(values)
    }
}
