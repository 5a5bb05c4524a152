//! Exact decimals by their digits, for ROUND, FIXED and ISO (specification: 12.10, 12.14).

use super::number::shortest;
use ilo_spec::program::Number;

/// The digits of a whole number, and how many of them are decimal places. Both may be as long as they like.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decimal {
    negative: bool,
    digits: String,
    places: i64,
}

impl Decimal {
    /// An integer, or the shortest decimal that reads back as a double.
    pub(super) fn of(number: Number) -> Decimal {
        let text = match number {
            Number::Int(int) => int.to_string(),
            Number::Double(double) if double.is_sign_negative() => format!("-{}", shortest(-double)),
            Number::Double(double) => shortest(double),
        };
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent: i64 = exponent.parse().unwrap_or(0);
        let places = i64::try_from(fraction.len()).unwrap_or(0) - exponent;
        let digits = whole.trim_start_matches('-').to_owned() + fraction;
        Decimal { negative: whole.starts_with('-'), digits, places }
    }

    /// Rounded to decimal places, halves away from zero; unchanged if it has no more.
    pub(super) fn rounded(mut self, places: i128) -> Decimal {
        let dropped = i128::from(self.places).saturating_sub(places);
        if dropped <= 0 {
            return self;
        }
        let Some(dropped) = usize::try_from(dropped).ok().filter(|&dropped| dropped <= self.digits.len())
        else {
            // Less than a tenth of the last place.
            return Decimal { negative: self.negative, digits: "0".to_owned(), places: 0 };
        };
        let rest = self.digits.split_off(self.digits.len() - dropped);
        if rest.starts_with(|first: char| first >= '5') {
            let nines = self.digits.len() - self.digits.trim_end_matches('9').len();
            let mut kept = self.digits[..self.digits.len() - nines].to_owned();
            let last = kept.pop().and_then(|last| last.to_digit(10)).unwrap_or(0);
            kept.push_str(&(last + 1).to_string());
            self.digits = kept + &"0".repeat(nines);
        }
        if self.digits.is_empty() {
            self.digits.push('0');
        }
        self.places = places.try_into().unwrap_or(0);
        self
    }

    fn is_zero(&self) -> bool {
        self.digits.chars().all(|digit| digit == '0')
    }

    /// The value times ten to a power, if that is whole and fits in 128 bits.
    pub(super) fn scaled(&self, power: i64) -> Option<i128> {
        if self.is_zero() {
            return Some(0);
        }
        let zeros = usize::try_from(power - self.places).ok().filter(|&zeros| zeros < 400)?;
        let size: i128 = (self.digits.clone() + &"0".repeat(zeros)).parse().ok()?;
        Some(if self.negative { -size } else { size })
    }

    /// The nearest double, which keeps the sign of a zero.
    pub(super) fn double(&self) -> f64 {
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}e{}", self.digits, -self.places).parse().unwrap_or(f64::NAN)
    }

    /// Written with this number of decimal places, to which it has been rounded. Zero has no sign.
    pub(super) fn fixed(&self, places: usize) -> String {
        let missing = i64::try_from(places).unwrap_or(0) - self.places;
        let digits = self.digits.clone() + &"0".repeat(usize::try_from(missing).unwrap_or(0));
        let digits = format!("{digits:0>width$}", width = places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        let whole = match whole.trim_start_matches('0') {
            "" => "0",
            whole => whole,
        };
        let sign = if self.negative && !self.is_zero() { "-" } else { "" };
        let point = if places > 0 { "." } else { "" };
        format!("{sign}{whole}{point}{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_away_from_zero() {
        for (double, places, expected) in [
            (2.675, 2, "2.68"),
            (-2.675, 2, "-2.68"),
            (0.5, 0, "1"),
            (-0.5, 0, "-1"),
            (0.05, 0, "0"),
            (9.995, 2, "10.00"),
            (99.5, 0, "100"),
            (1e300, 0, &("1".to_owned() + &"0".repeat(300))),
            (5e-324, 20, "0.00000000000000000000"),
            (-0.04, 1, "0.0"),
            (1250.0, 2, "1250.00"),
        ] {
            let rounded = Decimal::of(Number::Double(double)).rounded(places);
            assert_eq!(rounded.fixed(usize::try_from(places).unwrap()), expected, "{double}");
        }
        for (int, places, expected) in
            [(1250, -2, 1300), (-1250, -2, -1300), (49, -2, 0), (50, -2, 100), (7, -9, 0)]
        {
            assert_eq!(Decimal::of(Number::Int(int)).rounded(places).scaled(0), Some(expected), "{int}");
        }
        assert_eq!(Decimal::of(Number::Int(i64::MAX)).rounded(-1).scaled(0), Some(9_223_372_036_854_775_810));
    }
}
