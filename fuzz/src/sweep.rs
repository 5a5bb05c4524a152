//! Tries every change of one byte and every truncation of bytecode: each is refused, or harmless.

/// Runs [`crate::bodies::bytecode`] on each truncation of a program and on each change of one byte to one of
/// the `values` for that byte. Returns how many there were.
///
/// # Panics
/// If one of them is neither refused nor harmless.
pub fn sweep<V: IntoIterator<Item = u8>>(bytes: &[u8], values: impl Fn(u8) -> V) -> u64 {
    let mut tried = 0;
    let mut changed = bytes.to_vec();
    for (at, &byte) in bytes.iter().enumerate() {
        crate::bodies::bytecode(&bytes[..at]);
        tried += 1;
        for value in values(byte).into_iter().filter(|&value| value != byte) {
            changed[at] = value;
            crate::bodies::bytecode(&changed);
            tried += 1;
        }
        changed[at] = byte;
    }
    tried
}
