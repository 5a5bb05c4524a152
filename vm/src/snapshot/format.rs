//! The layout of a snapshot: its first bytes, the tags of values, and the checksum at its end.

use xxhash_rust::xxh3::xxh3_64;

/// The first bytes.
pub(super) const MAGIC: [u8; 4] = *b"ilos";
/// The version of the format.
pub(super) const VERSION: u8 = 1;
/// Bytes of the magic, the version and the program's hash.
pub(super) const HEAD: usize = MAGIC.len() + 1 + size_of::<u64>();
/// Bytes of the checksum at the end.
pub(super) const SUM: usize = 8;

/// The tags of values, frozen by the specification.
pub(super) mod tag {
    pub(in crate::snapshot) const NIL: u8 = 0;
    pub(in crate::snapshot) const FALSE: u8 = 1;
    pub(in crate::snapshot) const TRUE: u8 = 2;
    pub(in crate::snapshot) const INT: u8 = 3;
    pub(in crate::snapshot) const DOUBLE: u8 = 4;
    pub(in crate::snapshot) const TEXT: u8 = 5;
    pub(in crate::snapshot) const TEXT_AGAIN: u8 = 6;
    pub(in crate::snapshot) const STRING: u8 = 7;
    pub(in crate::snapshot) const LIST: u8 = 8;
    pub(in crate::snapshot) const GROWABLE: u8 = 9;
    pub(in crate::snapshot) const RECORD: u8 = 10;
    pub(in crate::snapshot) const OWN_RECORD: u8 = 11;
    pub(in crate::snapshot) const AGAIN: u8 = 12;
}

/// Writes the checksum into the last bytes, so that [`Run::restore`](crate::Run::restore) reads the rest.
///
/// The checksum detects damage, not forgery: sign snapshots that are stored where others can write.
pub fn seal(snapshot: &mut [u8]) {
    if let Some((rest, sum)) = snapshot.split_last_chunk_mut::<SUM>() {
        *sum = checksum(rest);
    }
}

/// The checksum of everything before it.
pub(super) fn checksum(content: &[u8]) -> [u8; SUM] {
    xxh3_64(content).to_le_bytes()
}
