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
    /// The last position that was asked for: in which units, the offset and the column. Positions in order
    /// cost no more than the source.
    last: Cell<(Units, u32, u32)>,
}

/// A line and a column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// What the columns of an editor count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Bytes of UTF-8.
    Utf8,
    /// Code units of UTF-16.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Units {
    /// How many of them a character takes.
    fn of(self, c: char) -> u32 {
        let units = match self {
            Units::Utf8 => c.len_utf8(),
            Units::Utf16 => c.len_utf16(),
            Units::Utf32 => 1,
        };
        u32::try_from(units).unwrap_or(u32::MAX)
    }
}

/// A line and a column as editors count them: both from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in [`Units`].
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
        Lines { source, starts: core::iter::once(0).chain(starts).collect(), last: Cell::default() }
    }

    /// The line and column of an offset.
    ///
    /// The cost is linear in the length of the line, or, if the last call had a smaller offset in the same
    /// line, in the distance from it.
    pub fn place(&self, offset: u32) -> Place {
        let Position { line, column } = self.position(offset, Units::Utf32);
        Place { line: line.saturating_add(1), column: column.saturating_add(1) }
    }

    /// The position of an offset, with lines and columns from 0. An offset past the end of the source or
    /// inside a character has the position of the last boundary before it. The cost is that of
    /// [`Lines::place`].
    pub fn position(&self, offset: u32, units: Units) -> Position {
        let offset = self.boundary(offset);
        let line = self.starts.partition_point(|&start| start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let (last_units, at, column) = self.last.get();
        let goes_on = last_units == units && start <= at && at <= offset;
        let (from, before) = if goes_on { (at, column) } else { (start, 0) };
        let between = self.source.get(from as usize..offset as usize).unwrap_or("");
        let column = if between.is_ascii() {
            before.saturating_add(u32::try_from(between.len()).unwrap_or(u32::MAX))
        } else {
            between.chars().fold(before, |column, c| column.saturating_add(units.of(c)))
        };
        self.last.set((units, offset, column));
        Position { line: u32::try_from(line).unwrap_or(u32::MAX), column }
    }

    /// The offset of a position. A column past the end of its line means that end, and a line past the end of
    /// the source means the end of the source. The cost is linear in the length of the line.
    pub fn offset(&self, position: Position, units: Units) -> u32 {
        if position.line as usize >= self.starts.len() {
            return u32::try_from(self.source.len()).unwrap_or(u32::MAX);
        }
        let (start, text) = self.line(position.line.saturating_add(1));
        let (mut column, mut bytes) = (0_u32, 0);
        for c in text.chars() {
            column = column.saturating_add(units.of(c));
            if column > position.column {
                break;
            }
            bytes += c.len_utf8();
        }
        start.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX))
    }

    /// The last boundary of a character at or before an offset.
    fn boundary(&self, offset: u32) -> u32 {
        u32::try_from(self.source.floor_char_boundary(offset as usize)).unwrap_or(u32::MAX)
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

    #[test]
    fn positions_count_code_units_both_ways() {
        let source = "a\nb\u{e9}\u{1f980} x\r\nc\rd";
        let lines = Lines::new(source);
        let position = |offset, units| {
            let found = lines.position(offset, units);
            (found.line, found.column)
        };
        // One unit for `b` and `\u{e9}`, two for the crab.
        assert_eq!(position(9, Units::Utf16), (1, 4));
        assert_eq!(position(9, Units::Utf8), (1, 7));
        assert_eq!(position(5, Units::Utf16), (1, 2), "the start of the character that 6 is inside of");
        assert_eq!(position(6, Units::Utf16), (1, 2));
        assert_eq!(position(13, Units::Utf16), (2, 0));
        assert_eq!(position(15, Units::Utf16), (3, 0));
        assert_eq!(position(99, Units::Utf16), (3, 1));
        let offset = |line, column, units| lines.offset(Position { line, column }, units);
        assert_eq!(offset(1, 4, Units::Utf16), 9);
        assert_eq!(offset(1, 3, Units::Utf16), 5, "half of a surrogate pair is before it");
        assert_eq!(offset(1, 7, Units::Utf8), 9);
        assert_eq!(offset(1, 99, Units::Utf16), 11, "the end of the line, before its end");
        assert_eq!(offset(7, 0, Units::Utf8), 16);
        for units in [Units::Utf8, Units::Utf16] {
            for (at, _) in source.char_indices().filter(|&(at, _)| at != 12) {
                let at = u32::try_from(at).unwrap();
                assert_eq!(lines.offset(lines.position(at, units), units), at);
            }
        }
    }
}
