//! Errors of the store: a stable code, a message, and a remedy.

use std::fmt;

/// The table of codes: each as it is printed, and the usual remedy.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident $printed:literal, $remedy:literal;)*) => {
        /// The stable code of an error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])* $code,)*
        }

        impl ErrorCode {
            /// The code as it is printed.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(ErrorCode::$code => $printed,)*
                }
            }

            /// The usual remedy.
            fn remedy(self) -> &'static str {
                match self {
                    $(ErrorCode::$code => $remedy,)*
                }
            }
        }
    };
}

codes! {
    /// The file is not a journal.
    NotAJournal "journal-other-file", "name another file; a journal is created where there is no file";
    /// A newer release has written the journal, or a run in it.
    NewerVersion "journal-newer-version", "use the release that wrote it, or a newer one";
    /// Bytes were changed or lost.
    Damaged "journal-damaged", "restore the journal from a back-up";
    /// The disk is full, or the file has reached its largest size.
    Full "journal-full", "make room on the disk, then `resume`; nothing that was acknowledged is lost";
    /// The journal or its folder cannot be written to.
    ReadOnly "journal-read-only", "make the file and its folder writable for this user";
    /// The journal is on a network file system.
    NetworkFileSystem "journal-network-file-system",
        "put the journal on a local disk; `runs export` moves a run";
    /// There is no such file, or it cannot be opened.
    CannotOpen "journal-cannot-open", "check the path and its permissions";
    /// The server is not the one that the journal was written with: a standby has taken over.
    FailedOver "journal-failed-over",
        "stop all processes, find out whether acknowledged records are lost, and then `runs after-failover`";
    /// Another process has held the journal for too long.
    Busy "journal-busy",
        "end the process that holds the journal, such as a back-up or a shell, and try again";
    /// The system failed to read or write.
    Io "journal-io", "check the disk, then `resume`";
    /// There is no such run.
    NoRun "no-such-run", "list the runs with `runs list`";
    /// Another process works on the run.
    Owned "run-owned", "wait for that process, or end it";
    /// The process that began the call was taken for dead, and may still be making it.
    OwnerMayLive "owner-may-live",
        "wait for that process, or see to it that it has ended and add `--owner-ended`";
    /// Another process has taken the run over.
    Lost "run-taken-over", "nothing: the other process continues the run";
    /// The run's state does not allow this.
    NotNow "not-in-this-state", "look at the run with `runs show`";
    /// The run waits at another call.
    OtherCall "other-call", "look at the run with `runs show`";
    /// The name belongs to another run.
    NameTaken "name-taken", "choose another name, or give the program and input that the run has";
    /// The run is in this journal already.
    AlreadyHere "run-already-here", "there is nothing to do: the journal has the run";
    /// The journal is encrypted and no key was given, the key is another one, or a key was given without
    /// need.
    Key "journal-key", "give the key with which the journal was created";
    /// A value that was given cannot be used.
    Value "bad-value", "give another value";
    /// The store has been closed.
    Closed "journal-closed", "open the journal again";
    /// A function that blocks its thread was called in asynchronous code.
    Blocks "blocks-asynchronous-code", "await the ticket, or call this in `tokio::task::spawn_blocking`";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The stable code.
    pub code: ErrorCode,
    /// What was expected and what was found.
    pub message: String,
    /// The remedy.
    pub remedy: String,
    /// Whether the transaction in which it happened cannot be committed.
    pub(crate) aborts: bool,
}

/// The result of an operation on the store.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with the usual remedy for its code.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Error {
        Error { code, message: message.into(), remedy: code.remedy().to_owned(), aborts: false }
    }

    /// The same error with another remedy.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Error {
        self.remedy = remedy.into();
        self
    }

    /// Something in the journal is not in the form that this crate writes.
    pub(crate) fn damaged(what: impl fmt::Display) -> Error {
        Error::new(ErrorCode::Damaged, format!("the journal is damaged: {what}"))
    }

    /// This build cannot continue a run; nothing of it was changed.
    pub fn unreadable(run: impl fmt::Display, why: &str) -> Error {
        Error::new(ErrorCode::NewerVersion, format!("this release cannot continue run {run}: {why}")).remedy(
            "use the release that wrote it, or a newer one; if this one wrote it, restore the journal from a back-up",
        )
    }

    /// Another run of this journal has the name of one that is imported.
    pub(crate) fn name_here(other: i64, name: &str) -> Error {
        let message = format!("run {other} of this journal is named `{name}` too");
        Error::new(ErrorCode::NameTaken, message).remedy("import into another journal")
    }

    /// A database gave what belongs to another request.
    pub(crate) fn other() -> Error {
        Error::new(ErrorCode::Io, "the journal: the result of another request was given")
    }

    /// A file cannot be used.
    pub(crate) fn file(path: &std::path::Path, error: &std::io::Error) -> Error {
        use std::io::ErrorKind as Kind;
        let code = match error.kind() {
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => ErrorCode::ReadOnly,
            Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => ErrorCode::Full,
            Kind::NotFound | Kind::NotADirectory | Kind::IsADirectory => ErrorCode::CannotOpen,
            _ => ErrorCode::Io,
        };
        Error::new(code, format!("`{}`: {error}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}; {}", self.code, self.message, self.remedy)
    }
}

impl std::error::Error for Error {}

// Not a part of the interface, in which no type of SQLite is.
#[doc(hidden)]
impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Error {
        use rusqlite::ErrorCode as Sqlite;
        let code = match &error {
            // A number in the header that no release of SQLite has written; it has no code of its own.
            rusqlite::Error::SqliteFailure(_, Some(message)) if message == "unsupported file format" => {
                ErrorCode::Damaged
            }
            // On a full disk SQLite says so of every file but the one beside the log, which it maps.
            rusqlite::Error::SqliteFailure(failure, _)
                if failure.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE =>
            {
                ErrorCode::Full
            }
            rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
                Sqlite::DiskFull => ErrorCode::Full,
                Sqlite::ReadOnly | Sqlite::PermissionDenied => ErrorCode::ReadOnly,
                Sqlite::DatabaseBusy | Sqlite::DatabaseLocked => ErrorCode::Busy,
                Sqlite::DatabaseCorrupt | Sqlite::NotADatabase | Sqlite::TypeMismatch => ErrorCode::Damaged,
                Sqlite::CannotOpen => ErrorCode::CannotOpen,
                Sqlite::TooBig | Sqlite::OutOfMemory => ErrorCode::Value,
                _ => ErrorCode::Io,
            },
            // A column with something that this crate does not write there.
            _ => ErrorCode::Damaged,
        };
        let mut made = Error::new(code, format!("the journal: {error}"));
        made.aborts = true;
        made
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, ErrorCode};
    use rusqlite::ffi;

    #[test]
    fn a_disk_without_room_for_the_file_beside_the_log_is_full() {
        let of = |code| Error::from(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)).code;
        assert_eq!(of(ffi::SQLITE_IOERR_SHMSIZE), ErrorCode::Full);
        assert_eq!(of(ffi::SQLITE_FULL), ErrorCode::Full);
        assert_eq!(of(ffi::SQLITE_IOERR_READ), ErrorCode::Io);
    }
}
