//! Serves one engine over a line protocol on standard input and output, so that a comparison can alternate
//! between engines that cannot be linked into one binary. The other side decides how often and in which order
//! items are measured.
//!
//! | request | answer |
//! |---|---|
//! | `name` | the engine and its version |
//! | `items` | the names of what can be run, and of the figures |
//! | `show ITEM` | the result of the item, or `-` if results are not compared |
//! | `run ITEM N` | thread CPU time in ns of N passes, and their units of work (elements, bytes, calls) |
//! | `figure ITEM` | a figure that does not vary, such as a size |

use std::fmt;
use std::io::{self, BufRead, Write};
use std::time::Duration;

/// Runs an item this number of times. Returns the units of work done.
type Body = Box<dyn FnMut(u64) -> u64>;

/// Computes a figure that does not vary.
type Figure = Box<dyn FnMut() -> u64>;

struct Item {
    name: &'static str,
    shown: String,
    body: Body,
}

/// An engine with all its items.
pub struct Worker {
    name: String,
    items: Vec<Item>,
    figures: Vec<(&'static str, Figure)>,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.items.iter().map(|item| item.name).collect();
        f.debug_struct("Worker").field("name", &self.name).field("items", &names).finish_non_exhaustive()
    }
}

impl Worker {
    /// An engine by the name and version to show.
    pub fn new(name: impl Into<String>) -> Worker {
        Worker { name: name.into(), items: Vec::new(), figures: Vec::new() }
    }

    /// Adds an item on whose result every engine has to agree: `shown` is the result, on one line.
    pub fn item(&mut self, name: &'static str, shown: String, body: impl FnMut(u64) -> u64 + 'static) {
        self.items.push(Item { name, shown, body: Box::new(body) });
    }

    /// Adds an item whose result is not comparable, such as the bytecode of an engine.
    pub fn work(&mut self, name: &'static str, body: impl FnMut(u64) -> u64 + 'static) {
        self.item(name, "-".to_owned(), body);
    }

    /// Adds a figure that does not vary.
    pub fn figure(&mut self, name: &'static str, value: u64) {
        self.finding(name, move || value);
    }

    /// Adds a figure that does not vary, computed when it is requested.
    pub fn finding(&mut self, name: &'static str, find: impl FnMut() -> u64 + 'static) {
        self.figures.push((name, Box::new(find)));
    }

    fn find(&mut self, name: &str) -> Option<&mut Item> {
        self.items.iter_mut().find(|item| item.name == name)
    }

    fn answer(&mut self, line: &str) -> Option<String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words {
            ["name"] => Some(self.name.clone()),
            ["items"] => {
                let items = self.items.iter().map(|item| item.name);
                let names: Vec<&str> = items.chain(self.figures.iter().map(|(name, _)| *name)).collect();
                Some(names.join(" "))
            }
            ["show", name] => self.find(name).map(|item| item.shown.clone()),
            ["run", name, count] => {
                let count = count.parse().ok()?;
                let body = &mut self.find(name)?.body;
                let before = thread_time();
                let units = body(count);
                let took = thread_time().saturating_sub(before);
                Some(format!("{} {units}", took.as_nanos()))
            }
            ["figure", name] => {
                let found = self.figures.iter_mut().find(|(known, _)| *known == name);
                found.map(|(_, find)| find().to_string())
            }
            _ => None,
        }
    }

    /// Answers lines until there are no more; a line that is not understood gets `?`.
    ///
    /// # Errors
    /// Those of standard input and output.
    pub fn serve(mut self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        for line in io::stdin().lock().lines() {
            let answer = self.answer(&line?).unwrap_or_else(|| "?".to_owned());
            writeln!(out, "{answer}")?;
            out.flush()?;
        }
        Ok(())
    }
}

/// Resident bytes of this process; 0 if the system does not report them.
pub fn resident() -> u64 {
    const PAGE: u64 = 4_096;
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).map_or(0, |pages| pages * PAGE)
}

/// The numbers below a count, shuffled, the same way each time.
pub fn mixed(count: u32) -> Vec<u32> {
    let mut list: Vec<u32> = (0..count).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for place in (1..list.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = (state >> 33) % (place as u64 + 1);
        list.swap(place, usize::try_from(other).unwrap_or(0));
    }
    list
}

/// CPU time of this thread.
pub fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), nanoseconds)
}
