//! Sorted lists as sets and maps. Each kind has much less code than a tree, and a union takes linear time.

/// A map in the order of its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Map<K, V>(Vec<(K, V)>);

impl<K, V> Default for Map<K, V> {
    fn default() -> Map<K, V> {
        Map(Vec::new())
    }
}

impl<K: Ord, V> Map<K, V> {
    /// A map of one entry.
    pub(super) fn of(key: K, value: V) -> Map<K, V> {
        Map(vec![(key, value)])
    }

    fn find(&self, key: &K) -> Result<usize, usize> {
        self.0.binary_search_by(|(found, _)| found.cmp(key))
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.find(key).ok().map(|at| &self.0[at].1)
    }

    /// The value of a key, which is added if it is not there.
    pub(super) fn entry(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let at = self.find(&key).unwrap_or_else(|at| {
            self.0.insert(at, (key, V::default()));
            at
        });
        &mut self.0[at].1
    }

    /// Joins each value of another map to the one of its key, which is added if it is not there. Takes linear
    /// time.
    pub(super) fn join(&mut self, other: &Map<K, V>, join: impl Fn(&mut V, &V))
    where
        K: Clone,
        V: Default,
    {
        let mut joined = Vec::with_capacity(self.0.len() + other.0.len());
        let mut mine = std::mem::take(&mut self.0).into_iter().peekable();
        for (key, value) in &other.0 {
            joined.extend(std::iter::from_fn(|| mine.next_if(|(mine, _)| mine < key)));
            let mut entry =
                mine.next_if(|(mine, _)| mine == key).unwrap_or_else(|| (key.clone(), V::default()));
            join(&mut entry.1, value);
            joined.push(entry);
        }
        joined.extend(mine);
        self.0 = joined;
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, (K, V)> {
        self.0.iter()
    }

    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, (K, V)> {
        self.0.iter_mut()
    }

    /// The map with the same keys and other values.
    pub(super) fn mapped<W>(&self, value: impl Fn(&V) -> W) -> Map<K, W>
    where
        K: Clone,
    {
        Map(self.0.iter().map(|(key, old)| (key.clone(), value(old))).collect())
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&V) -> bool) {
        self.0.retain(|(_, value)| keep(value));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Adds what another sorted list has, and this one lacks. Takes linear time, less if the other list is much
/// shorter.
pub(super) fn unite<T: Ord + Copy>(set: &mut Vec<T>, other: &[T]) {
    if other.len() * 16 < set.len() {
        for item in other {
            set.binary_search(item).unwrap_or_else(|at| {
                set.insert(at, *item);
                at
            });
        }
        return;
    }
    let mut united = Vec::with_capacity(set.len() + other.len());
    let mut mine = set.iter().copied().peekable();
    for &item in other {
        united.extend(std::iter::from_fn(|| mine.next_if(|&mine| mine < item)));
        mine.next_if_eq(&item);
        united.push(item);
    }
    united.extend(mine);
    *set = united;
}

/// Whether another sorted list has all of this one.
pub(super) fn is_subset<T: Ord>(set: &[T], other: &[T]) -> bool {
    set.iter().all(|item| other.binary_search(item).is_ok())
}

#[cfg(test)]
mod tests {
    use super::{Map, is_subset, unite};
    use std::collections::{BTreeMap, BTreeSet};

    /// Small sets of small numbers, all of them.
    fn sets() -> impl Iterator<Item = Vec<u8>> {
        (0..32_u8).map(|bits| (0..5).filter(|bit| bits & (1 << bit) != 0).collect())
    }

    #[test]
    fn sets_are_as_those_of_the_standard_library() {
        for a in sets() {
            for b in sets() {
                let (tree, other): (BTreeSet<u8>, BTreeSet<u8>) =
                    (a.iter().copied().collect(), b.iter().copied().collect());
                assert_eq!(is_subset(&a, &b), tree.is_subset(&other), "{a:?} {b:?}");
                let mut united = a.clone();
                unite(&mut united, &b);
                assert!(united.iter().eq(tree.union(&other)), "{a:?} {b:?}");
                // A long list, into which the other is inserted.
                let mut long: Vec<u8> = a.iter().copied().chain(100..200).collect();
                unite(&mut long, &b);
                assert!(long.iter().eq(united.iter().chain(&(100..200).collect::<Vec<u8>>())), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn maps_are_as_those_of_the_standard_library() {
        for a in sets() {
            for b in sets() {
                let (mut map, mut tree) = (Map::default(), BTreeMap::new());
                for &key in a.iter().rev() {
                    *map.entry(key) += 10;
                    *tree.entry(key).or_insert(0) += 10;
                }
                let (mut other, mut others) = (Map::default(), BTreeMap::new());
                for &key in &b {
                    *other.entry(key) = u32::from(key);
                    others.insert(key, u32::from(key));
                }
                map.join(&other, |mine, other| *mine += other);
                others.iter().for_each(|(&key, value)| *tree.entry(key).or_insert(0) += value);
                assert!(map.iter().map(|(key, value)| (key, value)).eq(tree.iter()), "{a:?} {b:?}");
                for key in 0..6 {
                    assert_eq!(map.get(&key), tree.get(&key), "{a:?} {b:?}");
                }
            }
        }
    }
}
