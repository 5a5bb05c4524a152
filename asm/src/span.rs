//! Places in a source: byte ranges, and the lines and columns that people read.

use core::cell::Cell;

/// A range of bytes of one source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// From `start` up to `end`.
    pub const fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// The empty span at a place.
    pub const fn at(offset: u32) -> Span {
        Span { start: offset, end: offset }
    }

    /// From the start of this to the end of `last`.
    #[must_use]
    pub const fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end }
    }

    /// The bytes as a range of indexes.
    pub fn range(self) -> core::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Where lines begin, to turn offsets into lines and columns.
///
/// A line ends at LF, CRLF or a lone CR.
#[derive(Clone, Debug)]
pub struct Lines<'s> {
    source: &'s str,
    starts: Vec<u32>,
    /// The last place that was asked for: its offset and column. Places in order cost no more than the
    /// source.
    last: Cell<(u32, u32)>,
}

/// A line and a column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl<'s> Lines<'s> {
    /// Finds the lines of a source.
    pub fn new(source: &'s str) -> Lines<'s> {
        let bytes = source.as_bytes();
        let starts = (0_u32..)
            .zip(bytes)
            .filter(|&(at, &byte)| {
                byte == b'\n' || (byte == b'\r' && bytes.get(at as usize + 1) != Some(&b'\n'))
            })
            .map(|(at, _)| at + 1);
        Lines { source, starts: core::iter::once(0).chain(starts).collect(), last: Cell::new((0, 1)) }
    }

    /// The line and column of an offset. Costs the length of the line, or the way from the place asked for
    /// before.
    pub fn place(&self, offset: u32) -> Place {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let line = self.starts.partition_point(|&start| start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let (from, column) =
            Some(self.last.get()).filter(|&(at, _)| start <= at && at <= offset).unwrap_or((start, 1));
        let between = self.source.get(from as usize..offset as usize).unwrap_or("");
        let column = column.saturating_add(count(between.chars().count()));
        self.last.set((offset, column));
        Place { line: count(line), column }
    }

    /// Where a line, counted from 1, begins, and its text without the line end.
    pub fn line(&self, line: u32) -> (u32, &'s str) {
        let index = line.saturating_sub(1) as usize;
        let start = self.starts.get(index).copied().unwrap_or(0);
        let end = self.starts.get(index + 1).map_or(self.source.len(), |&end| end as usize);
        let text = self.source.get(start as usize..end).unwrap_or("");
        (start, text.trim_end_matches(['\n', '\r']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_every_kind_of_line_end() {
        let lines = Lines::new("a\nbé x\r\nc\rd");
        let place = |offset| (lines.place(offset).line, lines.place(offset).column);
        assert_eq!(place(0), (1, 1));
        assert_eq!(place(2), (2, 1));
        assert_eq!(place(6), (2, 4));
        assert_eq!(place(9), (3, 1));
        assert_eq!(place(11), (4, 1));
        assert_eq!(place(12), (4, 2));
        assert_eq!(place(6), (2, 4), "also when asked for out of order");
        assert_eq!(lines.line(2), (2, "bé x"));
        assert_eq!(lines.line(4), (11, "d"));
    }
}
