//! Tries every change of one byte and every truncation of an input: each is refused, or harmless.

/// Runs the body of a fuzz target on each truncation of an input and on each change of one byte to one of the
/// `values` for that byte, from the byte at `first` on. Returns how many there were.
///
/// # Panics
/// If one of them is neither refused nor harmless.
pub fn sweep<V: IntoIterator<Item = u8>>(
    body: fn(&[u8]),
    bytes: &[u8],
    first: usize,
    values: impl Fn(u8) -> V,
) -> u64 {
    let mut tried = 0;
    let mut changed = bytes.to_vec();
    for (at, &byte) in bytes.iter().enumerate().skip(first) {
        body(&bytes[..at]);
        tried += 1;
        for value in values(byte).into_iter().filter(|&value| value != byte) {
            changed[at] = value;
            body(&changed);
            tried += 1;
        }
        changed[at] = byte;
    }
    tried
}
