//! The columns of the tables. A row with a wrong checksum is an error.

use crate::error::{Error, Result};
use crate::row::{CANCELLED, Columns, LIVE, RUN};
use rusqlite::Row;
use rusqlite::types::ValueRef;

/// The columns of `run r` and `live l`, with their checksums.
pub(crate) fn both() -> String {
    format!("{RUN}, r.sum, {LIVE}, NULL, l.sum")
}

/// The columns of `call`, with their checksum.
pub(crate) const DECIDED: &str = "run, call, at, tool, what, who, detail, sum";

impl Columns for Row<'_> {
    const SUMS: usize = 1;

    fn maybe_int(&self, at: usize) -> Result<Option<i64>> {
        Ok(self.get(at)?)
    }

    fn maybe_text(&self, at: usize) -> Result<Option<String>> {
        Ok(self.get(at)?)
    }

    fn maybe_bytes(&self, at: usize) -> Result<Option<&[u8]>> {
        match self.get_ref(at)? {
            ValueRef::Null => Ok(None),
            ValueRef::Blob(bytes) => Ok(Some(bytes)),
            _ => Err(Error::damaged("bytes were expected, found something else")),
        }
    }

    fn cancel(&self, at: usize) -> Result<bool> {
        match self.int(at)? {
            0 => Ok(false),
            CANCELLED => Ok(true),
            _ => Err(Error::damaged("a request to cancel")),
        }
    }
}
