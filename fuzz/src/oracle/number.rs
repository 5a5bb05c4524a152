//! The oracle's arithmetic, and how it writes numbers as text (specification: 1.2).

#![allow(clippy::cast_precision_loss, reason = "the specification asks for the nearest double")]

use ilo_asm::ast::Binary;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use std::cmp::Ordering;

/// The exact order of two numbers; `None` if one of them is not a number (NaN).
pub(super) fn order(a: Number, b: Number) -> Option<Ordering> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
        (Number::Double(a), Number::Double(b)) => a.partial_cmp(&b),
        (Number::Int(int), Number::Double(double)) => Some(against(int, double)),
        (Number::Double(double), Number::Int(int)) => Some(against(int, double).reverse()),
    }
}

/// Compares an integer with a double: whole parts first, then the fraction.
fn against(int: i64, double: f64) -> Ordering {
    let whole = match whole(Number::Double(double.trunc())) {
        Some(whole) => i128::from(int).cmp(&whole),
        None => Ordering::Equal,
    };
    let fraction = double - double.trunc();
    whole.then(0.0.partial_cmp(&fraction).unwrap_or(Ordering::Equal))
}

/// The exact value of a whole number, saturated at 128 bits. A double is converted through its decimal
/// digits.
pub(super) fn whole(number: Number) -> Option<i128> {
    match number {
        Number::Int(int) => Some(int.into()),
        // `-0` does not parse as an integer.
        Number::Double(0.0) => Some(0),
        Number::Double(double) if double.fract() == 0.0 => {
            Some(format!("{double:.0}").parse().unwrap_or(if double > 0.0 { i128::MAX } else { i128::MIN }))
        }
        Number::Double(_) => None,
    }
}

/// ADD, SUB, MUL, DIV and MOD.
pub(super) fn calculate(operator: Binary, a: Number, b: Number) -> Result<Number, Code> {
    if let (Number::Int(a), Number::Int(b)) = (a, b)
        && let Some(exact) = integers(operator, a, b)?
    {
        return Ok(Number::Int(exact));
    }
    let (a, b) = (double(a), double(b));
    let result = match operator {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        _ if b == 0.0 => return Err(Code::FaultDivisionByZero),
        Binary::Div => a / b,
        _ => a % b,
    };
    if result.is_finite() { Ok(Number::Double(result)) } else { Err(Code::FaultNotFinite) }
}

/// The exact result for two integers; `None` if the quotient is not whole.
fn integers(operator: Binary, a: i64, b: i64) -> Result<Option<i64>, Code> {
    // 128 bits hold every sum, difference and product of two integers of 64.
    let (a, b) = (i128::from(a), i128::from(b));
    let exact = match operator {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        _ if b == 0 => return Err(Code::FaultDivisionByZero),
        Binary::Div if a % b != 0 => return Ok(None),
        Binary::Div => a / b,
        _ => a % b,
    };
    i64::try_from(exact).map(Some).map_err(|_| Code::FaultOverflow)
}

fn double(number: Number) -> f64 {
    match number {
        Number::Int(int) => int as f64,
        Number::Double(double) => double,
    }
}

/// Writes a double as text (1.2.10): the fewest digits that read back to it.
pub(super) fn write_double(double: f64) -> String {
    let sign = if double.is_sign_negative() { "-" } else { "" };
    let magnitude = double.abs();
    if magnitude == 0.0 {
        return format!("{sign}0.0");
    }
    let shortest = shortest(magnitude);
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    if !(1e-5..1e16).contains(&magnitude) {
        return format!("{sign}{digits}e{exponent}");
    }
    let digits = digits.replace('.', "");
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let text = match usize::try_from(exponent) {
        Err(_) => format!("0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
        Ok(whole) if digits.len() <= whole + 1 => {
            format!("{digits}{}.0", "0".repeat(whole + 1 - digits.len()))
        }
        Ok(whole) => format!("{}.{}", &digits[..=whole], &digits[whole + 1..]),
    };
    format!("{sign}{text}")
}

/// The fewest digits that read back to a double that is not negative, as `d.ddde-7`; of two such numbers that
/// are equally near, the one with the even last digit.
pub(super) fn shortest(magnitude: f64) -> String {
    let text = format!("{magnitude:e}");
    let exact = format!("{magnitude:.800e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exact = exact.split_once('e').map_or("", |(digits, _)| digits.trim_end_matches('0'));
    let (rest, last) = digits.split_at(digits.len() - 1);
    let last: u32 = last.parse().unwrap_or(0);
    if last % 2 == 1 {
        let even = format!("{rest}{}", last - 1);
        let reads_back = format!("{even}e{exponent}").parse() == Ok(magnitude);
        if reads_back && exact == format!("{even}5") {
            return format!("{even}e{exponent}");
        }
    }
    text
}

/// A double that is rendered by itself (1.6.3): a whole one below 1e16 has no point, and zero no sign.
pub(super) fn text_of_double(double: f64) -> String {
    let written = write_double(double);
    match written.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_as_the_rules_say() {
        let cases = [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (123.456, "123.456"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e16"),
            (9.9e-6, "9.9e-6"),
            (1e-5, "0.00001"),
            (1.25e-4, "0.000125"),
            (4_503_599_627_370_496.0, "4503599627370496.0"),
            (1.5e300, "1.5e300"),
            (-1e22, "-1e22"),
            (5e-324, "5e-324"),
        ];
        for (double, text) in cases {
            assert_eq!(write_double(double), text);
        }
    }

    #[test]
    fn integers_and_doubles_compare_exactly() {
        let cases = [
            (9_007_199_254_740_993, 9_007_199_254_740_992.0, Ordering::Greater),
            (9_007_199_254_740_992, 9_007_199_254_740_992.0, Ordering::Equal),
            (0, -0.0, Ordering::Equal),
            (1, 1.5, Ordering::Less),
            (-1, -1.5, Ordering::Greater),
            (i64::MAX, 9_223_372_036_854_775_808.0, Ordering::Less),
            (i64::MIN, -9_223_372_036_854_775_808.0, Ordering::Equal),
            (i64::MAX, 1e300, Ordering::Less),
            (i64::MIN, -1e300, Ordering::Greater),
        ];
        for (int, double, expected) in cases {
            assert_eq!(order(Number::Int(int), Number::Double(double)), Some(expected), "{int} {double}");
        }
    }
}
