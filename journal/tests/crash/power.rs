//! Loss of power: the writes and flushes of a process are recorded with `strace`, and the files are rebuilt
//! as a disk may hold them at some moment. Writes that were not flushed are kept, dropped or torn. The runs
//! are continued from each such image, and in the end the promise must hold.

use crate::programs::Random;
use crate::{Counts, check, create, settle};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs in a recording: one of each program.
const RUNS: u64 = 4;
/// What is recorded.
const CALLS: &str = "trace=write,pwrite64,ftruncate,fdatasync,fsync,unlink";
/// The least unit that a disk writes whole.
const SECTOR: usize = 512;

/// What a process did.
enum Event {
    Write { path: PathBuf, at: Option<usize>, data: Vec<u8> },
    Truncate { path: PathBuf, length: usize },
    Remove { path: PathBuf },
    Flush { path: PathBuf },
}

/// A change of a file that may not be on disk yet.
#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
    Remove,
}

#[derive(Clone, Default)]
struct Disk {
    /// The state that is on disk for certain.
    content: Option<Vec<u8>>,
    pending: Vec<Change>,
}

/// How the changes that were not flushed are treated.
#[derive(Clone, Copy, Debug)]
enum Loss {
    Kept,
    Dropped,
    Some,
    Torn,
}

/// Records a process, rebuilds `images` states of its files, and checks what follows from each.
pub fn run(seed: u64, images: u64) {
    let folder = tempfile::tempdir().unwrap();
    drop(create(folder.path()));
    let before = std::fs::read(folder.path().join("j")).unwrap();
    let trace = folder.path().join("trace");
    let status = Command::new("strace")
        .args(["-f", "-y", "-xx", "-s", "10000000", "-e", CALLS, "-o"])
        .arg(&trace)
        .arg(std::env::current_exe().unwrap())
        .arg("worker")
        .arg(folder.path())
        .args([seed.to_string(), RUNS.to_string()])
        .stdin(Stdio::null())
        .status()
        .expect("strace is needed: apt-get install strace");
    assert!(status.success(), "the recorded process failed");
    let events = events(&std::fs::read_to_string(&trace).unwrap());
    let flushes = events.iter().filter(|event| matches!(event, Event::Flush { .. })).count();
    let (mut random, mut counts, mut violations) = (Random(seed), Counts::default(), 0);
    // A violation is counted, and its message is printed below.
    std::panic::set_hook(Box::new(|_| {}));
    for image in 0..images {
        let cut = usize::try_from(random.below(events.len() as u64 + 1)).unwrap();
        let loss = [Loss::Kept, Loss::Dropped, Loss::Some, Loss::Torn][usize::try_from(image % 4).unwrap()];
        let place = tempfile::tempdir().unwrap();
        build((&events[..cut], loss), folder.path(), &before, place.path(), &mut random);
        let found = catch_unwind(AssertUnwindSafe(|| {
            let store = settle(place.path(), RUNS, seed, &mut counts);
            check(&store, place.path(), RUNS, seed, &mut counts);
        }));
        if let Err(panic) = found {
            violations += 1;
            let why = panic.downcast_ref::<String>().map_or("?", String::as_str);
            if violations == 1 {
                println!("violation: seed {seed}, image {image}, {cut} events, {loss:?}: {why}");
            }
        }
    }
    drop(std::panic::take_hook());
    println!(
        "power loss, seed {seed}: {} events with {flushes} flushes, {images} images, {} doubts; {violations} \
         violations",
        events.len(),
        counts.doubts
    );
    assert_eq!(violations, 0, "seed {seed}");
}

/// The files as they may be after these events.
fn build((events, loss): (&[Event], Loss), from: &Path, before: &[u8], to: &Path, random: &mut Random) {
    let mut disks: BTreeMap<PathBuf, Disk> = BTreeMap::new();
    let of_journal = |path: &Path| ["j", "j-wal"].iter().any(|name| path == from.join(name));
    disks.insert(from.join("j"), Disk { content: Some(before.to_vec()), pending: Vec::new() });
    let mut logs: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    for event in events {
        match event {
            // Effects of tools, and acknowledgements, are outside the computer.
            Event::Write { path, data, .. } if *path == from.join("effects") => {
                logs.entry("effects").or_default().extend(data);
            }
            Event::Write { path, data, .. } if *path == from.join("acknowledged") => {
                logs.entry("acknowledged").or_default().extend(data);
            }
            Event::Write { path, at: Some(at), data } if of_journal(path) => {
                disks.entry(path.clone()).or_default().pending.push(Change::Write(*at, data.clone()));
            }
            Event::Truncate { path, length } if of_journal(path) => {
                disks.entry(path.clone()).or_default().pending.push(Change::Truncate(*length));
            }
            Event::Remove { path } if of_journal(path) => {
                disks.entry(path.clone()).or_default().pending.push(Change::Remove);
            }
            Event::Flush { path } if of_journal(path) => {
                let disk = disks.entry(path.clone()).or_default();
                let pending = std::mem::take(&mut disk.pending);
                pending.iter().for_each(|change| apply(&mut disk.content, change));
            }
            _ => {}
        }
    }
    for (path, mut disk) in disks {
        for change in std::mem::take(&mut disk.pending) {
            match (loss, change) {
                (Loss::Dropped, _) => {}
                (Loss::Kept, change) => apply(&mut disk.content, &change),
                (Loss::Torn, Change::Write(at, data)) => {
                    for (index, sector) in data.chunks(SECTOR).enumerate() {
                        if random.below(2) == 0 {
                            apply(&mut disk.content, &Change::Write(at + index * SECTOR, sector.to_vec()));
                        }
                    }
                }
                (Loss::Some | Loss::Torn, change) => {
                    if random.below(2) == 0 {
                        apply(&mut disk.content, &change);
                    }
                }
            }
        }
        if let Some(content) = disk.content {
            std::fs::write(to.join(path.file_name().unwrap()), content).unwrap();
        }
    }
    for (name, content) in logs {
        std::fs::write(to.join(name), content).unwrap();
    }
}

fn apply(content: &mut Option<Vec<u8>>, change: &Change) {
    match change {
        Change::Remove => *content = None,
        Change::Truncate(length) => content.get_or_insert_default().resize(*length, 0),
        Change::Write(at, data) => {
            let content = content.get_or_insert_default();
            let end = at + data.len();
            if content.len() < end {
                content.resize(end, 0);
            }
            content[*at..end].copy_from_slice(data);
        }
    }
}

/// The events of a trace, in order. A call that another thread interrupts is in two lines.
fn events(trace: &str) -> Vec<Event> {
    let mut begun: BTreeMap<&str, &str> = BTreeMap::new();
    let mut events = Vec::new();
    for line in trace.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(head) = rest.strip_suffix(" <unfinished ...>") {
            begun.insert(thread, head);
        } else if let Some(tail) = rest.strip_prefix("<... ") {
            let tail = tail.split_once("resumed>").map_or("", |(_, tail)| tail);
            let whole = format!("{}{tail}", begun.remove(thread).unwrap_or_default());
            events.extend(event(&whole));
        } else {
            events.extend(event(rest));
        }
    }
    events
}

/// One call that succeeded.
fn event(line: &str) -> Option<Event> {
    let (name, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(") ")?;
    let result: usize = result.trim_start().strip_prefix("= ")?.split(' ').next()?.parse().ok()?;
    let mut fields = arguments.split(", ");
    let first = fields.next()?;
    let path = || Some(PathBuf::from(text(first.split_once('<')?.1.trim_end_matches('>'))));
    let written = |field: &str| {
        let mut data = bytes(field.trim_matches('"'));
        data.truncate(result);
        data
    };
    Some(match name {
        "write" => Event::Write { path: path()?, at: None, data: written(fields.next()?) },
        "pwrite64" => {
            let data = written(fields.next()?);
            Event::Write { path: path()?, at: Some(fields.nth(1)?.parse().ok()?), data }
        }
        "ftruncate" => Event::Truncate { path: path()?, length: fields.next()?.parse().ok()? },
        "fdatasync" | "fsync" => Event::Flush { path: path()? },
        "unlink" => Event::Remove { path: PathBuf::from(text(first.trim_matches('"'))) },
        _ => return None,
    })
}

fn text(escaped: &str) -> String {
    String::from_utf8_lossy(&bytes(escaped)).into_owned()
}

/// The bytes of `\x61\x62`.
fn bytes(escaped: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(escaped.get(at + 2..at + 4)?, 16).ok();
    (0..escaped.len()).step_by(4).map_while(digits).collect()
}
