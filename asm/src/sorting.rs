//! Stable sorts that share one copy of the sort of the standard library.
//!
//! The standard library compiles its sort again for each type and each comparison: 6 kB in a WebAssembly
//! module. Here each comparison is an indirect call. This is for lists that are short, or are sorted once.

use core::cmp::Ordering;

/// Sorts numbers, such as indexes of a list, by a comparison of the items that they number.
pub fn sort_numbers(numbers: &mut [u32], compare: &dyn Fn(u32, u32) -> Ordering) {
    numbers.sort_by(|&a, &b| compare(a, b));
}

/// Sorts a list. Past 2^32 items, the rest is not sorted.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if items.len() < 2 {
        return;
    }
    let mut order: Vec<u32> = (0..u32::MAX).take(items.len()).collect();
    sort_numbers(&mut order, &|a, b| match (items.get(a as usize), items.get(b as usize)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    });
    arrange(&mut order, &mut |a, b| items.swap(a, b));
}

/// Sorts a list by keys.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Moves items to their places: `order` has the present place of each. It follows each cycle of the
/// permutation once.
fn arrange(order: &mut [u32], swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        let mut at = start;
        while let Some(place) = order.get_mut(at) {
            let from = core::mem::replace(place, u32::try_from(at).unwrap_or(u32::MAX)) as usize;
            if from == start {
                break;
            }
            swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{sort_by, sort_by_key};

    #[test]
    fn lists_are_sorted_as_by_the_standard_library() {
        let mut state = 7_u32;
        for length in (0..70).chain([1_000, 5_000]) {
            let mut items: Vec<(u32, String)> = (0..length)
                .map(|at: u32| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 24, at.to_string())
                })
                .collect();
            let (mut standard, mut descending) = (items.clone(), items.clone());
            standard.sort_by_key(|it| it.0);
            sort_by_key(&mut items, |it| it.0);
            assert_eq!(items, standard);
            standard.sort_by(|a, b| b.cmp(a));
            sort_by(&mut descending, |a, b| b.cmp(a));
            assert_eq!(descending, standard);
        }
    }
}
