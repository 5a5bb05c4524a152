//! Mutexes whose content is whole even if a thread panicked while it had one.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex.
pub fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
