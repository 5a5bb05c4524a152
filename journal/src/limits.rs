//! The limits of a run as they are stored.

use crate::error::{Error, ErrorCode, Result};
use ilo_vm::Limits;

/// The limits of a run: those of the machine, and the time in which it works. Waiting is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// Those of the machine.
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
        let mut bytes = vec![VERSION];
        bytes.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<RunLimits> {
        let refused = || Error::damaged("the limits of a run");
        let (&version, rest) = bytes.split_first().ok_or_else(refused)?;
        if version > VERSION {
            return Err(Error::new(ErrorCode::NewerVersion, "a newer release has written the run's limits"));
        }
        let (numbers, []) = rest.as_chunks::<8>() else { return Err(refused()) };
        let numbers: Vec<u64> = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let length = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        match *numbers {
            [time_ms, fuel, memory, text, items, depth, tool_calls, rollbacks, bytes, nodes] => {
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
            _ => Err(refused()),
        }
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
        let newer: Vec<u8> = [2].into_iter().chain(bytes.into_iter().skip(1)).collect();
        assert_eq!(RunLimits::from_bytes(&newer).unwrap_err().code, ErrorCode::NewerVersion);
    }
}
