//! The owners of runs: processes that each hold the lock of a file in `JOURNAL.owners`.
//!
//! The kernel releases the lock when the process ends in any way. So no clocks and time-outs are needed.

use crate::backend::{Alive, Ownership};
use crate::cipher::Cipher;
use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The most files that are examined when a process joins.
const SWEPT: usize = 1000;

/// The most bytes of a process number.
const PID: u64 = 10;

/// The folder of a journal's owners.
#[derive(Clone, Debug)]
pub(crate) struct Owners(PathBuf);

/// This process as an owner.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) id: i64,
    /// The lock is held as long as this, or a copy of it, is open.
    file: File,
    path: PathBuf,
    /// Whether there are copies.
    shared: AtomicBool,
}

impl Owners {
    /// The folder beside the journal, which is created where it is missing.
    pub(crate) fn of(journal: &Path) -> Result<Owners> {
        let mut path = journal.as_os_str().to_owned();
        path.push(".owners");
        let path = PathBuf::from(path);
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(Error::file(&path, &error)),
            _ => Ok(Owners(path)),
        }
    }

    fn path(&self, id: i64) -> PathBuf {
        self.0.join(format!("{id:016x}"))
    }

    /// Removes the files of processes that have ended.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten().take(SWEPT) {
            let id = entry.file_name().to_str().and_then(|name| i64::from_str_radix(name, 16).ok());
            if let Some(id) = id.filter(|&id| self.path(id) == entry.path()) {
                // A file that cannot be examined now is removed another time.
                drop(self.lives(id));
            }
        }
    }

    /// Makes this process an owner.
    pub(crate) fn join(&self, cipher: &Cipher) -> Result<Owner> {
        self.sweep();
        loop {
            // Positive, so that it reads the same everywhere.
            let id = i64::from_le_bytes(cipher.random()?) & i64::MAX;
            let path = self.path(id);
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = match options.open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(Error::file(&path, &error)),
            };
            match file.try_lock() {
                Ok(()) => {}
                // Another process removed it as the file of an ended process.
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(error)) => return Err(Error::file(&path, &error)),
            }
            if same(&file, &path) {
                // For messages alone: where it cannot be written, the process has no name in them.
                drop(write!(&file, "{}", std::process::id()));
                return Ok(Owner { id, file, path, shared: AtomicBool::new(false) });
            }
        }
    }
}

impl Alive for Owners {
    fn shown(&self, id: i64) -> String {
        let mut text = String::new();
        let read = File::open(self.path(id)).and_then(|file| file.take(PID).read_to_string(&mut text));
        match text.parse::<u32>() {
            Ok(pid) if read.is_ok() => format!("process {pid}"),
            _ => "another process".to_owned(),
        }
    }

    /// A process may have passed its lock to the one that ends its commands.
    fn lives(&self, id: i64) -> Result<bool> {
        let path = self.path(id);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(Error::file(&path, &error)),
        };
        match file.try_lock() {
            Ok(()) => {
                if same(&file, &path) {
                    drop(fs::remove_file(&path));
                }
                Ok(false)
            }
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(Error::file(&path, &error)),
        }
    }
}

impl Ownership for Owner {
    fn id(&self) -> i64 {
        self.id
    }

    /// A copy for a process that outlives this one: until it ends, nobody takes this owner's runs.
    fn lock(&self) -> Option<Result<File>> {
        self.shared.store(true, Ordering::Relaxed);
        Some(self.file.try_clone().map_err(|error| Error::file(&self.path, &error)))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A copy keeps the lock, and others find it by this file.
        if !self.shared.load(Ordering::Relaxed) {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// Whether the path still leads to this file.
#[cfg(unix)]
fn same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(file), Ok(path)) => (file.dev(), file.ino()) == (path.dev(), path.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn same(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::Owners;
    use crate::backend::{Alive as _, Ownership as _};
    use crate::cipher::Cipher;
    use std::fs;

    #[test]
    fn an_owner_lives_as_long_as_its_lock() {
        let folder = tempfile::tempdir().unwrap();
        let owners = Owners::of(&folder.path().join("j")).unwrap();
        let cipher = Cipher::new(None);
        let (one, other) = (owners.join(&cipher).unwrap(), owners.join(&cipher).unwrap());
        assert_ne!(one.id, other.id);
        assert!(owners.lives(one.id).unwrap() && owners.lives(other.id).unwrap());
        let gone = one.id;
        drop(one);
        assert!(!owners.lives(gone).unwrap() && owners.lives(other.id).unwrap());
        assert!(!owners.lives(1).unwrap());
    }

    #[test]
    fn a_copy_of_the_lock_keeps_the_owner_alive() {
        let folder = tempfile::tempdir().unwrap();
        let owners = Owners::of(&folder.path().join("j")).unwrap();
        let owner = owners.join(&Cipher::new(None)).unwrap();
        let (id, copy) = (owner.id, owner.lock().unwrap().unwrap());
        drop(owner);
        assert!(owners.lives(id).unwrap());
        drop(copy);
        assert!(!owners.lives(id).unwrap());
    }

    #[test]
    fn the_file_of_a_killed_owner_is_removed_by_who_finds_it() {
        let folder = tempfile::tempdir().unwrap();
        let owners = Owners::of(&folder.path().join("j")).unwrap();
        let path = owners.path(5);
        fs::write(&path, "").unwrap();
        assert!(!owners.lives(5).unwrap());
        assert!(!path.exists());
    }
}
