//! The file of a lock. It is written atomically.
//!
//! Several processes may write it at the same time: each holds a turn from reading to writing. The turn is a
//! file lock on the folder, so that no lock file is left, even by a killed process.

use crate::file;
use ilo_drive::problem::Problem;
use ilo_spec::error::Code;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long to wait for other processes, which each take some milliseconds.
const WAIT: Duration = Duration::from_secs(10);
/// The pause between attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// The file, which may not exist yet.
pub(super) struct LockFile {
    /// Its path as given.
    shown: String,
    /// Its real path, with links followed.
    path: PathBuf,
}

impl LockFile {
    /// Finds the file, following links; it may not exist.
    pub(super) fn of(path: &Path) -> Result<LockFile, Problem> {
        let shown = path.display().to_string();
        let bad = |message: String| Problem::new(Code::BadUsage, shown.clone(), message);
        match fs::metadata(path) {
            Ok(found) if found.is_file() => {
                let path = path.canonicalize().map_err(|error| bad(format!("cannot be read: {error}")))?;
                Ok(LockFile { shown, path })
            }
            Ok(found) => Err(bad(format!("a lock is a file, and this is {}", file::kind(found.file_type())))),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(bad(format!("cannot be read: {error}")))
            }
            Err(_) => match fs::read_link(path) {
                Ok(to) => Err(bad(format!(
                    "this is a link to `{}`, which is not there; take the link away, or name the file itself",
                    to.display()
                ))),
                Err(_) => Ok(LockFile { shown, path: path.to_path_buf() }),
            },
        }
    }

    pub(super) fn problem(&self, message: String) -> Problem {
        Problem::new(Code::BadUsage, self.shown.clone(), message)
    }

    /// Its bytes; `None` if it does not exist.
    pub(super) fn read(&self, limit: usize) -> Result<Option<Vec<u8>>, Problem> {
        if !self.path.exists() {
            return Ok(None);
        }
        let bytes = file::read(&self.path, limit);
        bytes.map(Some).map_err(|problem| Problem { place: self.shown.clone(), ..problem })
    }

    /// Waits until no other process holds the turn; the turn lasts until it is dropped.
    pub(super) fn turn(&self) -> Result<Turn, Problem> {
        self.turn_within(WAIT)
    }

    fn turn_within(&self, wait: Duration) -> Result<Turn, Problem> {
        let until = Instant::now() + wait;
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // A missing folder is reported when the file is written.
        let Ok(folder) = File::open(folder) else { return Ok(Turn { _folder: None }) };
        loop {
            match folder.try_lock() {
                Ok(()) => return Ok(Turn { _folder: Some(folder) }),
                // On a file system without locks, no lock is taken.
                Err(TryLockError::Error(_)) => return Ok(Turn { _folder: None }),
                Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    let message = format!(
                        "another process has kept its folder locked for {} s; try again once it has ended",
                        wait.as_secs()
                    );
                    return Err(self.problem(message));
                }
            }
        }
    }

    /// Writes it: first to a temporary file, which is then renamed.
    pub(super) fn write(&self, text: &str) -> Result<(), Problem> {
        let fails = |error: io::Error| self.problem(format!("cannot be written: {error}"));
        let beside = beside(&self.path).ok_or_else(|| fails(io::ErrorKind::InvalidFilename.into()))?;
        // Existing temporary files were left by killed processes, since no other process holds the turn.
        remove_left(&self.path);
        let written = File::create_new(&beside)
            .and_then(|mut file| {
                if let Ok(old) = fs::metadata(&self.path) {
                    file.set_permissions(old.permissions())?;
                }
                file.write_all(text.as_bytes()).and_then(|()| file.sync_all())
            })
            .and_then(|()| fs::rename(&beside, &self.path));
        if written.is_err() {
            drop(fs::remove_file(&beside));
        }
        written.map_err(fails)
    }
}

/// The right to read and write, until it is dropped.
pub(super) struct Turn {
    _folder: Option<File>,
}

/// The name of a temporary file.
fn beside(path: &Path) -> Option<PathBuf> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name()?);
    name.push(format!(".{}.new", std::process::id()));
    Some(path.with_file_name(name))
}

/// Removes leftover temporary files.
fn remove_left(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let (name, entries) = (name.to_string_lossy().into_owned(), fs::read_dir(folder).into_iter().flatten());
    for entry in entries.flatten() {
        let found = entry.file_name().to_string_lossy().into_owned();
        let number = found
            .strip_prefix('.')
            .and_then(|rest| rest.strip_prefix(name.as_str())?.strip_prefix('.')?.strip_suffix(".new"));
        let is_left = number
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
        if is_left {
            drop(fs::remove_file(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_is_taken_away_and_the_mode_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tools.lock");
        fs::write(&path, "old").unwrap();
        let [left, other] =
            [".tools.lock.4711.new", ".tools.lock.x.new"].map(|name| folder.path().join(name));
        fs::write(&left, "half").unwrap();
        fs::write(&other, "not ours").unwrap();
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        LockFile::of(&path).unwrap().write("new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert!(!left.exists() && other.exists());
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions()) & 0o777,
            0o600
        );
    }

    #[test]
    fn a_turn_is_waited_for_and_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let place = || LockFile::of(&folder.path().join("tools.lock")).unwrap();
        let (first, second) = (place(), place());
        let turn = first.turn_within(Duration::ZERO).unwrap();
        let refused = second.turn_within(Duration::ZERO).err().unwrap();
        assert!(refused.message.starts_with("another process has kept its folder locked"), "{refused}");
        let waiting = thread::spawn(move || second.turn().is_ok());
        drop(turn);
        assert!(waiting.join().unwrap());
    }
}
