//! The one home of comparing names: the nearest name to a misspelt one.

/// A name that another one most likely means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Near<'n> {
    /// The name.
    pub name: &'n str,
    /// It differs by a typing error, and no other candidate does, so that a fix may write it. A name that is
    /// further away, or as near to another candidate, may be meant for something that does not exist.
    pub sure: bool,
}

/// The name among `candidates` that `name` most likely means, as [`near`] finds it.
pub fn nearest<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    near(name, candidates).map(|near| near.name)
}

/// The name among `candidates` that `name` most likely means: equal except for case, hyphens and underscores,
/// or at most a third of its letters away.
pub fn near<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<Near<'n>> {
    near_in(name, &mut candidates.into_iter())
}

/// Compiled once, not for each kind of candidates.
fn near_in<'n>(name: &str, candidates: &mut dyn Iterator<Item = &'n str>) -> Option<Near<'n>> {
    let wanted: Vec<char> = plain(name).take(LONGEST + 1).collect();
    let word = Word::new(&wanted)?;
    let allowed = (wanted.len() / 3).max(1);
    let mut best: Option<(usize, &'n str)> = None;
    let mut slips = 0_usize;
    for candidate in candidates {
        let Some((distance, length)) = word.distance(plain(candidate)) else { continue };
        if distance > allowed || distance >= wanted.len().max(length) {
            continue;
        }
        slips += usize::from(is_slip(distance, &wanted, candidate));
        best = best.filter(|(least, _)| *least <= distance).or(Some((distance, candidate)));
    }
    best.map(|(distance, name)| Near { name, sure: slips == 1 && is_slip(distance, &wanted, name) })
}

/// Longer words are near to nothing.
const LONGEST: usize = 64;

/// The letters of a name by which it is compared.
fn plain(name: &str) -> impl Iterator<Item = char> + '_ {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ' | '.')).flat_map(lower)
}

fn lower(c: char) -> impl Iterator<Item = char> {
    // The table of all letters costs as much as the comparison.
    let ascii = c.is_ascii().then(|| c.to_ascii_lowercase());
    ascii.into_iter().chain((!c.is_ascii()).then(|| c.to_lowercase()).into_iter().flatten())
}

/// Whether two words of a distance are equal, or differ by an extra letter or by two letters swapped. A
/// letter or digit replaced by another makes another word, and so does an `s` at the end.
fn is_slip(distance: usize, a: &[char], name: &str) -> bool {
    if distance != 1 {
        return distance == 0;
    }
    let b: Vec<char> = plain(name).collect();
    let (short, long) = if a.len() < b.len() { (a, &b[..]) } else { (&b[..], a) };
    if short.len() < 3 {
        return false;
    }
    if short.len() == long.len() {
        return short.iter().zip(long).filter(|(a, b)| a != b).count() == 2;
    }
    let odd = short.iter().zip(long).position(|(a, b)| a != b).unwrap_or(short.len());
    long.get(odd).is_some_and(|c| !c.is_ascii_digit() && (*c != 's' || odd < short.len()))
}

/// Whether two names are equal except for case, hyphens and underscores.
pub(crate) fn same_spelling(a: &str, b: &str) -> bool {
    begin_alike(a, b) && same_letters(a, b)
}

/// Whether two names may be equal so, by their first letters.
#[inline]
fn begin_alike(a: &str, b: &str) -> bool {
    match (a.as_bytes(), b.as_bytes()) {
        ([a, ..], [b, ..]) if a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric() => {
            a.eq_ignore_ascii_case(b)
        }
        _ => true,
    }
}

fn same_letters(a: &str, b: &str) -> bool {
    let letters = |c: &char| !matches!(c, '-' | '_');
    a.chars().filter(letters).flat_map(lower).eq(b.chars().filter(letters).flat_map(lower))
}

/// Whether a text is so near to a name that it was meant to be it: it differs in case, in `-` and `_`, or, in
/// words of four letters or more, by one edit. Of a text that is the name this is false.
pub fn nearly_meets(text: &str, name: &str) -> bool {
    let longer = text.len().abs_diff(name.len());
    // Hyphens and underscores are few, and nearly all names begin with other letters.
    if longer <= 3 && begin_alike(text, name) && text != name && same_letters(text, name) {
        return true;
    }
    // One edit leaves the first letter or the last, so the bytes that begin or end it.
    let (one, other) = (text.as_bytes(), name.as_bytes());
    if one.first() != other.first() && one.last() != other.last() {
        return false;
    }
    let is_ascii = text.is_ascii() && name.is_ascii();
    if longer > if is_ascii { 1 } else { LONGEST } || text == name {
        return false;
    }
    if is_ascii {
        return one_edit(text.as_bytes(), name.as_bytes());
    }
    let letters = |word: &str| word.chars().take(LONGEST + 1).collect::<Vec<char>>();
    one_edit(&letters(text), &letters(name))
}

/// Whether two words of four letters or more differ by one letter more, less or other, or by two that are
/// swapped.
fn one_edit<T: PartialEq>(a: &[T], b: &[T]) -> bool {
    let fits = |word: &[T]| (4..=LONGEST).contains(&word.len());
    if !fits(a) || !fits(b) {
        return false;
    }
    let before = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(before..).unwrap_or_default(), b.get(before..).unwrap_or_default());
    let behind = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(..a.len() - behind), b.get(..b.len() - behind));
    match (a.unwrap_or_default(), b.unwrap_or_default()) {
        ([_], [] | [_]) | ([], [_]) => true,
        ([a, c], [b, d]) => a == d && c == b,
        _ => false,
    }
}

/// A word of at most [`LONGEST`] letters that others are compared with, as one bit a letter: a column of the
/// usual table of distances is a few operations on whole words (Hyyrö, "A Bit-Vector Algorithm for Computing
/// Levenshtein and Damerau Edit Distances", 2003).
struct Word {
    length: usize,
    /// Where each ASCII letter is in the word.
    ascii: [u64; 128],
    others: Vec<(char, u64)>,
}

impl Word {
    /// `None` where the word is too long.
    fn new(letters: &[char]) -> Option<Word> {
        if letters.len() > LONGEST {
            return None;
        }
        let mut word = Word { length: letters.len(), ascii: [0; 128], others: Vec::new() };
        for (place, &letter) in letters.iter().enumerate() {
            match word.ascii.get_mut(letter as usize) {
                Some(places) => *places |= 1 << place,
                None => word.others.push((letter, 1 << place)),
            }
        }
        Some(word)
    }

    fn places(&self, letter: char) -> u64 {
        let others =
            || self.others.iter().filter(|other| other.0 == letter).fold(0, |all, other| all | other.1);
        self.ascii.get(letter as usize).copied().unwrap_or_else(others)
    }

    /// Insertions, deletions, replacements and swaps of neighbours from this word to another, and the length
    /// of that one; `None` where it is too long.
    fn distance(&self, other: impl Iterator<Item = char>) -> Option<(usize, usize)> {
        let last = self.length.checked_sub(1).map_or(0, |place| 1_u64 << place);
        let (mut distance, mut length) = (self.length, 0);
        // Where the distance grows and shrinks from one row to the next, and where the diagonal stays.
        let (mut grows, mut shrinks, mut stays, mut before) = (u64::MAX, 0_u64, 0_u64, 0_u64);
        for letter in other {
            length += 1;
            if length > LONGEST {
                return None;
            }
            let places = self.places(letter);
            let swapped = ((!stays & places) << 1) & before;
            stays = ((places & grows).wrapping_add(grows) ^ grows) | places | shrinks | swapped;
            let (right_grows, right_shrinks) = (shrinks | !(stays | grows), stays & grows);
            distance += usize::from(right_grows & last != 0);
            distance -= usize::from(right_shrinks & last != 0);
            let right_grows = (right_grows << 1) | 1;
            grows = (right_shrinks << 1) | !(stays | right_grows);
            shrinks = right_grows & stays;
            before = places;
        }
        Some((if self.length == 0 { length } else { distance }, length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table itself: insertions, deletions, replacements and swaps of neighbours.
    fn edit_distance(a: &[char], b: &[char]) -> usize {
        let mut before: Vec<usize> = vec![0; b.len() + 1];
        let mut last: Vec<usize> = (0..=b.len()).collect();
        for (i, &x) in a.iter().enumerate() {
            let mut row = vec![i + 1];
            for (j, &y) in b.iter().enumerate() {
                let mut best = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
                if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                    best = best.min(before[j - 1] + 1);
                }
                row.push(best);
            }
            before = std::mem::replace(&mut last, row);
        }
        last[b.len()]
    }

    #[test]
    fn the_distance_is_that_of_the_table() {
        use proptest::prelude::*;
        let letters = || proptest::collection::vec(proptest::sample::select(vec!['a', 'b', 'c', 'é']), 0..12);
        let long = || proptest::collection::vec(proptest::sample::select(vec!['a', 'b', 'é']), 60..=64);
        let pair = prop_oneof![(letters(), letters()), (long(), long())];
        proptest!(|((a, b) in pair)| {
            let found = Word::new(&a).unwrap().distance(b.iter().copied());
            prop_assert_eq!(found, Some((edit_distance(&a, &b), b.len())));
        });
    }

    #[test]
    fn one_edit_is_a_distance_of_one() {
        use proptest::prelude::*;
        let letters = || proptest::collection::vec(proptest::sample::select(vec!['a', 'b', 'é']), 4..8);
        proptest!(|(a in letters(), b in letters())| {
            prop_assert_eq!(one_edit(&a, &b), edit_distance(&a, &b) == 1);
        });
    }

    #[test]
    fn only_a_typing_error_that_meets_one_name_is_sure() {
        let names = [
            "get-user",
            "pay-eur",
            "pay-usd",
            "delete-user",
            "lock-user",
            "item-1",
            "item-2",
            "orders",
            "refund",
        ];
        let sure = |name: &str| near(name, names).filter(|near| near.sure).map(|near| near.name);
        for (slip, name) in [
            ("getUser", "get-user"),
            ("get_user", "get-user"),
            ("get-usr", "get-user"),
            ("get-uesr", "get-user"),
            ("gget-user", "get-user"),
            ("payeur", "pay-eur"),
        ] {
            assert_eq!(sure(slip), Some(name), "{slip}");
        }
        for other in
            ["select-user", "look-user", "item-3", "item", "order", "refunds", "defund", "refuse", "pay-eud"]
        {
            assert_eq!(sure(other), None, "{other}");
        }
        // As near to two.
        assert_eq!(near("payee-", ["payer", "payeee", "payeew"]).map(|near| near.sure), Some(false));
    }

    #[test]
    fn nearest_forgives_case_separators_and_few_letters() {
        let names = ["get-user", "send-email", "verified"];
        assert_eq!(nearest("getUser", names), Some("get-user"));
        assert_eq!(nearest("GET_USER", names), Some("get-user"));
        assert_eq!(nearest("verifed", names), Some("verified"));
        assert_eq!(nearest("sned-email", names), Some("send-email"));
        assert_eq!(nearest("charge", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest("b", ["a"]), None);
    }
}
