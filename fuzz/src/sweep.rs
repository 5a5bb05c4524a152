//! Every single-byte change and every truncation of bytecode: refused, or harmless.

/// Holds [`crate::bodies::bytecode`] to each shortening of a program and to each change of one byte to one of
/// `values`, which is given the byte; says how many there were.
///
/// # Panics
/// When one of them is neither refused nor harmless.
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
