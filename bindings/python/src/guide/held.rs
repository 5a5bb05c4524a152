//! A session, and the guides that borrow from it, as one value that Python can own.
//!
//! A guide borrows its session, and a session its catalogue. So all three are one cell; what Python holds as
//! a guide is the number of one in it.

use ilo_asm::catalog::Catalog;
use ilo_bindings::known::Known;
use ilo_guide::{Guide, Mark, Options, Session, SessionError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A guide, how to go back, and whether its text has ended.
pub(super) struct Entry<'a> {
    pub(super) guide: Guide<'a, 'a>,
    /// Where the guide was before each step.
    pub(super) marks: Vec<Mark>,
    pub(super) ended: bool,
}

/// The guides of a session by their numbers.
#[derive(Default)]
struct Guides<'a> {
    next: u64,
    entries: HashMap<u64, Arc<Mutex<Entry<'a>>>>,
}

impl<'a> Guides<'a> {
    fn add(&mut self, entry: Entry<'a>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.entries.insert(number, Arc::new(Mutex::new(entry)));
        number
    }
}

type Table<'a> = Mutex<Guides<'a>>;

self_cell::self_cell!(
    struct Begun {
        owner: Arc<Known>,
        #[covariant]
        dependent: Session,
    }
);

self_cell::self_cell!(
    /// A session and its guides.
    pub(crate) struct Held {
        owner: Begun,
        #[not_covariant]
        dependent: Table,
    }
);

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").finish_non_exhaustive()
    }
}

/// A lock; what a panic left is taken as it is, since a guide goes back to where it was.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Held {
    pub(super) fn begin(known: Arc<Known>, signature: &str, options: &Options) -> Result<Held, SessionError> {
        let begun = Begun::try_new(known, |known| Session::new(catalog(known), signature, options))?;
        Ok(Held::new(begun, |_| Mutex::default()))
    }

    pub(super) fn session(&self) -> &Session<'_> {
        self.borrow_owner().borrow_dependent()
    }

    /// Begins a guide.
    pub(super) fn add(&self) -> u64 {
        self.with_dependent(|begun, guides| {
            let guide = Guide::new(begun.borrow_dependent());
            lock(guides).add(Entry { guide, marks: Vec::new(), ended: false })
        })
    }

    /// Copies a guide.
    pub(super) fn copy(&self, number: u64) -> u64 {
        self.with_dependent(|_, guides| {
            let entry = lock(guides).entries.get(&number).map(Arc::clone);
            // A guide of Python has an entry until it is dropped.
            let Some(entry) = entry else { return number };
            let from = lock(&entry);
            let copy = Entry { guide: from.guide.clone(), marks: from.marks.clone(), ended: from.ended };
            drop(from);
            lock(guides).add(copy)
        })
    }

    pub(super) fn remove(&self, number: u64) {
        self.with_dependent(|_, guides| {
            lock(guides).entries.remove(&number);
        });
    }

    /// Does something with a guide; nothing where there is none with this number.
    pub(super) fn with<T>(&self, number: u64, run: impl for<'a> FnOnce(&mut Entry<'a>) -> T) -> Option<T> {
        self.with_dependent(|_, guides| {
            let entry = lock(guides).entries.get(&number).map(Arc::clone);
            entry.map(|entry| run(&mut lock(&entry)))
        })
    }
}

fn catalog(known: &Known) -> &Catalog {
    &known.catalog
}
