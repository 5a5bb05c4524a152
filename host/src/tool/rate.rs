//! Rate limits: the number of calls of a tool in a period, in all runs of this process together.

use super::Failure;
use crate::interrupt::Interrupt;
use ilo_drive::locked::locked;
use ilo_drive::policy::Rate;
use ilo_drive::problem::shortened;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The maximum number of calls in a rate: each one is remembered for the period.
pub(crate) const RATE_CALLS: u64 = 10_000;
/// The longest period, in milliseconds: a day.
pub(crate) const RATE_MS: u64 = 86_400_000;

/// When the last calls of a tool began, or will.
#[derive(Debug, Default)]
pub(crate) struct Limiter(Mutex<VecDeque<Instant>>);

impl Limiter {
    /// Reserves the next turn. Returns its time, or how much later than `deadline` it would be.
    fn take(&self, rate: Rate, now: Instant, deadline: Instant) -> Result<Instant, Duration> {
        let mut begun = locked(&self.0);
        while begun.len() > rate.calls {
            begun.pop_front();
        }
        let first = if begun.len() < rate.calls { None } else { begun.front().copied() };
        let free = first.and_then(|first| first.checked_add(rate.per)).map_or(now, |free| free.max(now));
        if free > deadline {
            return Err(free.saturating_duration_since(now));
        }
        if first.is_some() {
            begun.pop_front();
        }
        begun.push_back(free);
        Ok(free)
    }

    /// Reserves the next turn. Returns its time.
    ///
    /// # Errors
    /// A failure if it would be after the deadline: the call was not made.
    pub(crate) fn reserve(&self, rate: Rate, tool: &str, deadline: Instant) -> Result<Instant, Failure> {
        self.take(rate, Instant::now(), deadline).map_err(|wait| {
            let (tool, calls, per) = (shortened(tool, 200), rate.calls, rate.per.as_millis());
            Failure::text(format!(
                "tool `{tool}` was not called: its rate of {calls} calls in {per} ms allows the next one in {} ms, and \
                 the time limit is over before",
                wait.as_millis()
            ))
        })
    }

    /// Waits until the tool may be called.
    ///
    /// # Errors
    /// Those of [`Limiter::reserve`], at once.
    pub(crate) fn wait(
        &self,
        rate: Rate,
        tool: &str,
        deadline: Instant,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        let place = self.reserve(rate, tool, deadline)?;
        if interrupt.sleep_until(place) { Ok(()) } else { Err(Failure::Interrupted) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_has_more_calls_than_the_rate() {
        let limiter = Limiter::default();
        let rate = Rate { calls: 3, per: Duration::from_millis(100) };
        let now = Instant::now();
        let far = now + Duration::from_mins(1);
        let at = |n: u64| now + Duration::from_millis(n);
        let taken: Vec<Instant> = (0..8).map(|_| limiter.take(rate, now, far).unwrap()).collect();
        assert_eq!(taken, [0, 0, 0, 100, 100, 100, 200, 200].map(at));
        assert_eq!(limiter.take(rate, at(50), at(199)), Err(Duration::from_millis(150)));
        assert_eq!(limiter.take(rate, at(50), at(200)), Ok(at(200)), "what is refused takes no place");
        assert_eq!(limiter.take(rate, at(1_000), far), Ok(at(1_000)));
    }
}
