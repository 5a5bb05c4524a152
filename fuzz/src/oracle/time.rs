//! TIME and ISO as the specification defines them (12.13, 12.14): the calendar counted year by year and month
//! by month.

use super::decimal::Decimal;
use super::value::Value;
use ilo_spec::program::Number;
use std::sync::LazyLock;

const DAY: i128 = 86_400;
const NANOS: i128 = 1_000_000_000;
/// Digits of a fraction that count.
const DIGITS: usize = 18;
/// The longest text that is a time, in bytes.
const LONGEST: usize = 64;

fn leap(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn year_length(year: u16) -> i128 {
    if leap(year) { 366 } else { 365 }
}

fn month_lengths(year: u16) -> [u8; 12] {
    [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
}

/// Days from 1970-01-01 to the first day of each year from 0 to 9999, counted once.
static STARTS: LazyLock<Vec<i128>> = LazyLock::new(|| {
    let before_1970: i128 = (0..1970).map(year_length).sum();
    let mut next = -before_1970;
    let starts = (0..=9999).map(|year| {
        let start = next;
        next += year_length(year);
        start
    });
    starts.collect()
});

/// Days from 1970-01-01 to the first day of a year.
fn days_to(year: u16) -> i128 {
    STARTS[usize::from(year)]
}

/// The number of exactly this many digits at the start of a text, and the rest.
fn digits(text: &str, count: usize) -> Option<(u16, &str)> {
    let (number, rest) = text.split_at_checked(count)?;
    number.bytes().all(|b| b.is_ascii_digit()).then_some(())?;
    Some((number.parse().ok()?, rest))
}

/// The seconds since 1970 of a time or date.
pub(super) fn read(text: &str) -> Option<Value> {
    if text.len() > LONGEST {
        return None;
    }
    let (year, rest) = digits(text, 4)?;
    let (month, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let month = usize::from(month.checked_sub(1)?);
    let lengths = month_lengths(year);
    if year == 0 || day == 0 || day > u16::from(*lengths.get(month)?) {
        return None;
    }
    let before: i128 = lengths[..month].iter().map(|&length| i128::from(length)).sum();
    let midnight = (days_to(year) + before + i128::from(day) - 1) * DAY;
    if rest.is_empty() {
        return Some(Value::Int(midnight.try_into().ok()?));
    }
    let (hour, rest) = digits(rest.strip_prefix(['T', 't', ' '])?, 2)?;
    let (minute, rest) = digits(rest.strip_prefix(':')?, 2)?;
    let (second, rest) = digits(rest.strip_prefix(':')?, 2)?;
    if hour > 23 || minute > 59 || second > 60 || (second == 60 && minute != 59) {
        return None;
    }
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            if end == 0 {
                return None;
            }
            rest.split_at(end)
        }
        None => ("", rest),
    };
    let offset = zone(rest)?;
    let seconds = midnight + i128::from(hour) * 3600 + i128::from(minute) * 60 + i128::from(second) - offset;
    let fraction: String = fraction.chars().chain(std::iter::repeat('0')).take(DIGITS).collect();
    let fraction: i128 = fraction.parse().ok()?;
    if fraction == 0 {
        return Some(Value::Int(seconds.try_into().ok()?));
    }
    // Exact as a whole number of the last digit, so that it is rounded once.
    let exact = seconds * 10_i128.pow(18) + fraction;
    Some(Value::Double(format!("{exact}e-18").parse().ok()?))
}

/// The seconds that a zone is ahead of UTC.
fn zone(text: &str) -> Option<i128> {
    if matches!(text, "" | "Z" | "z") {
        return Some(0);
    }
    let (hours, rest) = digits(text.strip_prefix(['+', '-'])?, 2)?;
    let (minutes, rest) = digits(rest.strip_prefix(':')?, 2)?;
    if hours > 23 || minutes > 59 || !rest.is_empty() {
        return None;
    }
    let ahead = i128::from(hours) * 3600 + i128::from(minutes) * 60;
    Some(if text.starts_with('-') { -ahead } else { ahead })
}

/// The time of seconds since 1970; `None` outside the years 1 to 9999.
pub(super) fn write(number: Number) -> Option<String> {
    let nanos = Decimal::of(number).rounded(9).scaled(9)?;
    let (seconds, nanos) = (nanos.div_euclid(NANOS), nanos.rem_euclid(NANOS));
    let (mut days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let year = STARTS.partition_point(|&start| start <= days).checked_sub(1)?;
    let year = u16::try_from(year).ok().filter(|&year| year > 0)?;
    days -= days_to(year);
    if days >= year_length(year) {
        return None;
    }
    let mut month = 1;
    for length in month_lengths(year) {
        if days < i128::from(length) {
            break;
        }
        days -= i128::from(length);
        month += 1;
    }
    let fraction = format!(".{nanos:09}");
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    Some(format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z", days + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        for (text, seconds) in [
            ("1970-01-01", 0),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("1969-12-31 23:59:59", -1),
            ("2026-01-31T12:00:00+02:00", 1_769_853_600),
            ("0001-01-01T00:00:00Z", -62_135_596_800),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
            ("2016-12-31T23:59:60Z", 1_483_228_800),
        ] {
            assert!(matches!(read(text), Some(Value::Int(found)) if found == seconds), "{text}");
        }
        for text in
            ["0000-01-01", "10000-01-01", "2026-02-29", "2026-13-01", "2026-1-1", "2026-01-01T24:00:00"]
        {
            assert!(read(text).is_none(), "{text}");
        }
        assert_eq!(write(Number::Int(951_825_600)).as_deref(), Some("2000-02-29T12:00:00Z"));
        assert_eq!(write(Number::Double(-0.5)).as_deref(), Some("1969-12-31T23:59:59.5Z"));
        assert_eq!(write(Number::Int(-62_135_596_800)).as_deref(), Some("0001-01-01T00:00:00Z"));
        assert_eq!(write(Number::Int(-62_135_596_801)), None);
        assert_eq!(write(Number::Int(253_402_300_799)).as_deref(), Some("9999-12-31T23:59:59Z"));
        assert_eq!(write(Number::Int(253_402_300_800)), None);
    }
}
