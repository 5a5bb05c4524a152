//! The shortest decimal of a double, and rounding to decimal places.

use crate::number::nearest;
use alloc::string::String;
use core::fmt::Write;
use ilo_spec::number::shortest;
use ilo_spec::program::Number;

/// Digits that the shortest decimal of a double may have, and one that a carry adds.
const MOST: usize = 18;

/// A decimal: the digits `d.ddd` times ten to the power `exponent`. Zero has no digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    digits: [u8; MOST],
    count: usize,
    exponent: i32,
}

/// Collects the digits of a formatted number.
struct Collect<'d>(&'d mut Decimal, Option<(bool, i32)>);

impl Write for Collect<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for byte in text.bytes() {
            match (byte, &mut self.1) {
                (b'e', none @ None) => *none = Some((false, 0)),
                (b'-', Some((negative, _))) => *negative = true,
                (b'-', None) => self.0.negative = true,
                (b'0'..=b'9', Some((_, exponent))) => *exponent = 10 * *exponent + i32::from(byte - b'0'),
                (b'0'..=b'9', None) => {
                    if let Some(place) = self.0.digits.get_mut(self.0.count) {
                        *place = byte - b'0';
                        self.0.count += 1;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Decimal {
    /// The shortest decimal that reads back as the double.
    pub(crate) fn of(double: f64) -> Decimal {
        let mut decimal = Decimal { negative: false, digits: [0; MOST], count: 0, exponent: 0 };
        let mut collect = Collect(&mut decimal, None);
        if let Ok(digits) = shortest(double) {
            let _ = collect.write_str(digits.as_str());
        }
        let exponent =
            collect.1.map_or(0, |(negative, exponent)| if negative { -exponent } else { exponent });
        decimal.exponent = exponent;
        if double == 0.0 {
            decimal.count = 0;
        }
        decimal
    }

    /// Rounds to decimal places, which may be negative; halves go away from zero.
    pub(crate) fn round(&mut self, places: i64) {
        let keep = i64::from(self.exponent).saturating_add(places).saturating_add(1);
        if keep < 0 {
            // Less than half of the last place.
            self.count = 0;
            return;
        }
        // A position that does not fit in a `usize` is beyond all digits.
        let Some(keep) = usize::try_from(keep).ok().filter(|&keep| keep < self.count) else { return };
        let up = self.digits[keep] >= 5;
        self.count = keep;
        if !up {
            return self.drop_zeros();
        }
        while let Some(last) = self.count.checked_sub(1) {
            if self.digits[last] < 9 {
                self.digits[last] += 1;
                return;
            }
            self.count = last;
        }
        // All digits were nines, or there was none.
        self.digits[0] = 1;
        self.count = 1;
        self.exponent += 1;
    }

    fn drop_zeros(&mut self) {
        while self.count > 0 && self.digits[self.count - 1] == 0 {
            self.count -= 1;
        }
    }

    /// The nearest double.
    pub(crate) fn to_double(self) -> f64 {
        let mut text = String::new();
        if self.negative {
            text.push('-');
        }
        text.push('0');
        text.push('.');
        for &digit in &self.digits[..self.count] {
            text.push(char::from(b'0' + digit));
        }
        text.push('0');
        let _ = write!(text, "e{}", self.exponent + 1);
        text.parse().unwrap_or(0.0)
    }

    /// The digits as an integer times ten to the power `scale`, cut off below that; `None` if it is too
    /// large.
    pub(crate) fn scaled(&self, scale: u32) -> Option<i128> {
        let mut value: i128 = 0;
        let scale = i32::try_from(scale).ok()?;
        let last = self.exponent.checked_add(scale)?;
        if self.count == 0 || last < 0 {
            return Some(0);
        }
        if last > 36 {
            return None;
        }
        for place in 0..=usize::try_from(last).ok()? {
            let digit = self.digits[..self.count].get(place).copied().unwrap_or(0);
            value = value.checked_mul(10)?.checked_add(digit.into())?;
        }
        Some(if self.negative { -value } else { value })
    }

    /// Writes it with `places` decimal places. It must be rounded to this number already. Zero has no sign.
    pub(crate) fn write_fixed(&self, places: usize, out: &mut String) {
        if self.negative && self.count > 0 {
            out.push('-');
        }
        let digit = |place: i64| {
            let index = usize::try_from(i64::from(self.exponent) - place).ok();
            let digit = index.and_then(|index| self.digits[..self.count].get(index));
            char::from(b'0' + digit.copied().unwrap_or(0))
        };
        let top = if self.count == 0 { 0 } else { i64::from(self.exponent.max(0)) };
        (0..=top).rev().for_each(|place| out.push(digit(place)));
        if places > 0 {
            out.push('.');
        }
        (1..=places as u64).for_each(|place| out.push(digit(-place.cast_signed())));
    }
}

/// The integer rounded to `places`, which is negative; `None` beyond 64 bits.
fn round_integer(int: i64, places: i64) -> Option<i64> {
    let zeros = u32::try_from(places.saturating_neg()).ok().filter(|&zeros| zeros < 20);
    // Less than half a unit of this place.
    let Some(zeros) = zeros else { return Some(0) };
    let unit = 10_i128.pow(zeros);
    let size = (i128::from(int).abs() + unit / 2) / unit * unit;
    i64::try_from(if int < 0 { -size } else { size }).ok()
}

/// A number rounded to decimal places; an integer if there are none. `None` if that is beyond 64 bits.
pub(crate) fn round(number: Number, places: i64) -> Option<Number> {
    match number {
        Number::Int(int) if places >= 0 => Some(Number::Int(int)),
        Number::Int(int) => round_integer(int, places).map(Number::Int),
        Number::Double(double) => {
            let mut decimal = Decimal::of(double);
            decimal.round(places);
            if places > 0 {
                return Some(Number::Double(decimal.to_double()));
            }
            i64::try_from(decimal.scaled(0)?).ok().map(Number::Int)
        }
    }
}

/// Writes a number with `places` decimal places.
pub(crate) fn write_fixed(number: Number, places: usize, out: &mut String) {
    match number {
        Number::Int(int) => {
            let _ = write!(out, "{int}");
            if places > 0 {
                out.push('.');
            }
            (0..places).for_each(|_| out.push('0'));
        }
        Number::Double(double) => {
            let mut decimal = Decimal::of(double);
            decimal.round(i64::try_from(places).unwrap_or(i64::MAX));
            decimal.write_fixed(places, out);
        }
    }
}

/// A decimal number of units of 10^-18 as the nearest double.
pub(crate) fn from_attos(attos: i128) -> f64 {
    let size = attos.unsigned_abs();
    let unit = 10_u128.pow(18);
    let mut text = String::new();
    if attos < 0 {
        text.push('-');
    }
    let _ = write!(text, "{}.{:018}", size / unit, size % unit);
    text.parse().unwrap_or_else(|_| nearest(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_rounded_as_they_are_written() {
        let double = Number::Double;
        for (number, places, expected) in [
            (double(2.675), 2, double(2.68)),
            (double(1.005), 2, double(1.01)),
            (double(0.5), 0, Number::Int(1)),
            (double(-0.5), 0, Number::Int(-1)),
            (double(0.49), 0, Number::Int(0)),
            (double(2.5), 0, Number::Int(3)),
            (double(-2.5), 0, Number::Int(-3)),
            (double(99.995), 2, double(100.0)),
            (double(9.99), 1, double(10.0)),
            (double(1234.5), -2, Number::Int(1200)),
            (double(1250.0), -2, Number::Int(1300)),
            (double(49.0), -2, Number::Int(0)),
            (double(50.0), -2, Number::Int(100)),
            (double(12.0), 1, double(12.0)),
            (double(1e-7), 3, double(0.0)),
            (double(5e-324), 400, double(5e-324)),
            (double(1.5), i64::MAX, double(1.5)),
            (double(1.5), i64::MIN, Number::Int(0)),
            (double(0.0), 2, double(0.0)),
            (double(9_007_199_254_740_993.0), 0, Number::Int(9_007_199_254_740_992)),
            (Number::Int(5), 3, Number::Int(5)),
            (Number::Int(15), -1, Number::Int(20)),
            (Number::Int(-15), -1, Number::Int(-20)),
            (Number::Int(14), -1, Number::Int(10)),
            (Number::Int(7), -1, Number::Int(10)),
            (Number::Int(7), -2, Number::Int(0)),
            (Number::Int(i64::MIN), i64::MIN, Number::Int(0)),
        ] {
            assert_eq!(round(number, places), Some(expected), "{number} {places}");
        }
        assert_eq!(round(double(1e19), 0), None);
        assert_eq!(round(double(1e300), -3), None);
        assert_eq!(round(Number::Int(i64::MAX), -1), None);
        assert_eq!(round(Number::Int(i64::MAX), -19), None);
        let Some(Number::Double(zero)) = round(double(-0.04), 1) else { panic!("a double") };
        assert!(zero == 0.0 && zero.is_sign_negative());
    }

    #[test]
    fn fixed_places_are_all_written() {
        for (number, places, expected) in [
            (Number::Double(2.675), 2, "2.68"),
            (Number::Double(-0.001), 2, "0.00"),
            (Number::Double(-0.005), 2, "-0.01"),
            (Number::Double(0.1), 20, "0.10000000000000000000"),
            (Number::Double(1e21), 1, "1000000000000000000000.0"),
            (Number::Double(999.5), 0, "1000"),
            (Number::Double(0.0), 0, "0"),
            (Number::Double(-0.0), 1, "0.0"),
            (Number::Double(123.456), 1, "123.5"),
            (Number::Int(-7), 2, "-7.00"),
            (Number::Int(7), 0, "7"),
        ] {
            let mut text = String::new();
            write_fixed(number, places, &mut text);
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn attos_are_the_nearest_double() {
        assert_eq!(from_attos(1_500_000_000_000_000_000).to_bits(), 1.5_f64.to_bits());
        assert_eq!(from_attos(-100_000_000_000_000_000).to_bits(), (-0.1_f64).to_bits());
    }
}
