//! Reads and writes the integers, lengths and raw bytes of packed programs and snapshots.

use crate::error::{DecodeError, DecodeErrorKind};
use alloc::vec::Vec;

type Result<T> = core::result::Result<T, DecodeError>;

/// Reads bytes.
#[derive(Debug)]
pub struct ByteReader<'b> {
    /// Ends where the part being read ends, which may be a section.
    pub(crate) bytes: &'b [u8],
    pub(crate) at: usize,
}

impl<'b> ByteReader<'b> {
    /// A reader of all of `bytes`.
    #[inline]
    pub fn new(bytes: &'b [u8]) -> ByteReader<'b> {
        ByteReader { bytes, at: 0 }
    }

    /// The offset of the next byte.
    #[inline]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The number of bytes left.
    #[inline]
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn error<T>(&self, kind: DecodeErrorKind) -> Result<T> {
        Err(DecodeError { offset: self.at, kind })
    }

    /// The error for an instruction number that was just read.
    #[cold]
    pub(crate) fn unknown_instruction(&self, found: u8) -> DecodeError {
        DecodeError { offset: self.at - 1, kind: DecodeErrorKind::Instruction { found } }
    }

    /// One byte.
    #[inline]
    pub fn byte(&mut self) -> Result<u8> {
        match self.bytes.get(self.at) {
            Some(&byte) => {
                self.at += 1;
                Ok(byte)
            }
            None => self.error(DecodeErrorKind::Truncated),
        }
    }

    /// The next `count` bytes.
    #[inline]
    pub fn raw(&mut self, count: usize) -> Result<&'b [u8]> {
        if count > self.left() {
            return self.error(DecodeErrorKind::Truncated);
        }
        let bytes = self.bytes.get(self.at..self.at + count).unwrap_or_default();
        self.at += count;
        Ok(bytes)
    }

    /// An unsigned integer in its shortest encoding.
    #[inline]
    pub fn varint(&mut self) -> Result<u64> {
        let first = self.byte()?;
        if first < 0x80 { Ok(first.into()) } else { self.long_varint(first) }
    }

    #[inline(never)]
    fn long_varint(&mut self, first: u8) -> Result<u64> {
        let mut value = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if (shift == 63 && bits > 1) || byte == 0 {
                return self.error(DecodeErrorKind::Varint);
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        self.error(DecodeErrorKind::Varint)
    }

    /// An unsigned integer of 16 bits.
    #[inline]
    pub fn varint16(&mut self) -> Result<u16> {
        let value = self.varint()?;
        u16::try_from(value).or_else(|_| self.error(DecodeErrorKind::Varint))
    }

    /// An unsigned integer of 32 bits.
    #[inline]
    pub fn varint32(&mut self) -> Result<u32> {
        let value = self.varint()?;
        u32::try_from(value).or_else(|_| self.error(DecodeErrorKind::Varint))
    }

    /// A signed integer.
    #[inline]
    pub fn zigzag64(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// A signed integer of 32 bits.
    #[inline]
    pub fn zigzag32(&mut self) -> Result<i32> {
        let value = self.zigzag64()?;
        i32::try_from(value).or_else(|_| self.error(DecodeErrorKind::Varint))
    }

    /// A count of items that take at least `least` bytes each.
    #[inline]
    pub fn count(&mut self, what: &'static str, ceiling: usize, least: usize) -> Result<usize> {
        let start = self.at;
        let found = self.varint()?;
        let limit = ceiling.min(self.left() / least.max(1)) as u64;
        match usize::try_from(found) {
            Ok(count) if found <= limit => Ok(count),
            _ => Err(DecodeError { offset: start, kind: DecodeErrorKind::Count { what, found, limit } }),
        }
    }

    /// A count and its items.
    pub(crate) fn list<T>(
        &mut self,
        what: &'static str,
        ceiling: usize,
        least: usize,
        mut item: impl FnMut(&mut ByteReader<'b>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let count = self.count(what, ceiling, least)?;
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(items)
    }
}

/// Writes bytes.
#[derive(Debug, Default)]
pub struct ByteSink {
    pub(crate) bytes: Vec<u8>,
}

impl From<Vec<u8>> for ByteSink {
    /// Continues after these bytes.
    #[inline]
    fn from(bytes: Vec<u8>) -> ByteSink {
        ByteSink { bytes }
    }
}

impl ByteSink {
    /// The bytes written.
    #[inline]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// One byte.
    #[inline]
    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// An unsigned integer, seven bits a byte, low ones first.
    #[inline]
    pub fn varint(&mut self, value: u64) {
        match u8::try_from(value) {
            Ok(byte) if byte < 0x80 => self.bytes.push(byte),
            _ => self.long_varint(value),
        }
    }

    #[inline(never)]
    fn long_varint(&mut self, mut value: u64) {
        loop {
            let [low, ..] = value.to_le_bytes();
            value >>= 7;
            if value == 0 {
                return self.bytes.push(low & 0x7f);
            }
            self.bytes.push(low | 0x80);
        }
    }

    /// A length or index.
    #[inline]
    pub fn size(&mut self, value: usize) {
        self.varint(value as u64);
    }

    /// A signed integer.
    #[inline]
    pub fn zigzag(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)).cast_unsigned());
    }

    /// Bytes as they are.
    #[inline]
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
}
