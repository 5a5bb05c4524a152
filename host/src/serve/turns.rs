//! Whose turn is next: takes for a limited number of places, in turns between clients.
//!
//! Each client has a line of its own. A free place goes to the client with the fewest places, and among those
//! to the one that was served longest ago. So a client that has nothing under way waits for one place to
//! become free, however long the lines of others are.

use ilo_drive::locked::locked;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;

/// The places.
#[derive(Clone)]
pub(super) struct Turns(Arc<Mutex<State>>);

struct State {
    free: usize,
    lines: HashMap<u64, Line>,
    /// Counts what was given.
    clock: u64,
}

/// What one client has and waits for.
#[derive(Default)]
struct Line {
    taken: usize,
    served: u64,
    waiting: VecDeque<InLine>,
}

struct InLine {
    to: oneshot::Sender<Seat>,
    most: usize,
    /// Whether it may be sent away for lack of connections.
    is_new: bool,
}

/// What a client may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// The client's number.
    pub(super) client: u64,
    /// The most places that it has at a time.
    pub(super) most: usize,
    /// The most that it may wait for.
    pub(super) waiting: usize,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Busy {
    /// This client waits for so many places already.
    Line(usize),
    /// It was sent away, since the server is short of connections.
    Short,
    /// So many cancelled runs of this client have not ended.
    Left(usize),
    /// This client has so many bytes of answers to read.
    Unread(usize),
    /// The server is ending.
    Ending,
}

impl std::fmt::Display for Busy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Busy::Line(waiting) => {
                write!(f, "{waiting} calls of this client wait already; nothing was done, try again later")
            }
            Busy::Left(runs) => write!(
                f,
                "{runs} cancelled runs of this client still wait for the end of a call; nothing was done, \
                 try again later"
            ),
            Busy::Unread(bytes) => write!(
                f,
                "this client has not read {} MiB of answers; nothing was done, read them and try again",
                bytes >> 20
            ),
            Busy::Short => {
                f.write_str("the server is short of connections; nothing was done, try again later")
            }
            Busy::Ending => f.write_str("the server is ending; this call was not made"),
        }
    }
}

/// One place, until it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    turns: Option<Turns>,
    client: u64,
}

impl std::fmt::Debug for Turns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Turns")
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(turns) = self.turns.take() {
            turns.free(self.client);
            turns.give();
        }
    }
}

impl Turns {
    pub(super) fn new(places: usize) -> Turns {
        Turns(Arc::new(Mutex::new(State { free: places, lines: HashMap::new(), clock: 0 })))
    }

    /// Waits for a place.
    ///
    /// # Errors
    /// If the client waits for too many already, or is sent away.
    pub(super) async fn take(&self, share: Share) -> Result<Seat, Busy> {
        self.wait(share, true).await
    }

    /// Waits for a place for work that has begun already.
    pub(super) async fn take_again(&self, share: Share) -> Option<Seat> {
        self.wait(share, false).await.ok()
    }

    async fn wait(&self, share: Share, is_new: bool) -> Result<Seat, Busy> {
        let (to, place) = oneshot::channel();
        {
            let mut state = locked(&self.0);
            let line = state.lines.entry(share.client).or_default();
            line.waiting.retain(|waiting| !waiting.to.is_closed());
            if is_new && line.waiting.len() >= share.waiting {
                return Err(Busy::Line(share.waiting));
            }
            line.waiting.push_back(InLine { to, most: share.most, is_new });
        }
        self.give();
        place.await.map_err(|_| Busy::Short)
    }

    /// Gives free places to those whose turn it is.
    fn give(&self) {
        loop {
            let (to, client) = {
                let mut state = locked(&self.0);
                if state.free == 0 {
                    return;
                }
                let Some((&client, line)) = state.next() else { return };
                let Some(waiting) = line.waiting.pop_front() else { return };
                line.taken += 1;
                state.free -= 1;
                state.clock += 1;
                let now = state.clock;
                if let Some(line) = state.lines.get_mut(&client) {
                    line.served = now;
                }
                (waiting.to, client)
            };
            if let Err(mut place) = to.send(Seat { turns: Some(self.clone()), client }) {
                // Who waited has gone; the place goes to the next.
                place.turns = None;
                self.free(client);
            }
        }
    }

    fn free(&self, client: u64) {
        let mut state = locked(&self.0);
        state.free += 1;
        if let Some(line) = state.lines.get_mut(&client) {
            line.taken = line.taken.saturating_sub(1);
            if line.taken == 0 && line.waiting.is_empty() {
                state.lines.remove(&client);
            }
        }
    }

    /// Sends the last of the longest line away, if a line has more than one. Returns whether there was one.
    pub(super) fn shorten(&self) -> bool {
        let mut state = locked(&self.0);
        let waits = |line: &Line| line.waiting.iter().filter(|waiting| waiting.is_new).count();
        let longest = state.lines.values_mut().max_by_key(|line| waits(line)).filter(|line| waits(line) > 1);
        let Some(line) = longest else { return false };
        let last = line.waiting.iter().rposition(|waiting| waiting.is_new);
        last.is_some_and(|last| line.waiting.remove(last).is_some())
    }
}

impl State {
    /// The client whose turn it is.
    fn next(&mut self) -> Option<(&u64, &mut Line)> {
        for line in self.lines.values_mut() {
            line.waiting.retain(|waiting| !waiting.to.is_closed());
        }
        self.lines.retain(|_, line| line.taken > 0 || !line.waiting.is_empty());
        let may = |line: &Line| line.waiting.front().is_some_and(|first| line.taken < first.most);
        let waiting = self.lines.iter_mut().filter(|(_, line)| may(line));
        waiting.min_by_key(|(_, line)| (line.taken, line.served))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    fn share(client: u64) -> Share {
        Share { client, most: 2, waiting: 4 }
    }

    async fn at_once(turns: &Turns, client: u64) -> Option<Seat> {
        timeout(Duration::from_millis(20), turns.take(share(client))).await.ok()?.ok()
    }

    #[tokio::test]
    async fn a_client_with_nothing_under_way_is_next_however_long_the_lines_are() {
        let turns = Turns::new(1);
        let held = at_once(&turns, 1).await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let loud = (2..22).flat_map(|client| [client; 4]);
        let served: Vec<_> = loud
            .chain([99])
            .map(|client| {
                let (turns, order) = (turns.clone(), Arc::clone(&order));
                tokio::spawn(async move {
                    let _place = turns.take(share(client)).await;
                    order.lock().unwrap().push(client);
                })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(20)).await;
        drop(held);
        for served in served {
            served.await.unwrap();
        }
        // Twenty lines of four stood before it: each client has one turn, then it.
        let at = order.lock().unwrap().iter().position(|&client| client == 99).unwrap();
        assert!(at <= 20, "{at}");
        assert_eq!(order.lock().unwrap().len(), 81);
    }

    #[tokio::test]
    async fn a_place_goes_to_the_client_with_the_fewest() {
        let turns = Turns::new(2);
        let (one, two) = (at_once(&turns, 1).await.unwrap(), at_once(&turns, 1).await.unwrap());
        let again = turns.clone();
        let again = tokio::spawn(async move { again.take(Share { most: 9, ..share(1) }).await });
        tokio::task::yield_now().await;
        let other = turns.clone();
        let other = tokio::spawn(async move { other.take(share(2)).await });
        tokio::task::yield_now().await;
        drop(one);
        let other = other.await.unwrap().unwrap();
        assert!(!again.is_finished(), "it came first, and its client has one");
        drop((two, other));
        assert!(again.await.unwrap().is_ok());
    }

    #[tokio::test]
    async fn a_line_has_an_end_and_gives_way_when_connections_are_short() {
        let turns = Turns::new(1);
        let held = at_once(&turns, 1).await.unwrap();
        let waiting: Vec<_> = (0..4)
            .map(|_| {
                let turns = turns.clone();
                tokio::spawn(async move { turns.take(share(2)).await })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert_eq!(turns.take(share(2)).await.unwrap_err(), Busy::Line(4));
        assert!(turns.shorten() && turns.shorten() && turns.shorten());
        assert!(!turns.shorten(), "one of each client stays");
        drop(held);
        let mut ended = Vec::new();
        for waits in waiting {
            ended.push(waits.await.unwrap().err());
        }
        assert_eq!(ended, [None, Some(Busy::Short), Some(Busy::Short), Some(Busy::Short)]);
    }

    #[tokio::test]
    async fn who_has_gone_holds_no_place() {
        let turns = Turns::new(1);
        let held = at_once(&turns, 1).await.unwrap();
        assert!(at_once(&turns, 2).await.is_none());
        drop(held);
        assert!(at_once(&turns, 3).await.is_some());
        assert!(locked(&turns.0).lines.is_empty());
    }
}
