//! Conversions between integers and doubles, and their exact comparison.

use core::cmp::Ordering;

/// The double nearest to an integer.
#[inline]
#[allow(clippy::cast_precision_loss, reason = "the nearest double is what the language asks for")]
pub(crate) fn nearest(int: i64) -> f64 {
    int as f64
}

/// The integer equal to a double, if there is one.
pub(crate) fn integral(double: f64) -> Option<i64> {
    let int = truncated(double)?;
    #[allow(clippy::float_cmp, reason = "whether the truncated value is the value itself")]
    let whole = nearest(int) == double;
    whole.then_some(int)
}

/// The integer part of a double, if it fits in 64 bits.
pub(crate) fn truncated(double: f64) -> Option<i64> {
    // -2^63 is exact as a double, and so is 2^63.
    const LEAST: f64 = -9_223_372_036_854_775_808.0;
    if !(LEAST..-LEAST).contains(&double) {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, reason = "the range was checked; the fraction is to be cut")]
    Some(double as i64)
}

/// Compares an integer with a finite double, exactly.
pub(crate) fn compare_exactly(int: i64, double: f64) -> Ordering {
    match truncated(double) {
        None if double < 0.0 => Ordering::Greater,
        None => Ordering::Less,
        Some(whole) => int.cmp(&whole).then_with(|| {
            // The fraction that was cut off. It is exact: a double with a fraction is below 2^53.
            let fraction = double - nearest(whole);
            0.0_f64.partial_cmp(&fraction).unwrap_or(Ordering::Equal)
        }),
    }
}
