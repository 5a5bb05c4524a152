//! Dates of the Gregorian calendar and times of day, as RFC 3339 writes them.
//!
//! The arithmetic counts days, without time zones, leap seconds or a clock. A year has four digits.

use alloc::string::String;
use core::fmt::{self, Write};

/// Days from 0001-01-01 to 1970-01-01.
const EPOCH: i64 = 719_162;
/// Seconds of a day.
pub(crate) const DAY: i64 = 86_400;
/// The first second of year 1 and the one after year 9999, in seconds since 1970.
pub(crate) const FIRST: i64 = -EPOCH * DAY;
pub(crate) const END: i64 = FIRST + 3_652_059 * DAY;

/// Digits of a fraction of a second that are read; later ones are ignored.
pub(crate) const FRACTION_DIGITS: u32 = 18;

/// Days in the months before each month, in a year that is not a leap year.
const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn month_length(year: i64, month: usize) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 0001-01-01 to the first day of a year.
fn days_before_year(year: i64) -> i64 {
    let past = year - 1;
    365 * past + past / 4 - past / 100 + past / 400
}

/// Days from 0001-01-01 to a date.
fn days(year: i64, month: usize, day: i64) -> i64 {
    let leap_day = i64::from(month > 2 && is_leap(year));
    days_before_year(year) + BEFORE.get(month.wrapping_sub(1)).unwrap_or(&0) + leap_day + day - 1
}

/// A time: whole seconds since 1970, and a fraction of a second in units of 10^-18.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time {
    pub(crate) seconds: i64,
    pub(crate) fraction: u64,
}

/// Reads ASCII.
struct Cursor<'t>(&'t [u8]);

impl Cursor<'_> {
    fn eat(&mut self, wanted: &[u8]) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        wanted.contains(&first).then(|| {
            self.0 = rest;
            first
        })
    }

    /// A number of exactly `count` digits, at most `most`.
    fn digits(&mut self, count: usize, most: i64) -> Option<i64> {
        let mut value = 0;
        for _ in 0..count {
            value = 10 * value + i64::from(self.eat(b"0123456789")? - b'0');
        }
        (value <= most).then_some(value)
    }

    fn fraction(&mut self) -> Option<u64> {
        let (mut value, mut count) = (0_u64, 0);
        while let Some(digit) = self.eat(b"0123456789") {
            if count < FRACTION_DIGITS {
                value = 10 * value + u64::from(digit - b'0');
                count += 1;
            }
        }
        if count == 0 {
            return None;
        }
        Some(value * 10_u64.pow(FRACTION_DIGITS - count))
    }
}

/// Reads an RFC 3339 time, or a date, which is its first second. Without a zone it is UTC.
pub(crate) fn parse(text: &str) -> Option<Time> {
    let mut cursor = Cursor(text.as_bytes());
    let year = cursor.digits(4, 9_999).filter(|&year| year >= 1)?;
    cursor.eat(b"-")?;
    let month = usize::try_from(cursor.digits(2, 12)?).ok().filter(|&month| month >= 1)?;
    cursor.eat(b"-")?;
    let day = cursor.digits(2, month_length(year, month)).filter(|&day| day >= 1)?;
    let midnight = (days(year, month, day) - EPOCH) * DAY;
    if cursor.0.is_empty() {
        return Some(Time { seconds: midnight, fraction: 0 });
    }
    cursor.eat(b"Tt ")?;
    let hour = cursor.digits(2, 23)?;
    cursor.eat(b":")?;
    let minute = cursor.digits(2, 59)?;
    cursor.eat(b":")?;
    // A leap second counts as the first second of the next minute.
    let second = cursor.digits(2, if minute == 59 { 60 } else { 59 })?;
    let fraction = if cursor.eat(b".").is_some() { cursor.fraction()? } else { 0 };
    let offset = zone(&mut cursor)?;
    let seconds = midnight + hour * 3_600 + minute * 60 + second - offset;
    cursor.0.is_empty().then_some(Time { seconds, fraction })
}

/// The seconds by which a zone is ahead of UTC; 0 if there is none.
fn zone(cursor: &mut Cursor<'_>) -> Option<i64> {
    if cursor.0.is_empty() || cursor.eat(b"Zz").is_some() {
        return Some(0);
    }
    let sign = if cursor.eat(b"+-")? == b'+' { 1 } else { -1 };
    let hours = cursor.digits(2, 23)?;
    cursor.eat(b":")?;
    let minutes = cursor.digits(2, 59)?;
    Some(sign * (hours * 3_600 + minutes * 60))
}

/// Writes the time of seconds since 1970 in UTC, with the nanoseconds that are not 0. The seconds are in the
/// years 1 to 9999.
pub(crate) fn write(seconds: i64, nanoseconds: u32, out: &mut impl Write) -> fmt::Result {
    write_date(seconds, out)?;
    let second = (seconds - FIRST).rem_euclid(DAY);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    write!(out, "T{hour:02}:{minute:02}:{second:02}")?;
    if nanoseconds > 0 {
        let (mut digits, mut width) = (nanoseconds, 9);
        while digits % 10 == 0 {
            digits /= 10;
            width -= 1;
        }
        write!(out, ".{digits:0width$}")?;
    }
    out.write_char('Z')
}

/// A time in milliseconds since 1970, to the second: `2026-01-31T12:00:00Z`. What is before the year 1 or
/// after 9999 is the first or last second of these.
pub fn to_second(milliseconds: i64) -> String {
    in_utc(milliseconds.div_euclid(1_000), "Z")
}

/// A time in milliseconds since 1970, to the millisecond: `2026-01-31T12:00:00.250Z`. What is before the year
/// 1 or after 9999 is in the first or last second of these.
pub fn to_millisecond(milliseconds: i64) -> String {
    in_utc(milliseconds.div_euclid(1_000), &alloc::format!(".{:03}Z", milliseconds.rem_euclid(1_000)))
}

fn in_utc(seconds: i64, end: &str) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write(seconds.clamp(FIRST, END - 1), 0, &mut text);
    text.pop();
    text + end
}

/// Writes the date in UTC of seconds since 1970, in the years 1 to 9999.
pub(crate) fn write_date(seconds: i64, out: &mut impl Write) -> fmt::Result {
    let mut days = (seconds - FIRST).div_euclid(DAY);
    // At most one year too early: no year has more days than 366.
    let mut year = 1 + days / 366;
    while days_before_year(year + 1) <= days {
        year += 1;
    }
    days -= days_before_year(year);
    let mut month = 1;
    while days >= month_length(year, month) {
        days -= month_length(year, month);
        month += 1;
    }
    write!(out, "{year:04}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(seconds: i64, nanoseconds: u32) -> String {
        let mut text = String::new();
        write(seconds, nanoseconds, &mut text).unwrap();
        text
    }

    #[test]
    fn every_day_is_found_again() {
        // Counted day by day, by the rule of leap years alone.
        let (mut year, mut month, mut day) = (1_i64, 1_usize, 1_i64);
        for number in 0..3_652_059_i64 {
            assert_eq!(days(year, month, day), number);
            if number % 97 == 0 || day == 1 {
                let text = show((number - EPOCH) * DAY, 0);
                assert_eq!(text, alloc::format!("{year:04}-{month:02}-{day:02}T00:00:00Z"));
                assert_eq!(parse(&text), Some(Time { seconds: (number - EPOCH) * DAY, fraction: 0 }));
            }
            day += 1;
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
            if day > length {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
        assert_eq!((year, month, day), (10_000, 1, 1));
    }

    #[test]
    fn times_of_a_clock_are_those_of_the_calendar() {
        // Of `date -u -d @SECONDS`.
        let seconds = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
        ];
        for (seconds, expected) in seconds {
            assert_eq!(to_second(seconds * 1_000), expected);
            assert_eq!(to_millisecond(seconds * 1_000 + 7), expected.replace('Z', ".007Z"));
        }
        assert_eq!(to_millisecond(1_795_392_000_123), "2026-11-23T00:00:00.123Z");
        // A damaged journal may have any number.
        assert_eq!(to_second(i64::MIN), "0001-01-01T00:00:00Z");
        assert_eq!(to_millisecond(i64::MAX), "9999-12-31T23:59:59.807Z");
    }

    #[test]
    fn fractions_have_no_trailing_zeros() {
        assert_eq!(show(0, 500_000_000), "1970-01-01T00:00:00.5Z");
        assert_eq!(show(-1, 1), "1969-12-31T23:59:59.000000001Z");
        assert_eq!(show(END - 1, 120), "9999-12-31T23:59:59.00000012Z");
        assert_eq!(show(FIRST, 0), "0001-01-01T00:00:00Z");
    }
}
