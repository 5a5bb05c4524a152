//! Limits on simultaneous runs, checks and open questions, in total and for each client.
//!
//! A run has a slot while it works. While it waits for a person it has none: its slot goes to another run.
//! Searches and checks are short and have slots of their own, so they never wait behind runs.

use crate::interrupt::Interrupt;
use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::available_parallelism;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

/// The most open questions. The run of each has a waiting thread.
const QUESTIONS: usize = 128;
/// The most open questions of one client.
const QUESTIONS_OF_CLIENT: usize = 16;
/// The most simultaneous checks of one client.
const CHECKS_OF_CLIENT: usize = 2;
/// The longest interval between checks for an interrupt.
const PAUSE: Duration = Duration::from_millis(20);

/// The slots of the server.
pub(super) struct Slots {
    runs: Arc<Semaphore>,
    runs_of_client: usize,
    checks: Arc<Semaphore>,
    questions: Semaphore,
    /// Clients without a session, by address, as long as they have work in progress.
    addresses: Mutex<HashMap<IpAddr, Weak<Client>>>,
    /// Cancels every run.
    stop: Interrupt,
    under_way: watch::Sender<usize>,
}

/// The slots of one client.
pub(super) struct Client {
    runs: Arc<Semaphore>,
    checks: Arc<Semaphore>,
    questions: Semaphore,
}

/// The permits for work: that of the client and that of the server.
pub(super) type Held = (OwnedSemaphorePermit, OwnedSemaphorePermit);

impl Slots {
    pub(super) fn new(runs: usize, runs_of_client: usize) -> Slots {
        Slots {
            runs: Arc::new(Semaphore::new(runs)),
            runs_of_client,
            checks: Arc::new(Semaphore::new(checks())),
            questions: Semaphore::new(QUESTIONS),
            addresses: Mutex::default(),
            stop: Interrupt::default(),
            under_way: watch::Sender::new(0),
        }
    }

    /// A separate client.
    pub(super) fn client(&self) -> Arc<Client> {
        Slots::client_of(self.runs_of_client)
    }

    /// A client with a maximum number of runs.
    pub(super) fn client_of(runs: usize) -> Arc<Client> {
        Arc::new(Client {
            runs: Arc::new(Semaphore::new(runs)),
            checks: Arc::new(Semaphore::new(CHECKS_OF_CLIENT)),
            questions: Semaphore::new(QUESTIONS_OF_CLIENT),
        })
    }

    /// All clients without a session at an address, as one.
    pub(super) fn client_at(&self, address: IpAddr) -> Arc<Client> {
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = addresses.get(&address).and_then(Weak::upgrade) {
            return client;
        }
        addresses.retain(|_, client| client.strong_count() > 0);
        let client = self.client();
        addresses.insert(address, Arc::downgrade(&client));
        client
    }

    /// Waits for a slot for a check or a search.
    pub(super) async fn check(&self, client: &Client) -> Option<Held> {
        held(&client.checks, &self.checks).await
    }

    /// Waits for a slot for a run. `None` if the server is ending.
    pub(super) async fn run(self: &Arc<Slots>, client: Arc<Client>) -> Option<Slot> {
        let held = held(&client.runs, &self.runs).await.filter(|_| !self.is_stopping())?;
        self.under_way.send_modify(|count| *count += 1);
        let (slots, held) = (Arc::clone(self), Mutex::new(Some(held)));
        Some(Slot { slots, client, held, cancel: self.stop.child(), runtime: Handle::current() })
    }

    /// Waits until no run is active.
    pub(super) async fn idle(&self) {
        // The sender is here.
        drop(self.under_way.subscribe().wait_for(|count| *count == 0).await);
    }

    /// Whether the server is ending.
    pub(super) fn is_stopping(&self) -> bool {
        self.stop.is_set()
    }

    /// Cancels all runs, including later ones, and waits until they have ended. Returns the number that have
    /// not ended after this time.
    pub(super) async fn stop(&self, longest: Duration) -> usize {
        self.stop.set();
        drop(timeout(longest, self.idle()).await);
        *self.under_way.borrow()
    }
}

/// The number of threads that may wait or work at a time, for a number of runs.
pub(super) fn threads(runs: usize) -> usize {
    runs + QUESTIONS + checks()
}

fn checks() -> usize {
    available_parallelism().map_or(2, usize::from)
}

/// Both permits. `None` never happens: nothing closes a semaphore.
async fn held(own: &Arc<Semaphore>, all: &Arc<Semaphore>) -> Option<Held> {
    let own = Arc::clone(own).acquire_owned().await.ok()?;
    Some((own, Arc::clone(all).acquire_owned().await.ok()?))
}

/// The slot of a run. It is released when this is dropped.
pub(super) struct Slot {
    slots: Arc<Slots>,
    client: Arc<Client>,
    held: Mutex<Option<Held>>,
    cancel: Interrupt,
    runtime: Handle,
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Slot")
    }
}

impl Slot {
    /// The interrupt that cancels this run.
    pub(super) fn cancel(&self) -> &Interrupt {
        &self.cancel
    }

    /// Releases the slot while the thread of the run waits for something else. `None`, without waiting, if
    /// too many questions are open.
    pub(super) fn without<T>(&self, wait: impl FnOnce() -> T) -> Option<T> {
        let _own = self.client.questions.try_acquire().ok()?;
        let _all = self.slots.questions.try_acquire().ok()?;
        self.set(None);
        Some(wait())
    }

    /// Waits for a slot again, on the thread of the run, until the run is cancelled. Returns whether there is
    /// one.
    pub(super) fn again(&self, is_over: impl Fn() -> bool) -> bool {
        let held = self.runtime.block_on(async {
            let mut held = pin!(held(&self.client.runs, &self.slots.runs));
            loop {
                tokio::select! {
                    held = &mut held => return held,
                    () = sleep(PAUSE) => if is_over() { return None },
                }
            }
        });
        let has = held.is_some();
        self.set(held);
        has
    }

    fn set(&self, held: Option<Held>) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = held;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.set(None);
        self.slots.under_way.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn comes<T>(future: impl Future<Output = T>) -> Option<T> {
        timeout(Duration::from_millis(50), future).await.ok()
    }

    #[tokio::test]
    async fn runs_are_limited_in_total_and_for_each_client() {
        let slots = Arc::new(Slots::new(3, 2));
        let (one, other) = (slots.client(), slots.client());
        let first = slots.run(Arc::clone(&one)).await.unwrap();
        let _second = slots.run(Arc::clone(&one)).await.unwrap();
        assert!(comes(slots.run(Arc::clone(&one))).await.is_none(), "a third of the same client");
        let _third = slots.run(Arc::clone(&other)).await.unwrap();
        assert!(comes(slots.run(Arc::clone(&other))).await.is_none(), "a fourth in all");
        assert!(comes(slots.check(&other)).await.is_some(), "a check waits for no run");
        drop(first);
        assert!(comes(slots.run(other)).await.is_some());
    }

    #[tokio::test]
    async fn clients_without_a_session_count_by_address() {
        let slots = Arc::new(Slots::new(9, 1));
        let at = |last| IpAddr::from([127, 0, 0, last]);
        let _first = slots.run(slots.client_at(at(1))).await.unwrap();
        assert!(comes(slots.run(slots.client_at(at(1)))).await.is_none());
        let second = slots.run(slots.client_at(at(2))).await;
        assert!(second.is_some());
        drop(second);
        drop(slots.client_at(at(3)));
        assert_eq!(
            slots.addresses.lock().unwrap().len(),
            2,
            "an address with nothing under way is forgotten"
        );
    }

    #[tokio::test]
    async fn a_question_holds_no_slot_and_questions_are_limited() {
        let slots = Arc::new(Slots::new(1, 1));
        let slot = slots.run(slots.client()).await.unwrap();
        let other = slots.client();
        let waits = tokio::task::spawn_blocking(move || {
            let inside = slot.without(|| {
                let all = (0..QUESTIONS_OF_CLIENT).map(|_| slot.client.questions.try_acquire());
                let open = all.collect::<Vec<_>>();
                assert!(slot.without(|| ()).is_none(), "too many questions");
                drop(open);
                slot.runtime.block_on(slots.run(other))
            });
            let inside = inside.flatten();
            assert!(inside.is_some(), "the slot was free");
            assert!(!slot.again(|| true), "it is taken, and the run is over");
            drop(inside);
            assert!(slot.again(|| false));
        });
        waits.await.unwrap();
    }

    #[tokio::test]
    async fn to_stop_is_to_cancel_and_wait() {
        let slots = Arc::new(Slots::new(1, 1));
        let slot = slots.run(slots.client()).await.unwrap();
        assert!(!slot.cancel().is_set());
        assert_eq!(slots.stop(Duration::from_millis(10)).await, 1);
        assert!(slot.cancel().is_set());
        drop(slot);
        assert_eq!(slots.stop(Duration::from_secs(9)).await, 0);
        assert!(slots.run(slots.client()).await.is_none(), "nothing begins any more");
    }
}
