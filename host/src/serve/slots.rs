//! Limits on simultaneous runs, checks and open questions, in total and for each client.
//!
//! A run has a slot while it works. While it waits for a person it has none: its slot goes to another run.
//! Searches and checks are short and have slots of their own, so they never wait behind runs. Free slots go
//! to the clients in turns (`turns`).

use super::sender::Counted;
use super::turns::{Busy, Seat, Share, Turns};
use crate::interrupt::Interrupt;
use ilo_drive::locked::locked;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::available_parallelism;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

/// The most open questions. The run of each has a waiting thread.
const QUESTIONS: usize = 128;
/// More open questions for clients that have none: others cannot take all of them.
const FIRST_QUESTIONS: usize = 64;
/// The most open questions of one client.
const QUESTIONS_OF_CLIENT: usize = 16;
/// The most simultaneous checks of one client.
const CHECKS_OF_CLIENT: usize = 2;
/// The most calls of one client that wait for a slot.
pub(super) const WAITING_OF_CLIENT: usize = 256;
/// The most requests of one client over HTTP at a time, half of the connections.
pub(super) const REQUESTS_OF_CLIENT: usize = 256;
/// Bytes of answers that one client has not read, with which no more work is done for it, and the unit in
/// which they are counted.
const UNREAD_OF_CLIENT: usize = 32 << 20;
const UNIT: usize = 16 << 10;
/// The most cancelled runs of one client, and of all, whose calls have not ended.
const LEFT_OF_CLIENT: usize = 4;
const LEFT: usize = 32;
/// The longest interval between checks for an interrupt.
const PAUSE: Duration = Duration::from_millis(20);

/// The slots of the server.
pub(super) struct Slots {
    runs: Turns,
    runs_of_client: usize,
    /// Kilobytes of bodies of one client at a time.
    bodies_of_client: usize,
    checks: Turns,
    questions: Semaphore,
    first_questions: Semaphore,
    /// Cancelled runs whose calls have not ended.
    left: Arc<Semaphore>,
    /// Clients over HTTP, as long as they have work in progress.
    clients: Mutex<HashMap<Counted, Weak<Client>>>,
    /// Cancels every run.
    stop: Interrupt,
    under_way: watch::Sender<usize>,
}

/// The slots of one client.
pub(super) struct Client {
    number: u64,
    runs: usize,
    waiting: usize,
    questions: Semaphore,
    /// Its cancelled runs whose calls have not ended.
    left: Arc<Semaphore>,
    /// Its requests over HTTP.
    pub(super) requests: Arc<Semaphore>,
    /// Its bodies, in kilobytes.
    pub(super) bodies: Arc<Semaphore>,
    /// The answers that it has not read, in units.
    unread: Arc<Semaphore>,
}

impl Client {
    fn new(runs: usize, waiting: usize, bodies: usize) -> Arc<Client> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Arc::new(Client {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            runs,
            waiting,
            questions: Semaphore::new(QUESTIONS_OF_CLIENT),
            left: Arc::new(Semaphore::new(LEFT_OF_CLIENT)),
            requests: Arc::new(Semaphore::new(REQUESTS_OF_CLIENT)),
            bodies: Arc::new(Semaphore::new(bodies)),
            unread: Arc::new(Semaphore::new(UNREAD_OF_CLIENT / UNIT)),
        })
    }

    /// Refuses a place if too many answers of the client were not read.
    fn reads(&self, place: Seat) -> Result<Seat, Busy> {
        if self.unread.available_permits() > 0 { Ok(place) } else { Err(Busy::Unread(UNREAD_OF_CLIENT)) }
    }

    fn share(&self, most: usize) -> Share {
        Share { client: self.number, most, waiting: self.waiting }
    }
}

impl Slots {
    pub(super) fn new(runs: usize, runs_of_client: usize, bodies_of_client: usize) -> Slots {
        Slots {
            runs: Turns::new(runs),
            runs_of_client,
            bodies_of_client,
            checks: Turns::new(checks()),
            questions: Semaphore::new(QUESTIONS),
            first_questions: Semaphore::new(FIRST_QUESTIONS),
            left: Arc::new(Semaphore::new(LEFT)),
            clients: Mutex::default(),
            stop: Interrupt::default(),
            under_way: watch::Sender::new(0),
        }
    }

    /// The only client of a server over its standard streams, which counts the requests itself.
    pub(super) fn client(&self) -> Arc<Client> {
        Slots::client_of(self.runs_of_client)
    }

    /// A client with a maximum number of runs.
    pub(super) fn client_of(runs: usize) -> Arc<Client> {
        Client::new(runs, usize::MAX, 0)
    }

    /// A client over HTTP: the same for all requests that are counted together.
    pub(super) fn client_at(&self, counted: &Counted) -> Arc<Client> {
        let mut clients = locked(&self.clients);
        if let Some(client) = clients.get(counted).and_then(Weak::upgrade) {
            return client;
        }
        clients.retain(|_, client| client.strong_count() > 0);
        let client = Client::new(self.runs_of_client, WAITING_OF_CLIENT, self.bodies_of_client);
        clients.insert(counted.clone(), Arc::downgrade(&client));
        client
    }

    /// Waits for a slot for a check or a search.
    pub(super) async fn check(&self, client: &Client) -> Result<Seat, Busy> {
        client.reads(self.checks.take(client.share(CHECKS_OF_CLIENT)).await?)
    }

    /// Waits for a slot for a run.
    pub(super) async fn run(self: &Arc<Slots>, client: Arc<Client>) -> Result<Slot, Busy> {
        if client.left.available_permits() == 0 {
            return Err(Busy::Left(LEFT_OF_CLIENT));
        }
        let place = client.reads(self.runs.take(client.share(client.runs)).await?)?;
        if self.is_stopping() {
            return Err(Busy::Ending);
        }
        self.under_way.send_modify(|count| *count += 1);
        let (slots, held) = (Arc::clone(self), Mutex::new(Some(place)));
        let (cancel, runtime, left) = (self.stop.child(), Handle::current(), Mutex::default());
        Ok(Slot { slots, client, held, left, cancel, runtime })
    }

    /// Sends a call away that waits in the longest line. Returns whether there was one.
    pub(super) fn shorten(&self) -> bool {
        self.runs.shorten() || self.checks.shorten()
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

/// The answer to a request over HTTP, in the budget of its client until it was sent or the client has left.
pub(super) struct Unread {
    pub(super) client: Arc<Client>,
    held: Mutex<Vec<OwnedSemaphorePermit>>,
}

impl Unread {
    pub(super) fn of(client: Arc<Client>) -> Arc<Unread> {
        Arc::new(Unread { client, held: Mutex::default() })
    }

    /// Counts an answer; of one that is larger than the rest of the budget, that rest.
    pub(super) fn add(&self, bytes: usize) {
        let unit = |_| Arc::clone(&self.client.unread).try_acquire_owned().ok();
        let units = (0..bytes.div_ceil(UNIT)).map_while(unit);
        locked(&self.held).extend(units);
    }
}

/// The number of threads that may wait or work at a time, for a number of runs.
pub(super) fn threads(runs: usize) -> usize {
    runs + QUESTIONS + FIRST_QUESTIONS + checks()
}

fn checks() -> usize {
    available_parallelism().map_or(2, usize::from)
}

/// The slot of a run. It is released when this is dropped.
pub(super) struct Slot {
    slots: Arc<Slots>,
    client: Arc<Client>,
    held: Mutex<Option<Seat>>,
    /// Its places among the cancelled runs.
    left: Mutex<Option<[OwnedSemaphorePermit; 2]>>,
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

    /// Leaves a run to its end once it is cancelled: its slot is free from then on, and until it has ended it
    /// counts as one that was left behind. If there are too many of these, it keeps its slot.
    pub(super) async fn left_when_cancelled(slot: Weak<Slot>) {
        loop {
            let Some(slot) = slot.upgrade() else { return };
            if slot.cancel.is_set() {
                return slot.leave();
            }
            drop(slot);
            sleep(PAUSE).await;
        }
    }

    fn leave(&self) {
        let own = Arc::clone(&self.client.left).try_acquire_owned();
        let all = Arc::clone(&self.slots.left).try_acquire_owned();
        if let (Ok(own), Ok(all)) = (own, all) {
            *locked(&self.left) = Some([own, all]);
            self.set(None);
        }
    }

    /// Releases the slot while the thread of the run waits for something else. `None`, without waiting, if
    /// too many questions are open.
    pub(super) fn without<T>(&self, wait: impl FnOnce() -> T) -> Option<T> {
        let _own = self.client.questions.try_acquire().ok()?;
        let is_first = self.client.questions.available_permits() + 1 == QUESTIONS_OF_CLIENT;
        let first = || self.slots.first_questions.try_acquire().ok().filter(|_| is_first);
        let _all = self.slots.questions.try_acquire().ok().or_else(first)?;
        self.set(None);
        Some(wait())
    }

    /// Waits for a slot again, on the thread of the run, until the run is cancelled. Returns whether there is
    /// one.
    pub(super) fn again(&self, is_over: impl Fn() -> bool) -> bool {
        let share = self.client.share(self.client.runs);
        let place = self.runtime.block_on(async {
            let mut place = pin!(self.slots.runs.take_again(share));
            loop {
                tokio::select! {
                    place = &mut place => return place,
                    () = sleep(PAUSE) => if is_over() { return None },
                }
            }
        });
        let has = place.is_some();
        self.set(place);
        has
    }

    fn set(&self, place: Option<Seat>) {
        let before = std::mem::replace(&mut *locked(&self.held), place);
        drop(before);
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
    use std::net::IpAddr;

    async fn comes<T>(future: impl Future<Output = T>) -> Option<T> {
        timeout(Duration::from_millis(50), future).await.ok()
    }

    #[tokio::test]
    async fn a_cancelled_run_frees_its_slot_and_a_client_that_left_too_many_starts_none() {
        let slots = Arc::new(Slots::new(1, 1, 0));
        let (client, other) = (slots.client(), slots.client());
        let mut left = Vec::new();
        for _ in 0..LEFT_OF_CLIENT {
            let slot = Arc::new(comes(slots.run(Arc::clone(&client))).await.unwrap().unwrap());
            slot.cancel().set();
            Slot::left_when_cancelled(Arc::downgrade(&slot)).await;
            left.push(slot);
        }
        assert_eq!(slots.run(Arc::clone(&client)).await.err(), Some(Busy::Left(LEFT_OF_CLIENT)));
        assert!(comes(slots.run(other)).await.is_some(), "others are not affected");
        left.pop();
        assert!(comes(slots.run(client)).await.unwrap().is_ok());
    }

    #[tokio::test]
    async fn runs_are_limited_in_total_and_for_each_client() {
        let slots = Arc::new(Slots::new(3, 2, 0));
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
    async fn clients_over_http_count_by_address_or_owner() {
        let slots = Arc::new(Slots::new(9, 1, 0));
        let at = |last| &*Box::leak(Box::new(Counted::Address(IpAddr::from([127, 0, 0, last]))));
        let _first = slots.run(slots.client_at(at(1))).await.unwrap();
        assert!(comes(slots.run(slots.client_at(at(1)))).await.is_none());
        let second = slots.run(slots.client_at(at(2))).await;
        assert!(second.is_ok());
        drop(second);
        drop(slots.client_at(at(3)));
        assert_eq!(slots.clients.lock().unwrap().len(), 2, "a client with nothing under way is forgotten");
    }

    #[tokio::test]
    async fn a_question_holds_no_slot_and_questions_are_limited() {
        let slots = Arc::new(Slots::new(1, 1, 0));
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
            let inside = inside.map(Result::unwrap);
            assert!(inside.is_some(), "the slot was free");
            assert!(!slot.again(|| true), "it is taken, and the run is over");
            drop(inside);
            assert!(slot.again(|| false));
        });
        waits.await.unwrap();
    }

    #[tokio::test]
    async fn a_client_without_a_question_can_ask_when_others_have_all() {
        let slots = Arc::new(Slots::new(9, 9, 0));
        let [quiet, loud] = [slots.client(), slots.client()];
        let [one, other] = [slots.run(Arc::clone(&quiet)).await.unwrap(), slots.run(loud).await.unwrap()];
        let _all: Vec<_> = (0..QUESTIONS).map(|_| slots.questions.try_acquire()).collect();
        let _own = other.client.questions.try_acquire();
        assert!(other.without(|| ()).is_none(), "it has a question");
        let inside = one.without(|| one.without(|| ()).is_none());
        assert_eq!(inside, Some(true), "its first, and no second");
        let _first: Vec<_> = (0..FIRST_QUESTIONS).map(|_| slots.first_questions.try_acquire()).collect();
        assert!(one.without(|| ()).is_none(), "there is an end");
    }

    #[tokio::test]
    async fn to_stop_is_to_cancel_and_wait() {
        let slots = Arc::new(Slots::new(1, 1, 0));
        let slot = slots.run(slots.client()).await.unwrap();
        assert!(!slot.cancel().is_set());
        assert_eq!(slots.stop(Duration::from_millis(10)).await, 1);
        assert!(slot.cancel().is_set());
        drop(slot);
        assert_eq!(slots.stop(Duration::from_secs(9)).await, 0);
        assert_eq!(slots.run(slots.client()).await.err(), Some(Busy::Ending), "nothing begins any more");
    }
}
