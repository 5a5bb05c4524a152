//! The form of numbers: which digits may follow which.

/// Digits of a number before its point, after it, and in its exponent. Some integers of 19 digits exceed 64
/// bits.
const WHOLE: usize = 18;
const FRACTION: usize = 17;
const EXPONENT: usize = 3;
/// Digits of an integer within a range.
const RANGED: usize = 15;

/// The sign and digits of an unfinished integer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    negative: bool,
    /// Whether its first digit is a zero, which no other digit follows.
    zero: bool,
    value: i64,
    count: usize,
}

impl Begun {
    /// `None` if the text does not begin an integer.
    pub(crate) fn of(text: &[u8]) -> Option<Begun> {
        let digits = text.strip_prefix(b"-");
        let begun = Begun { negative: digits.is_some(), zero: false, value: 0, count: 0 };
        digits.unwrap_or(text).iter().try_fold(begun, |begun, byte| match byte {
            b'0'..=b'9' if begun.count < RANGED => Some(begun.with(byte - b'0')),
            _ => None,
        })
    }

    /// Adds a digit.
    pub(crate) fn with(self, digit: u8) -> Begun {
        let value = self.value.saturating_mul(10).saturating_add(digit.into());
        let zero = self.zero || (self.count == 0 && digit == 0);
        Begun { zero, value, count: self.count + 1, ..self }
    }

    /// Whether this begins an integer within a range.
    pub(crate) fn may_be_within(self, low: i64, high: i64) -> bool {
        match self.count {
            0 => !self.negative || low < 0,
            1 if self.zero => low <= 0 && 0 <= high && !self.negative,
            _ => !self.zero && self.grows_into(low, high),
        }
    }

    fn grows_into(self, low: i64, high: i64) -> bool {
        let (mut least, mut most) = (self.value, self.value);
        (self.count..=RANGED).any(|_| {
            let (from, to) = if self.negative { (-most, -least) } else { (least, most) };
            least = least.saturating_mul(10);
            most = most.saturating_mul(10).saturating_add(9);
            from <= high && to >= low
        })
    }
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

/// The digits that may follow an unfinished number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// Its first.
    First,
    /// This number of digits before the point, or after it.
    More(usize),
    /// This number of digits of the exponent.
    Exponent(usize),
}

/// Which digits may follow the beginning of a number.
pub(crate) fn room(text: &[u8]) -> Room {
    let rest = text.strip_prefix(b"-").unwrap_or(text);
    if let Some(at) = rest.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        let exponent = rest.get(at + 1..).unwrap_or_default();
        return Room::Exponent(EXPONENT.saturating_sub(digits_in(exponent)));
    }
    if let Some(point) = rest.iter().position(|&byte| byte == b'.') {
        return Room::More(FRACTION.saturating_sub(rest.len() - point - 1));
    }
    match rest.first() {
        None => Room::First,
        Some(b'0') => Room::More(0),
        Some(_) => Room::More(WHOLE.saturating_sub(rest.len())),
    }
}

/// The number of digits of a text.
pub(crate) fn digits_in(text: &[u8]) -> usize {
    text.iter().filter(|byte| byte.is_ascii_digit()).count()
}

/// The most digits before the point.
pub(crate) const MOST_WHOLE: usize = WHOLE;
/// Different numbers with this many digits are never the same double.
pub(crate) const EXACT: usize = 15;
