//! The reader and the writer of numbers (specification: numbers).
//!
//! Reading keeps integers exact: a JSON number without point and exponent is a 64-bit integer or is refused.
//! Writing uses the shortest digits that read back as the same double, and of two such numbers that are
//! equally near the one with an even last digit, as JavaScript and Python do. They are positional if
//! `1e-5 <= |x| < 1e16`, else `d.ddde16`. A double always has a point or an exponent, so that it reads back
//! as a double.

use crate::program::Number;
use core::fmt::{self, Write};

/// Why a text is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberError {
    /// It does not have the form of a JSON number.
    Form,
    /// An integer outside -9223372036854775808 to 9223372036854775807.
    Beyond64Bits,
    /// A double with a magnitude above 1.7976931348623157e308.
    NotFinite,
}

/// Reads a JSON number.
///
/// `-0` is the double -0.0, which keeps its sign; any other text without point and exponent is an integer.
///
/// # Errors
/// If the form is wrong or the number is out of range; the error says which.
pub fn parse(text: &str) -> Result<Number, NumberError> {
    let integral = check_form(text.as_bytes())?;
    if text == "-0" {
        return Ok(Number::Double(-0.0));
    }
    if integral {
        return text.parse().map(Number::Int).map_err(|_| NumberError::Beyond64Bits);
    }
    let double: f64 = text.parse().map_err(|_| NumberError::Form)?;
    if double.is_finite() { Ok(Number::Double(double)) } else { Err(NumberError::NotFinite) }
}

/// Checks the form; returns whether the number is an integer.
fn check_form(text: &[u8]) -> Result<bool, NumberError> {
    let digits = |from: &[u8]| from.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest.first() == Some(&b'0')) {
        return Err(NumberError::Form);
    }
    rest = rest.get(whole..).unwrap_or_default();
    let mut integral = true;
    if let Some(fraction) = rest.strip_prefix(b".") {
        integral = false;
        let count = digits(fraction);
        if count == 0 {
            return Err(NumberError::Form);
        }
        rest = fraction.get(count..).unwrap_or_default();
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        integral = false;
        let exponent =
            exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-")).unwrap_or(exponent);
        let count = digits(exponent);
        if count == 0 {
            return Err(NumberError::Form);
        }
        rest = exponent.get(count..).unwrap_or_default();
    }
    if rest.is_empty() { Ok(integral) } else { Err(NumberError::Form) }
}

/// A buffer for the longest number: a sign, 17 digits, a point, and an exponent or 5 leading zeros.
#[derive(Default)]
pub struct Digits {
    bytes: [u8; 32],
    len: usize,
}

impl Digits {
    /// What was written.
    #[inline]
    pub fn as_str(&self) -> &str {
        self.bytes.get(..self.len).and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

impl Write for Digits {
    #[inline]
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let end = self.len + s.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(s.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// The shortest digits that read back as the double, as `d.ddde16`; of two that are equally near, those with
/// an even last digit.
///
/// # Errors
/// None: the buffer is long enough.
pub fn shortest(double: f64) -> Result<Digits, fmt::Error> {
    let mut digits = Digits::default();
    write!(digits, "{double:e}")?;
    // The core library takes the larger one. Two numbers of 15 digits are never the same double.
    let text = digits.as_str();
    let end = text.find('e').unwrap_or(text.len());
    let is_odd = text.as_bytes().get(end.wrapping_sub(1)).is_some_and(|digit| digit % 2 == 1);
    if end > "1.".len() + 14
        && is_odd
        && let Some(even) = even_neighbour(double, text, end)
    {
        return Ok(even);
    }
    Ok(digits)
}

/// The digits with a last digit that is smaller by one, if the double is in the middle between both numbers
/// and they read back as it too. `end` is where the digits of `text` end.
#[cold]
fn even_neighbour(double: f64, text: &str, end: usize) -> Option<Digits> {
    /// More digits than the exact value of any double has.
    const ALL: usize = 800;
    let mut even = Digits::default();
    even.write_str(text).ok()?;
    *even.bytes.get_mut(end.checked_sub(1)?)? -= 1;
    let (digits, exponent) = even.as_str().split_at_checked(end)?;
    let (_, fraction) = digits.split_once('.')?;
    let middle = || Middle { digits: digits.as_bytes(), five: b"5", exponent: exponent.as_bytes() };
    // Most are refused by the next digit alone.
    write!(middle(), "{double:.places$e}", places = fraction.len() + 1).ok()?;
    write!(middle(), "{double:.ALL$e}").ok()?;
    (even.as_str().parse() == Ok(double)).then_some(even)
}

/// Takes only what is written of the middle between two numbers: the digits of the smaller one, a 5, zeros,
/// and the exponent.
struct Middle<'t> {
    digits: &'t [u8],
    five: &'t [u8],
    exponent: &'t [u8],
}

impl Write for Middle<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            let Middle { digits, five, exponent } = self;
            let part = match (digits.is_empty(), five.is_empty()) {
                (false, _) => digits,
                (true, false) => five,
                (true, true) if byte == b'0' && exponent.first() == Some(&b'e') => continue,
                (true, true) => exponent,
            };
            *part = part.strip_prefix(&[byte]).ok_or(fmt::Error)?;
        }
        Ok(())
    }
}

/// Writes a number in the form used by outcomes, texts and listings.
///
/// # Errors
/// Those of the sink.
pub fn write(number: Number, out: &mut impl Write) -> fmt::Result {
    let double = match number {
        Number::Int(int) => return write!(out, "{int}"),
        Number::Double(double) => double,
    };
    let buffer = shortest(double)?;
    let (mantissa, exponent) = buffer.as_str().split_once('e').ok_or(fmt::Error)?;
    let exponent: i32 = exponent.parse().map_err(|_| fmt::Error)?;
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (head, tail) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    out.write_str(sign)?;
    if double == 0.0 {
        return out.write_str("0.0");
    }
    match exponent {
        -5..0 => {
            out.write_str("0.")?;
            for _ in exponent..-1 {
                out.write_char('0')?;
            }
            out.write_str(head)?;
            out.write_str(tail)
        }
        0..16 => positional(head, tail, usize::try_from(exponent).map_err(|_| fmt::Error)?, out),
        _ => {
            out.write_str(head)?;
            if !tail.is_empty() {
                out.write_char('.')?;
                out.write_str(tail)?;
            }
            write!(out, "e{exponent}")
        }
    }
}

/// A double in the form that it has in a text by itself: as an integer if it is whole and below 1e16, where
/// the written form of a double has a point and no exponent.
pub fn in_text(double: f64) -> Number {
    const BELOW: f64 = 1e16;
    if !(-BELOW < double && double < BELOW) {
        return Number::Double(double);
    }
    #[allow(clippy::cast_possible_truncation, reason = "the range was checked; the fraction is to be cut")]
    let whole = double as i64;
    #[allow(clippy::float_cmp, clippy::cast_precision_loss, reason = "whether nothing was cut or rounded")]
    let is_whole = whole as f64 == double;
    if is_whole { Number::Int(whole) } else { Number::Double(double) }
}

/// Writes digits with the point moved `shift` places to the right.
fn positional(head: &str, tail: &str, shift: usize, out: &mut impl Write) -> fmt::Result {
    out.write_str(head)?;
    let (before, after) = tail.split_at_checked(shift).unwrap_or((tail, ""));
    out.write_str(before)?;
    for _ in before.len()..shift {
        out.write_char('0')?;
    }
    out.write_char('.')?;
    out.write_str(if after.is_empty() { "0" } else { after })
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(*self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn shown(text: &str) -> alloc::string::String {
        parse(text).unwrap().to_string()
    }

    #[test]
    fn integers_stay_exact() {
        for text in ["0", "-1", "9007199254740993", "9223372036854775807", "-9223372036854775808"] {
            assert_eq!(shown(text), text);
        }
        assert_eq!(parse("9223372036854775808"), Err(NumberError::Beyond64Bits));
        assert_eq!(parse("-9223372036854775809"), Err(NumberError::Beyond64Bits));
    }

    #[test]
    fn doubles_show_a_point_or_an_exponent() {
        let cases = [
            ("1.0", "1.0"),
            ("-0.0", "-0.0"),
            ("-0", "-0.0"),
            ("1e15", "1000000000000000.0"),
            ("1e16", "1e16"),
            ("1.25e16", "1.25e16"),
            ("0.00001", "0.00001"),
            ("0.000012", "0.000012"),
            ("0.0000099", "9.9e-6"),
            ("123456.789", "123456.789"),
            ("20.5", "20.5"),
            ("1e2", "100.0"),
            ("5e-324", "5e-324"),
            // In the middle between two numbers of 17 digits.
            ("13.362930297851562", "13.362930297851562"),
            ("-8.714248657226563", "-8.714248657226562"),
            ("76150467484057.625", "76150467484057.62"),
            ("13.362930297851564", "13.362930297851564"),
            ("1.7976931348623157e308", "1.7976931348623157e308"),
            ("9007199254740993.0", "9007199254740992.0"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn a_whole_double_in_a_text_has_no_point() {
        let cases = [
            (25.0, "25"),
            (-0.0, "0"),
            (-3.0, "-3"),
            (0.5, "0.5"),
            (9_999_999_999_999_998.0, "9999999999999998"),
            (-9_999_999_999_999_998.0, "-9999999999999998"),
            (1e16, "1e16"),
            (-1e16, "-1e16"),
            (1e300, "1e300"),
        ];
        for (double, expected) in cases {
            assert_eq!(in_text(double).to_string(), expected);
        }
    }

    #[test]
    fn form_is_that_of_json() {
        for text in [
            "", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1", "1 ", " 1", "NaN", "Infinity", "--1",
            "1.2.3",
        ] {
            assert_eq!(parse(text), Err(NumberError::Form), "{text}");
        }
        assert_eq!(parse("1e400"), Err(NumberError::NotFinite));
        assert_eq!(parse("-1e400"), Err(NumberError::NotFinite));
        assert_eq!(parse("1e-400"), Ok(Number::Double(0.0)));
    }
}
