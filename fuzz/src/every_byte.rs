//! Tries every change of one byte, every truncation and splices at every byte of an input: each is refused,
//! or harmless.

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

/// Numbers as varints, for lengths, counts, registers and targets: just above what a byte, two bytes and 32
/// bits hold, the largest of 32 and of 64 bits, one that is too long, and one that does not end.
const NUMBERS: [&[u8]; 7] = [
    &[0x80, 0x02],
    &[0x80, 0x80, 0x04],
    &[0xff, 0xff, 0xff, 0xff, 0x0f],
    &[0x80, 0x80, 0x80, 0x80, 0x10],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
];
/// How many bytes are left out, or repeated.
const PARTS: [usize; 3] = [1, 2, 8];

/// How many splices there are at each byte.
pub const SPLICES: usize = NUMBERS.len() + 2 * PARTS.len() + 1;

/// Runs the body of a fuzz target on splices of an input at each byte from `first` on: another number in
/// place of the byte, a part left out, a part repeated, and the end of another input. `chosen` says which of
/// the [`SPLICES`] are tried at a byte. Returns how many there were.
///
/// # Panics
/// If one of them is neither refused nor harmless.
pub fn splices(
    body: fn(&[u8]),
    bytes: &[u8],
    first: usize,
    other: &[u8],
    chosen: impl Fn(usize, usize) -> bool,
) -> u64 {
    let mut tried = 0;
    for at in first..bytes.len() {
        let (before, rest) = bytes.split_at(at);
        let end = |length: usize| rest.get(length..).unwrap_or_default();
        let part = |length: usize| rest.get(..length).unwrap_or(rest);
        let numbers = NUMBERS.iter().map(|&number| [number, end(1)]);
        let left_out = PARTS.iter().map(|&length| [&[][..], end(length)]);
        let repeated = PARTS.iter().map(|&length| [part(length), rest]);
        let ends = [[&[][..], other.get(at..).unwrap_or(other)]];
        for (kind, [middle, end]) in numbers.chain(left_out).chain(repeated).chain(ends).enumerate() {
            if chosen(at, kind) {
                body(&[before, middle, end].concat());
                tried += 1;
            }
        }
    }
    tried
}
