//! Keeps the end of what a server writes to standard error, for the message of its failure.

use crate::command::ERRORS;
use crate::tool::secrets::Secrets;
use ilo_drive::locked::locked;
use ilo_drive::problem::shortened;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;

/// How long to wait for the last output of a server that has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The number of last lines that are shown, and their total size in bytes: enough for a stack trace with the
/// error above it.
const LINES: usize = 10;
const SHOWN: usize = 1_000;

/// The end of the standard error of a server.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail(Arc<Mutex<Said>>);

#[derive(Debug, Default)]
struct Said {
    bytes: Vec<u8>,
    /// Whether more may arrive.
    open: bool,
}

impl Tail {
    fn add(&self, bytes: &[u8]) {
        let kept = &mut locked(&self.0).bytes;
        kept.extend_from_slice(bytes);
        let surplus = kept.len().saturating_sub(ERRORS);
        kept.drain(..surplus);
    }

    /// `; it said: …` with the last lines, without secrets, if an ended server has written any.
    pub(super) fn said(&self, secrets: &Secrets) -> String {
        let until = Instant::now() + LAST_WORDS;
        while locked(&self.0).open && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        self.shown(secrets)
    }

    /// The same on the thread that reads it.
    pub(super) async fn said_here(&self, secrets: &Secrets) -> String {
        let until = Instant::now() + LAST_WORDS;
        while locked(&self.0).open && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.shown(secrets)
    }

    fn shown(&self, secrets: &Secrets) -> String {
        let kept = locked(&self.0);
        let text = secrets.hidden_in_end(&String::from_utf8_lossy(&kept.bytes));
        let mut left = SHOWN;
        let lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(LINES);
        let mut last: Vec<&str> = lines
            .take_while(|line| {
                let fits = left == SHOWN || line.len() <= left;
                left = left.saturating_sub(line.len());
                fits
            })
            .collect();
        last.reverse();
        if last.is_empty() {
            return String::new();
        }
        format!("; it said: {}", shortened(&last.join(" / "), SHOWN + LINES))
    }

    /// Reads the whole stream, in a separate task.
    pub(super) fn listen(&self, mut to: ChildStderr) {
        locked(&self.0).open = true;
        let tail = self.clone();
        tokio::spawn(async move {
            let mut buffer = [0; 4 << 10];
            while let Ok(count @ 1..) = to.read(&mut buffer).await {
                tail.add(buffer.get(..count).unwrap_or_default());
            }
            locked(&tail.0).open = false;
        });
    }
}
