//! Writes times in UTC as texts of RFC 3339, without leap seconds.
//!
//! The function ISO of programs is separate, in `ilo-vm`, which has no standard library and other bounds.

/// A time in milliseconds since 1970, to the millisecond: `2026-01-31T12:00:00.250Z`.
pub fn to_millisecond(milliseconds: i64) -> String {
    format!("{}.{:03}Z", date_and_time(milliseconds), milliseconds.rem_euclid(1_000))
}

/// A time in milliseconds since 1970, to the second: `2026-01-31T12:00:00Z`.
pub fn to_second(milliseconds: i64) -> String {
    format!("{}Z", date_and_time(milliseconds))
}

fn date_and_time(milliseconds: i64) -> String {
    let seconds = milliseconds.div_euclid(1_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days since 1 March of the year 0, in eras of 400 years: a leap day is then the last day of its year.
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::{to_millisecond, to_second};

    #[test]
    fn times_are_those_of_the_calendar() {
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
        assert_eq!(to_second(i64::MIN), "-292275055-05-16T16:47:04Z");
        assert_eq!(to_millisecond(i64::MAX), "292278994-08-17T07:12:55.807Z");
    }
}
