//! `--lock`: compares tools with the definitions that were accepted before.

use super::{Refused, output};
use ilo_host::lock::{Held, Lock};
use ilo_host::problem::Problem;
use ilo_host::tools::Tools;
use ilo_spec::error::Code;
use std::path::{Path, PathBuf};

/// The options for the lock file.
#[derive(Clone, Default, clap::Args)]
pub(super) struct LockArgs {
    /// Compare the tools with the definitions in this file, which is created if it is missing
    #[arg(long, value_name = "FILE", requires = "tools")]
    lock: Option<PathBuf>,
    /// Accept the tools as they are now, and write them to the file of `--lock`
    #[arg(long)]
    update: bool,
}

impl LockArgs {
    /// The file.
    pub(super) fn path(&self) -> Option<&Path> {
        self.lock.as_deref()
    }

    /// Whether tools that have changed are accepted.
    #[cfg(feature = "journal")]
    pub(super) fn accepts(&self) -> bool {
        self.update
    }

    /// The changes of the tools that an invalid program names, since its errors may be due to them. Nothing
    /// is written.
    pub(super) fn problems<'n>(
        &self,
        tools: &Tools,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Vec<Problem> {
        let held = self.lock.as_ref().filter(|_| !self.update);
        held.map(|path| Lock::of(tools, names).problems(path)).unwrap_or_default()
    }

    /// Whether [`LockArgs::hold`] writes the file: it is not there, or the tools are to be accepted.
    #[cfg(feature = "journal")]
    pub(super) fn writes(&self) -> bool {
        self.lock.as_ref().is_some_and(|path| self.update || !path.exists())
    }

    /// Compares these tools with the file, if one is given.
    pub(super) fn hold<'n>(
        &self,
        tools: &Tools,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<(), Refused> {
        let Some(path) = &self.lock else {
            let message = "it writes the file of `--lock`, which is not given";
            let problem = Problem::new(Code::BadUsage, "--update", message);
            return if self.update { Err(problem.into()) } else { Ok(()) };
        };
        if let Held::Written(count, changes) = Lock::of(tools, names).hold(path, self.update)? {
            for change in changes {
                output::error(&format!("{}\n", output::plain(&change)));
            }
            let noun = if count == 1 { "tool" } else { "tools" };
            output::error(&format!("locked {count} {noun} in {}\n", path.display()));
        }
        Ok(())
    }
}
