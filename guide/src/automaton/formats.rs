//! Texts with a format that the check compares constants with: how the beginning of one can continue.

use crate::automaton::offers;
use crate::automaton::state::{Core, Phase};
use ilo_asm::catalog::{Format, SchemaShape};

/// Texts of each format. Each beginning of another text of the format continues like one of them from there.
const DATES: [&str; 2] = ["2026-01-01", "2026-10-10"];
const TIMES: [&str; 2] = ["2026-01-01T00:00:00Z", "2026-10-10T10:10:10Z"];
/// What may end a time that has fractions of a second or an offset.
const ENDS: [&str; 8] = ["", "Z", "0Z", "00:00", "0:00", ":00", "00", "0"];

/// A text of a format.
pub(crate) fn example(format: Format) -> &'static str {
    let [first, _] = all(format);
    first
}

fn all(format: Format) -> [&'static str; 2] {
    match format {
        Format::Date => DATES,
        Format::DateTime => TIMES,
    }
}

/// The rest of a text of a format that begins like this; `None` if there is none.
pub(crate) fn rest(format: Format, begun: &[u8]) -> Option<&'static str> {
    let begun = core::str::from_utf8(begun).ok()?;
    let texts = all(format).into_iter().filter_map(|text| text.get(begun.len()..));
    texts.chain(ENDS).find(|rest| begun.len() + rest.len() < 64 && format.fits(&[begun, rest].concat()))
}

/// The format that constant texts of a shape have.
pub(crate) fn of(shape: SchemaShape<'_>) -> Option<Format> {
    // No format has the empty text.
    if shape.texts().is_some() { None } else { shape.misses_format("") }
}

/// The format of the constant text that is next or unfinished.
pub(crate) fn format(core: &Core<'_>) -> Option<Format> {
    let frame = core.frame().filter(|_| core.state.phase != Phase::CaseKey)?;
    offers::shape(core, frame.want).and_then(of)
}

/// Whether a text that is written without escapes may be the beginning of a constant here.
pub(crate) fn begins_text(core: &Core<'_>, written: &[u8]) -> bool {
    format(core).is_none_or(|format| rest(format, written).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_beginning_of_a_date_continues_to_one() {
        const LONGEST: usize = 63;
        for month in 1..=12 {
            for day in 1..=28 {
                let date = format!("1987-{month:02}-{day:02}");
                let time = format!("{date}T{:02}:{:02}:{:02}.25+05:30", day % 24, 2 * day, month);
                for (format, text) in [(Format::Date, date), (Format::DateTime, time)] {
                    assert!(format.fits(&text), "{text}");
                    for length in 0..=text.len() {
                        let begun = &text[..length];
                        let rest = rest(format, begun.as_bytes()).unwrap_or_else(|| panic!("{begun}"));
                        assert!(format.fits(&format!("{begun}{rest}")));
                    }
                }
            }
        }
        let long = format!("1987-01-02T03:04:05.{}", "6".repeat(LONGEST));
        for length in 0..LONGEST {
            assert!(rest(Format::DateTime, &long.as_bytes()[..length]).is_some(), "{length}");
        }
        let full = format!("{}Z", &long[..LONGEST - 1]);
        assert_eq!(rest(Format::DateTime, full.as_bytes()), Some(""));
        assert_eq!(rest(Format::DateTime, &long.as_bytes()[..LONGEST]), None, "nothing could end it");
        for wrong in ["x", "2026-13", "2026-02-3", "2026-1-", "2026-01-01 ", "\\u0032"] {
            assert_eq!(rest(Format::Date, wrong.as_bytes()), None, "{wrong}");
        }
    }
}
