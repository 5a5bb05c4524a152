//! The stored limits of a run.

use crate::error::{Error, ErrorCode, Result};
use ilo_spec::bytes::{ByteReader, ByteSink};
use ilo_vm::Limits;

/// A limit that can be raised after it is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsedUp {
    /// Fuel: roughly, the number of instructions.
    Fuel,
    /// The tool calls.
    Calls,
    /// The time in which it works.
    Time,
}

impl UsedUp {
    /// The displayed name.
    pub fn name(self) -> &'static str {
        match self {
            UsedUp::Fuel => "fuel",
            UsedUp::Calls => "calls",
            UsedUp::Time => "time",
        }
    }
}

/// The limits of a run: those of the machine, and the time in which it works. Time in which it waits does not
/// count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// The limits of the machine.
    pub machine: Limits,
    /// Milliseconds of work.
    pub time_ms: u64,
}

impl Default for RunLimits {
    fn default() -> RunLimits {
        RunLimits { machine: Limits::default(), time_ms: ilo_spec::limits::DEFAULT_RUN_MS }
    }
}

/// The first byte. A release that adds a limit raises it, and reads the versions before.
const VERSION: u8 = 1;

impl RunLimits {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let Limits {
            fuel,
            memory,
            text,
            items,
            value_depth,
            tool_calls,
            rollbacks,
            result_bytes,
            result_nodes,
        } = self.machine;
        // A length fits 64 bits.
        let numbers = [
            self.time_ms,
            fuel,
            memory,
            text as u64,
            items as u64,
            value_depth as u64,
            tool_calls,
            rollbacks as u64,
            result_bytes as u64,
            result_nodes as u64,
        ];
        let mut bytes = ByteSink::default();
        bytes.byte(VERSION);
        numbers.into_iter().for_each(|number| bytes.varint(number));
        bytes.into_bytes()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<RunLimits> {
        let refused = || Error::damaged("the limits of a run");
        let (&version, rest) = bytes.split_first().ok_or_else(refused)?;
        if version > VERSION {
            return Err(Error::new(ErrorCode::NewerVersion, "a newer release has written the run's limits"));
        }
        let mut rest = ByteReader::new(rest);
        let mut numbers = [0; 10];
        for number in &mut numbers {
            *number = rest.varint().map_err(|_| refused())?;
        }
        if rest.left() > 0 {
            return Err(refused());
        }
        let length = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let [time_ms, fuel, memory, text, items, depth, tool_calls, rollbacks, bytes, nodes] = numbers;
        let machine = Limits {
            fuel,
            memory,
            text: length(text),
            items: length(items),
            value_depth: length(depth),
            tool_calls,
            rollbacks: length(rollbacks),
            result_bytes: length(bytes),
            result_nodes: length(nodes),
        };
        Ok(RunLimits { machine, time_ms })
    }
}

#[cfg(test)]
mod tests {
    use super::RunLimits;
    use crate::error::ErrorCode;

    #[test]
    fn limits_come_back_from_their_bytes_and_nothing_else_is_some() {
        let mut limits = RunLimits::default();
        limits.machine.fuel = u64::MAX;
        limits.machine.rollbacks = 3;
        limits.time_ms = 7;
        let bytes = limits.to_bytes();
        assert_eq!(RunLimits::from_bytes(&bytes).unwrap(), limits);
        assert!((0..bytes.len()).all(|end| RunLimits::from_bytes(&bytes[..end]).is_err()));
        let longer: Vec<u8> = bytes.iter().copied().chain([0]).collect();
        assert_eq!(RunLimits::from_bytes(&longer).unwrap_err().code, ErrorCode::Damaged);
        let newer: Vec<u8> = [2].into_iter().chain(bytes.into_iter().skip(1)).collect();
        assert_eq!(RunLimits::from_bytes(&newer).unwrap_err().code, ErrorCode::NewerVersion);
    }
}
