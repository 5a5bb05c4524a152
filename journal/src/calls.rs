//! The calls of a run as they were made, for people who look later: kept only in a journal that is to keep
//! them.
//!
//! They are rows beside those of decisions, and are exported, removed and encrypted with them. A session
//! hands them over with its next record that somebody waits for; a process that is killed takes at most
//! [`TOGETHER`] along.

use crate::answer::Answer;
use crate::cipher::{Cipher, Column, RUN_KEY};
use crate::error::{Error, Result};
use crate::row::{CALLED, DecisionRow};

/// The most calls that a session keeps to itself.
pub(crate) const TOGETHER: usize = 64;

/// A call of a run, as it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Called {
    /// Its number.
    pub call: u64,
    /// When it was over, in milliseconds since 1970.
    pub at: i64,
    /// The tool.
    pub tool: String,
    /// The arguments as JSON.
    pub arguments: String,
    /// The milliseconds that it took; nothing if its answer came from a person, from outside, or from a
    /// process that had the run before.
    pub took_ms: Option<u64>,
    /// Its answer; nothing if none came, so that it was in doubt.
    pub answer: Option<Answer>,
}

impl Called {
    /// The row of this call, encrypted.
    pub(crate) fn row(&self, cipher: &Cipher, run: i64, key: &[u8; RUN_KEY]) -> Result<DecisionRow> {
        let mut detail = Vec::with_capacity(16 + self.arguments.len());
        detail.extend_from_slice(&self.took_ms.map_or(u64::MAX, |took| took.min(u64::MAX - 1)).to_le_bytes());
        // The length of a text fits 64 bits.
        detail.extend_from_slice(&(self.arguments.len() as u64).to_le_bytes());
        detail.extend_from_slice(self.arguments.as_bytes());
        detail.extend_from_slice(&self.answer.as_ref().map(Answer::to_bytes).unwrap_or_default());
        let sealed = cipher.seal(key, self.call, Column::Detail, &detail)?;
        Ok(DecisionRow::noted(run, (self.call, &self.tool), self.at, CALLED, sealed))
    }

    /// The call of a row.
    pub(crate) fn of(cipher: &Cipher, key: &[u8; RUN_KEY], row: DecisionRow) -> Result<Called> {
        let refused = || Error::damaged("a call of a run");
        let detail = cipher.open(key, row.call, Column::Detail, row.detail)?;
        let (took, rest) = detail.split_first_chunk().ok_or_else(refused)?;
        let (length, rest) = rest.split_first_chunk().ok_or_else(refused)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| refused())?;
        let (arguments, answer) = rest.split_at_checked(length).ok_or_else(refused)?;
        let took = u64::from_le_bytes(*took);
        Ok(Called {
            call: row.call,
            at: row.at,
            tool: row.tool,
            arguments: String::from_utf8(arguments.to_vec()).map_err(|_| refused())?,
            took_ms: (took != u64::MAX).then_some(took),
            answer: if answer.is_empty() { None } else { Some(Answer::from_bytes(answer)?) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Called;
    use crate::answer::Answer;
    use crate::cipher::{Cipher, Key};

    #[test]
    fn a_call_is_read_as_it_was_written_and_damage_is_told() {
        let cipher = Cipher::new(Some(&Key::from_bytes([7; 32])));
        for (took_ms, answer) in
            [(Some(3), Some(Answer::Ok("[1]".to_owned()))), (None, None), (Some(0), None)]
        {
            let (tool, arguments) = ("pay".to_owned(), "{\"a\":1}".to_owned());
            let called = Called { call: 4, at: 9, tool, arguments, took_ms, answer };
            let row = called.row(&cipher, 1, &[2; 16]).unwrap();
            assert_eq!(Called::of(&cipher, &[2; 16], row.clone()).unwrap(), called);
            assert!(Called::of(&cipher, &[3; 16], row.clone()).is_err(), "it is bound to its run");
            let plain = Cipher::new(None);
            let row = called.row(&plain, 1, &[2; 16]).unwrap();
            for length in 0..16 + called.arguments.len() {
                let cut = crate::row::DecisionRow { detail: row.detail[..length].to_vec(), ..row.clone() };
                assert!(Called::of(&plain, &[2; 16], cut).is_err(), "{length}");
            }
        }
    }
}
