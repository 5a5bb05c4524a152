//! The connections, and which of them is closed when there is no room for another.
//!
//! A connection without a whole request is unfinished: it is silent, or its head or body has not arrived.
//! When connections run short, an unfinished one that is at least two seconds old is closed: the oldest of
//! the address with the most of them. Otherwise calls that wait in a long line are sent away, or a stream on
//! which a client only listens is closed, of the client with the most. Connections of trusted proxies are not
//! closed, since each carries others.

use super::sender::{Counted, network};
use ilo_drive::locked::locked;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;

/// How old an unfinished connection must be.
pub(super) const YOUNG: Duration = Duration::from_secs(2);
/// The most listening streams of a client that are never closed.
const STREAMS: usize = 4;

/// The connections.
#[derive(Clone, Default)]
pub(super) struct OpenConnections(Arc<Mutex<HashMap<u64, Entry>>>);

struct Entry {
    address: IpAddr,
    /// Whether a trusted proxy opened it.
    proxy: bool,
    now: Activity,
    task: Option<AbortHandle>,
}

/// What a connection does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Activity {
    /// It has no whole request, since then.
    Unfinished(Instant),
    /// Its request is answered.
    Answered,
    /// Its client listens on it.
    Listens(Counted, Instant),
}

/// One connection. It is forgotten when this is dropped.
#[derive(Clone)]
pub(super) struct OpenConnection(Arc<Registered>);

struct Registered {
    connections: OpenConnections,
    number: u64,
}

impl Drop for Registered {
    fn drop(&mut self) {
        locked(&self.connections.0).remove(&self.number);
    }
}

impl OpenConnections {
    /// A new connection.
    pub(super) fn opened(&self, number: u64, address: IpAddr, proxy: bool) -> OpenConnection {
        let now = Activity::Unfinished(Instant::now());
        locked(&self.0).insert(number, Entry { address: network(address), proxy, now, task: None });
        OpenConnection(Arc::new(Registered { connections: self.clone(), number }))
    }

    /// Closes an unfinished connection that is older than `young`, if there is one.
    pub(super) fn close_unfinished(&self, young: Duration) -> bool {
        let mut all = locked(&self.0);
        let mut of: HashMap<IpAddr, usize> = HashMap::new();
        let unfinished = |entry: &Entry| match entry.now {
            Activity::Unfinished(since) if !entry.proxy => Some(since),
            _ => None,
        };
        for entry in all.values().filter(|entry| unfinished(entry).is_some()) {
            *of.entry(entry.address).or_default() += 1;
        }
        let old = all.iter().filter_map(|(&number, entry)| {
            let since = unfinished(entry).filter(|since| since.elapsed() >= young)?;
            Some((std::cmp::Reverse(of.get(&entry.address).copied()), since, number))
        });
        let oldest = old.min().map(|(.., number)| number);
        oldest.is_some_and(|number| close(&mut all, number))
    }

    /// Closes the latest stream of the client that listens on the most, if those are more than a few.
    pub(super) fn close_stream(&self) -> bool {
        let mut all = locked(&self.0);
        let mut of: HashMap<&Counted, (usize, Instant, u64)> = HashMap::new();
        for (&number, entry) in all.iter().filter(|(_, entry)| !entry.proxy) {
            if let Activity::Listens(client, since) = &entry.now {
                let found = of.entry(client).or_insert((0, *since, number));
                found.0 += 1;
                if *since >= found.1 {
                    (found.1, found.2) = (*since, number);
                }
            }
        }
        let most = of.into_values().max().filter(|&(count, ..)| count > STREAMS);
        most.is_some_and(|(.., number)| close(&mut all, number))
    }
}

fn close(all: &mut HashMap<u64, Entry>, number: u64) -> bool {
    // Its place is free once its task has ended; it is not chosen again until then.
    let Some(entry) = all.get_mut(&number) else { return false };
    entry.now = Activity::Answered;
    entry.task.iter().for_each(AbortHandle::abort);
    true
}

impl OpenConnection {
    fn set(&self, now: Activity) {
        if let Some(entry) = locked(&self.0.connections.0).get_mut(&self.0.number) {
            entry.now = now;
        }
    }

    /// The task that serves it.
    pub(super) fn served_by(&self, task: AbortHandle) {
        if let Some(entry) = locked(&self.0.connections.0).get_mut(&self.0.number) {
            entry.task = Some(task);
        }
    }

    /// Its request has arrived whole; it listens if `listens` has the client.
    pub(super) fn has_request(&self, listens: Option<Counted>) {
        self.set(match listens {
            Some(client) => Activity::Listens(client, Instant::now()),
            None => Activity::Answered,
        });
    }

    /// It waits for the next request.
    pub(super) fn waits(&self) {
        self.set(Activity::Unfinished(Instant::now()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn is_open(connections: &OpenConnections, number: u64) -> bool {
        locked(&connections.0).get(&number).is_some_and(|entry| entry.now != Activity::Answered)
    }

    #[test]
    fn the_oldest_unfinished_one_of_the_address_with_the_most_is_closed() {
        let connections = OpenConnections::default();
        let open = |number, last, proxy| connections.opened(number, address(last), proxy);
        let _first = open(1, 1, false);
        let _many = [open(2, 2, false), open(3, 2, false), open(4, 2, false)];
        let _proxy = [5, 6, 7, 8, 9].map(|number| open(number, 3, true));
        assert!(!connections.close_unfinished(YOUNG), "all are young");
        assert!(connections.close_unfinished(Duration::ZERO));
        assert!(!is_open(&connections, 2) && (3..=9).all(|number| is_open(&connections, number)));
        let busy = open(10, 2, false);
        busy.has_request(None);
        assert!(connections.close_unfinished(Duration::ZERO) && !is_open(&connections, 3));
        // Now both addresses have one; then the oldest.
        assert!(connections.close_unfinished(Duration::ZERO) && !is_open(&connections, 1));
        assert!(connections.close_unfinished(Duration::ZERO) && !is_open(&connections, 4));
        assert!(!connections.close_unfinished(Duration::ZERO), "those of the proxy stay");
        busy.waits();
        assert!(connections.close_unfinished(Duration::ZERO));
        drop(busy);
        assert!(!locked(&connections.0).contains_key(&10));
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let connections = OpenConnections::default();
        let open = |number, text: &str| connections.opened(number, text.parse().unwrap(), false);
        let _old = open(1, "2001:db8::1");
        let _many = [open(2, "2001:db8:1::1"), open(3, "2001:db8:1::2"), open(4, "2001:db8:1::3")];
        assert!(connections.close_unfinished(Duration::ZERO) && !is_open(&connections, 2));
    }

    #[test]
    fn a_stream_of_the_client_with_the_most_is_closed() {
        let connections = OpenConnections::default();
        let listen = |number, last| {
            let connection = connections.opened(number, address(last), false);
            connection.has_request(Some(Counted::Address(address(last))));
            connection
        };
        let _few = [listen(1, 1), listen(2, 1)];
        let _many = [3, 4, 5, 6, 7].map(|number| listen(number, 2));
        assert!(connections.close_stream() && !is_open(&connections, 7));
        assert!(!connections.close_stream(), "four of each stay");
    }
}
