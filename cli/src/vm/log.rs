//! The log of `serve`: writes lines to standard error without ever waiting for its reader.
//!
//! A thread writes the lines. While nobody reads, a limited number of lines wait; more are dropped and
//! counted, and the next line that is written, or the end, reports their number.

use ilo_host::tools::without_secrets;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The most waiting lines.
const LINES: usize = 1_024;
/// The maximum total size of waiting lines.
const BYTES: usize = 1 << 20;
/// The most lines in a second: what clients do wrong is logged, and may not fill a disk.
const RATE: usize = 2_000;
const SECOND: Duration = Duration::from_secs(1);
/// The maximum length of a line; the rest is dropped.
const LINE: usize = 16 << 10;

/// The log; clones share it.
#[derive(Clone)]
pub(super) struct Log(Arc<Queue>);

struct Queue {
    lines: SyncSender<Waiting>,
    counts: Arc<Counts>,
}

/// A line that waits.
struct Waiting {
    line: Vec<u8>,
    /// Lines that were dropped before it.
    dropped: usize,
}

#[derive(Default)]
struct Counts {
    /// Bytes that wait, and one more for each line.
    waiting: AtomicUsize,
    /// Lines that were dropped and not reported yet.
    dropped: AtomicUsize,
    /// The second that is counted, and its lines.
    second: Mutex<Option<(Instant, usize)>>,
}

impl Counts {
    /// Counts a line. Returns whether its second has room for it.
    fn has_time(&self, now: Instant) -> bool {
        let mut second = self.second.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, count) = second.filter(|(since, _)| now < *since + SECOND).unwrap_or((now, 0));
        *second = Some((since, count + 1));
        count < RATE
    }
}

impl Log {
    /// The log of this process.
    pub(super) fn of_process() -> &'static Log {
        static LOG: OnceLock<Log> = OnceLock::new();
        LOG.get_or_init(|| Log::to(io::stderr()))
    }

    fn to(out: impl Write + Send + 'static) -> Log {
        let (lines, waiting) = sync_channel(LINES);
        let counts = Arc::<Counts>::default();
        let counted = Arc::clone(&counts);
        // Without a thread all lines are dropped.
        drop(thread::Builder::new().name("log".to_owned()).spawn(move || write(out, &waiting, &counted)));
        Log(Arc::new(Queue { lines, counts }))
    }

    /// Adds a line, or drops it.
    pub(super) fn line(&self, line: &[u8]) {
        let Queue { lines, counts } = &*self.0;
        let mut line = line.to_vec();
        if line.len() > LINE {
            line.truncate(LINE);
            line.extend_from_slice("…\n".as_bytes());
        }
        let length = line.len() + 1;
        let fits = counts.waiting.fetch_add(length, Ordering::Relaxed) + length <= BYTES
            && (line.is_empty() || counts.has_time(Instant::now()));
        let dropped = if fits { counts.dropped.swap(0, Ordering::Relaxed) } else { 0 };
        if !fits || lines.try_send(Waiting { line, dropped }).is_err() {
            counts.waiting.fetch_sub(length, Ordering::Relaxed);
            counts.dropped.fetch_add(dropped + 1, Ordering::Relaxed);
        }
    }

    /// Waits until all lines are written and dropped lines are reported, at most for the given time.
    pub(super) fn flush(&self, longest: Duration) {
        let until = Instant::now() + longest;
        let counts = &self.0.counts;
        while Instant::now() < until {
            if counts.waiting.load(Ordering::Relaxed) == 0 {
                if counts.dropped.load(Ordering::Relaxed) == 0 {
                    return;
                }
                self.line(b"");
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn write(mut out: impl Write, lines: &Receiver<Waiting>, counts: &Counts) {
    for Waiting { line, dropped } in lines {
        let report = format!(
            "{dropped} lines of the log were dropped: nobody read them, or they were more than {RATE} in a second\n"
        );
        // There is nowhere left to say that this failed.
        if dropped > 0 {
            drop(out.write_all(report.as_bytes()));
        }
        drop(out.write_all(&line));
        drop(out.flush());
        counts.waiting.fetch_sub(line.len() + 1, Ordering::Relaxed);
    }
}

/// `tracing` writes each event at once.
impl Write for &Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line(without_secrets(&String::from_utf8_lossy(bytes)).as_bytes());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};

    /// Writes nothing until it is let go.
    struct Stuck(Receiver<()>, Arc<Mutex<Vec<u8>>>);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // Once the other end is dropped, nothing waits.
            let _ = self.0.recv();
            self.1.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn stuck() -> (Log, Sender<()>, Arc<Mutex<Vec<u8>>>) {
        let (go, wait) = channel();
        let written = Arc::<Mutex<Vec<u8>>>::default();
        (Log::to(Stuck(wait, Arc::clone(&written))), go, written)
    }

    #[test]
    fn lines_that_nobody_reads_are_dropped_and_counted() {
        let (log, go, written) = stuck();
        for number in 0..2_000 {
            log.line(format!("line {number}\n").as_bytes());
        }
        drop(go);
        log.flush(Duration::from_mins(1));
        let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.first(), Some(&"line 0"));
        assert!(lines.last().unwrap().contains(" lines of the log were dropped: nobody read them"));
        // The first line was taken from the queue at once, or it was not.
        let dropped: usize = lines
            .iter()
            .filter_map(|line| line.split_once(" lines of the log")?.0.parse::<usize>().ok())
            .sum();
        assert_eq!(lines.iter().filter(|line| line.starts_with("line ")).count() + dropped, 2_000);
        assert!((2_000 - LINES - 1..=2_000 - LINES).contains(&dropped), "{dropped}");
    }

    #[test]
    fn a_second_has_only_so_many_lines() {
        let (counts, now) = (Counts::default(), Instant::now());
        assert!((0..RATE).all(|_| counts.has_time(now)));
        assert!(!counts.has_time(now) && !counts.has_time(now + SECOND / 2));
        assert!(counts.has_time(now + SECOND));
    }

    #[test]
    fn long_lines_are_cut_and_bytes_are_limited() {
        let (log, go, written) = stuck();
        for _ in 0..200 {
            log.line(&vec![b'x'; 1 << 20]);
        }
        assert!(log.0.counts.waiting.load(Ordering::Relaxed) <= BYTES);
        drop(go);
        log.flush(Duration::from_mins(1));
        assert!(written.lock().unwrap().len() <= BYTES + LINE + 200);
    }
}
