//! The layout of YAML, line by line: indents of two blanks, one blank after a dash, no trailing blanks, one
//! empty line between steps and before `---`, and at most one elsewhere. Comments stay between the same
//! lines.
//!
//! The lines of a text, list or record that spans several lines move as a whole.

use crate::document::{Node, NodeKind, Style, Text};

/// The key whose entries are separated by empty lines.
const SPACED: &str = "steps:";
/// The indent of a level.
const STEP: usize = 2;

/// Formats a source; `documents` are what it reads as.
pub(super) fn layout(source: &str, documents: &[Node<'_>]) -> String {
    let lines: Vec<&str> = source.split('\n').collect();
    let mut inside =
        Inside { source, starts: Vec::with_capacity(lines.len()), lines: vec![Line::Begins; lines.len()] };
    let mut start = 0;
    for line in &lines {
        inside.starts.push(start);
        start += line.len() + 1;
    }
    documents.iter().for_each(|document| inside.mark(document));
    let mut layout = Mover::default();
    for (line, inside) in lines.iter().zip(&inside.lines) {
        match inside {
            Line::Begins => layout.line(line.trim_start_matches('\u{feff}').trim_end()),
            inside => layout.inside(line, *inside == Line::Block),
        }
    }
    layout.comments(None);
    layout.out
}

/// The kind of a line.
#[derive(Clone, Copy, PartialEq)]
enum Line {
    /// The start of something, a comment, or empty.
    Begins,
    /// The continuation of something that began on an earlier line.
    Continues,
    /// The text of a block.
    Block,
}

/// The kind of each line.
struct Inside<'s> {
    source: &'s str,
    starts: Vec<usize>,
    lines: Vec<Line>,
}

impl Inside<'_> {
    fn mark(&mut self, node: &Node<'_>) {
        let range = node.span.range();
        let in_brackets = matches!(self.source.as_bytes().get(range.start), Some(b'{' | b'['));
        match node.kind {
            NodeKind::Text(Text { style: Style::Block, .. }) => {
                // A block begins after the line of its `|`; empty lines at its start are part of it.
                let header = self.source.get(..range.start).unwrap_or("").trim_end().len();
                if self.source.get(range.clone()).is_some_and(|text| !text.trim().is_empty()) {
                    self.lines(header, range.end, Line::Block);
                }
            }
            NodeKind::List(_) | NodeKind::Record(_) if in_brackets => {
                self.lines(range.start, range.end, Line::Continues);
            }
            NodeKind::List(items) => items.iter().for_each(|item| self.mark(item)),
            NodeKind::Record(entries) => entries.iter().for_each(|entry| {
                self.mark(&entry.key);
                self.mark(&entry.value);
            }),
            _ => self.lines(range.start, range.end, Line::Continues),
        }
    }

    /// Marks the lines after that of one position up to that of another.
    fn lines(&mut self, from: usize, to: usize, are: Line) {
        let line = |at: usize| self.starts.partition_point(|&start| start <= at);
        let (from, to) = (line(from), line(to));
        self.lines.get_mut(from..to).unwrap_or_default().fill(are);
    }
}

/// A key or a dash with its old and its new column.
#[derive(Clone, Copy)]
struct Column {
    dash: bool,
    old: usize,
    new: usize,
}

struct Waiting<'s> {
    text: &'s str,
    column: usize,
    /// Its column, if it does not belong to the next line.
    own: usize,
    /// Whether an empty line came before it.
    empty: bool,
}

#[derive(Default)]
struct Mover<'s> {
    out: String,
    /// The enclosing blocks, the innermost last.
    levels: Vec<Column>,
    /// The old and the new column of the last line.
    moved: (usize, usize),
    /// The column of the text of a block that begins on the last line.
    block: Option<usize>,
    /// Whether an empty line came before.
    empty: bool,
    /// Comments whose indent depends on the next line.
    waiting: Vec<Waiting<'s>>,
    /// Whether the last top-level key was that of the steps, and whether a step has followed it.
    steps: bool,
    any_step: bool,
}

impl<'s> Mover<'s> {
    /// A line that begins something, a comment, or an empty line.
    fn line(&mut self, line: &'s str) {
        let text = line.trim_start_matches([' ', '\t']);
        let column = line.len() - text.len();
        if text.is_empty() {
            self.empty = true;
        } else if text.starts_with('#') {
            let above = self.levels.iter().rev().find(|level| level.old <= column);
            let (own, empty) = (above.map_or(0, |level| level.new), std::mem::take(&mut self.empty));
            self.waiting.push(Waiting { text, column, own, empty });
        } else if column == 0 && (text.starts_with("---") || text.starts_with("...") || text.starts_with('%'))
        {
            self.comments(None);
            self.empty = text.starts_with("---") && !self.out.is_empty();
            self.put(0, text);
            (self.levels, self.steps, self.empty) = (Vec::new(), false, false);
        } else {
            self.begins(text, column);
        }
    }

    /// A line with dashes, a key or a value.
    fn begins(&mut self, text: &'s str, column: usize) {
        let mut dashes = 0;
        let (mut rest, mut old) = (text, column);
        let mut first = None;
        let level = loop {
            let after = rest.strip_prefix('-').filter(|after| after.is_empty() || after.starts_with(' '));
            let level = self.level(after.is_some(), old);
            first.get_or_insert(level.new);
            let Some(after) = after else { break level };
            let next = after.trim_start_matches(' ');
            dashes += 1;
            if next.is_empty() || next.starts_with('#') {
                rest = next;
                break level;
            }
            old += rest.len() - next.len();
            rest = next;
        };
        let indent = first.unwrap_or(0);
        let step = self.steps && indent == STEP && dashes == 0;
        if step && !self.any_step {
            self.empty = false;
            self.waiting.iter_mut().for_each(|comment| comment.empty = false);
        }
        if indent == 0 {
            self.steps = text.starts_with(SPACED);
            self.any_step = false;
            self.comments(Some((column, indent, self.steps)));
        } else {
            self.comments(Some((column, indent, step && self.any_step)));
            self.any_step |= step;
        }
        let line = "- ".repeat(dashes) + rest;
        self.put(indent, line.trim_end());
        self.moved = (level.old, level.new);
        // A digit after the `|` counts from the column of the line, so it stays correct.
        let header = rest.split(" #").next().unwrap_or("").trim_end().rsplit(' ').next().unwrap_or("");
        let counted = header.contains(|c: char| c.is_ascii_digit());
        let alone = rest.starts_with(['|', '>']);
        self.block = (!counted).then_some(if alone { level.new } else { level.new + STEP });
    }

    /// The level of a dash or of anything else at a column.
    fn level(&mut self, dash: bool, old: usize) -> Column {
        // A list may begin at the column of its key: then its dashes are a separate level.
        let closed = |level: &Column| level.old > old || (level.old == old && level.dash && !dash);
        while self.levels.last().is_some_and(closed) {
            self.levels.pop();
        }
        match self.levels.last() {
            Some(level) if level.old == old && level.dash == dash => *level,
            above => {
                let level = Column { dash, old, new: above.map_or(0, |above| above.new + STEP) };
                self.levels.push(level);
                level
            }
        }
    }

    /// Writes the comments before a line, given its old and new column, and whether an empty line comes
    /// before it.
    fn comments(&mut self, line: Option<(usize, usize, bool)>) {
        let (old, new, mut spaced) = line.unwrap_or((usize::MAX, 0, false));
        let waiting = std::mem::take(&mut self.waiting);
        let empty = std::mem::take(&mut self.empty);
        // A comment that would be left of the line belongs to it the next time, so it does at once.
        let belongs = |comment: &Waiting<'_>| line.is_some() && (comment.column <= old || comment.own < new);
        // An existing empty line decides which comments belong to the line.
        spaced &= !empty && !waiting.iter().any(|comment| comment.empty && belongs(comment));
        for comment in waiting {
            let belongs = belongs(&comment);
            self.empty = comment.empty || (belongs && std::mem::take(&mut spaced));
            self.put(if belongs { new } else { comment.own }, comment.text);
        }
        self.empty = empty || spaced;
    }

    /// A continuation line: it moves with the line on which it began.
    fn inside(&mut self, line: &str, block: bool) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let text = line.trim_start_matches(' ');
        let column = line.len() - text.len();
        if block && !text.is_empty() {
            self.moved = self.block.take().map_or(self.moved, |new| (column, new));
        }
        let (old, new) = self.moved;
        self.empty = false;
        if !text.is_empty() {
            let indent = (column + new).saturating_sub(old);
            self.out.extend(std::iter::repeat_n(' ', indent));
            self.out.push_str(text);
        }
        self.out.push('\n');
    }

    /// Writes a line.
    fn put(&mut self, indent: usize, text: &str) {
        if std::mem::take(&mut self.empty) && !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.out.push_str(text);
        self.out.push('\n');
    }
}
