//! How numbers are written: which digits may follow which.

/// Digits of a number before its point, behind it, and in its exponent. Some integers of 19 digits are none.
const WHOLE: usize = 18;
const FRACTION: usize = 17;
const EXPONENT: usize = 3;
/// Digits of an integer within a range.
const RANGED: usize = 15;

/// Whether digits begin an integer within a range.
pub(crate) fn integer_within(text: &str, low: i64, high: i64) -> bool {
    if text == "-" {
        return low < 0;
    }
    let negative = text.starts_with('-');
    let digits = text.trim_start_matches('-');
    if digits.is_empty() || digits.len() > RANGED || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let Ok(value) = digits.parse::<i64>() else { return false };
    if digits.starts_with('0') {
        return digits.len() == 1 && low <= 0 && 0 <= high && !negative;
    }
    let (mut least, mut most) = (value, value);
    for _ in digits.len()..=RANGED {
        let (from, to) = if negative { (-most, -least) } else { (least, most) };
        if from <= high && to >= low {
            return true;
        }
        least = least.saturating_mul(10);
        most = most.saturating_mul(10).saturating_add(9);
    }
    false
}

/// Whether a text begins a number within the limits of digits; if so, whether a digit may follow.
pub(crate) fn number_form(text: &[u8]) -> Option<bool> {
    let digits = |from: &[u8]| from.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    let zero = rest.first() == Some(&b'0');
    if whole > WHOLE || (zero && whole > 1) {
        return None;
    }
    let mut rest = rest.get(whole..)?;
    if rest.is_empty() {
        return Some(whole == 0 || (!zero && whole < WHOLE));
    }
    if whole == 0 {
        return None;
    }
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        rest = fraction.get(count..)?;
        if count > FRACTION {
            return None;
        }
        if rest.is_empty() {
            return Some(count < FRACTION);
        }
        if count == 0 {
            return None;
        }
    }
    let exponent = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E"))?;
    let exponent = exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-")).unwrap_or(exponent);
    let count = digits(exponent);
    (count == exponent.len() && count <= EXPONENT).then_some(count < EXPONENT)
}

/// How many digits may follow a number without an exponent that is written so far: before its point if it has
/// none, else behind it. `None` where more than digits counts.
pub(crate) fn digits_left(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(b"-").unwrap_or(text);
    if let Some(point) = rest.iter().position(|&byte| byte == b'.') {
        let fraction = rest.get(point + 1..)?;
        return fraction.iter().all(u8::is_ascii_digit).then(|| FRACTION.saturating_sub(fraction.len()));
    }
    match rest.first() {
        None => None,
        Some(_) if !rest.iter().all(u8::is_ascii_digit) => None,
        Some(b'0') => Some(0),
        Some(_) => Some(WHOLE.saturating_sub(rest.len())),
    }
}

/// The most digits before the point.
pub(crate) const MOST_WHOLE: usize = WHOLE;
