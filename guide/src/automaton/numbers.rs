//! The form of numbers: which digits may follow which.

use ilo_spec::number;

/// Digits of a number before its point, after it, and in its exponent. With that many before its point, these
/// alone must be an integer of 64 bits.
pub(crate) const WHOLE: usize = 19;
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

/// The digits that may follow a text; `None` if it does not begin a number within the limits.
pub(crate) fn room(text: &[u8]) -> Option<Room> {
    let digits = |from: &[u8]| from.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    let most = if rest.first() == Some(&b'0') { 1 } else { WHOLE };
    let left = most.checked_sub(whole)?;
    let mut rest = rest.get(whole..)?;
    if whole == WHOLE {
        let integer = text.get(..text.len() - rest.len())?;
        core::str::from_utf8(integer).ok().and_then(|integer| number::parse(integer).ok())?;
    }
    if rest.is_empty() {
        return Some(if whole == 0 { Room::First } else { Room::More(left) });
    }
    if whole == 0 {
        return None;
    }
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        rest = fraction.get(count..)?;
        let left = FRACTION.checked_sub(count)?;
        if rest.is_empty() {
            return Some(Room::More(left));
        }
        if count == 0 {
            return None;
        }
    }
    let exponent = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E"))?;
    let exponent = exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-")).unwrap_or(exponent);
    let count = digits(exponent);
    if count < exponent.len() { None } else { EXPONENT.checked_sub(count).map(Room::Exponent) }
}
