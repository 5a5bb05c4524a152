//! The formats of texts that constants are compared with: dates and times as RFC 3339 writes them.

/// What `format` says about a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `2026-01-31`.
    Date,
    /// `2026-01-31T09:30:00Z`.
    DateTime,
}

impl Format {
    /// The format of a name in a schema, if texts are compared with it.
    pub(super) fn of(name: &str) -> Option<Format> {
        match name {
            "date" => Some(Format::Date),
            "date-time" => Some(Format::DateTime),
            _ => None,
        }
    }

    /// Whether a text has the format.
    pub fn fits(self, text: &str) -> bool {
        match self {
            Format::Date => date(text.as_bytes()).is_some_and(<[u8]>::is_empty),
            Format::DateTime => time(text.as_bytes()).is_some_and(<[u8]>::is_empty),
        }
    }
}

/// The number that a text begins with, of exactly so many digits, and the rest.
fn digits(text: &[u8], count: usize) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_at_checked(count)?;
    let number = digits.iter().try_fold(0_u32, |number, digit| {
        digit.is_ascii_digit().then(|| number * 10 + u32::from(digit - b'0'))
    })?;
    Some((number, rest))
}

/// What follows a sign.
fn sign<'t>(text: &'t [u8], signs: &[u8]) -> Option<&'t [u8]> {
    let (first, rest) = text.split_first()?;
    signs.contains(first).then_some(rest)
}

/// What follows a date.
fn date(text: &[u8]) -> Option<&[u8]> {
    let (year, rest) = digits(text, 4)?;
    let (month, rest) = digits(sign(rest, b"-")?, 2)?;
    let (day, rest) = digits(sign(rest, b"-")?, 2)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day).then_some(rest)
}

/// What follows a date with a time and its offset from UTC.
fn time(text: &[u8]) -> Option<&[u8]> {
    let (hour, rest) = digits(sign(date(text)?, b"Tt ")?, 2)?;
    let (minute, rest) = digits(sign(rest, b":")?, 2)?;
    let (second, rest) = digits(sign(rest, b":")?, 2)?;
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let rest = match sign(rest, b".") {
        Some(fraction) => {
            let end = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            fraction.get(end..).filter(|_| end > 0)?
        }
        None => rest,
    };
    if let Some(rest) = sign(rest, b"Zz") {
        return Some(rest);
    }
    let (hour, rest) = digits(sign(rest, b"+-")?, 2)?;
    let (minute, rest) = digits(sign(rest, b":")?, 2)?;
    (hour <= 23 && minute <= 59).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_formats_of_rfc_3339() {
        for (text, expected) in [
            ("2026-01-31", true),
            ("2024-02-29", true),
            ("2023-02-29", false),
            ("1900-02-29", false),
            ("2026-04-31", false),
            ("2026-13-01", false),
            ("2026-00-10", false),
            ("2026-1-5", false),
            ("31.01.2026", false),
            ("2026-01-31T00:00:00Z", false),
            ("", false),
            ("２026-01-31", false),
        ] {
            assert_eq!(Format::Date.fits(text), expected, "{text}");
        }
        for (text, expected) in [
            ("1985-04-12T23:20:50.52Z", true),
            ("1996-12-19T16:39:57-08:00", true),
            ("1990-12-31T23:59:60Z", true),
            ("2026-01-31 09:30:00z", true),
            ("2026-01-31T09:30:00", false),
            ("2026-01-31T09:30Z", false),
            ("2026-01-31T24:00:00Z", false),
            ("2026-01-31T09:30:00.Z", false),
            ("2026-01-31T09:30:00+0100", false),
            ("2026-01-31", false),
            ("tomorrow", false),
        ] {
            assert_eq!(Format::DateTime.fits(text), expected, "{text}");
        }
    }
}
