//! The canonical layout of ID text: one statement per line, indents of two blanks, counts unchanged,
//! registries in one form.
//!
//! Comments stay where they are: on a separate line at the depth of what follows, or at the end of their
//! line. A statement continues below a comment inside it. The meaning of a program never changes; a source
//! with errors is not changed.

use crate::arena::Arena;
use crate::diagnostic::Diagnostics;
use crate::id::Source;
use crate::id::state::{FunctionLayout, Layout};
use crate::sorting::{sort_by, sort_by_key};
use crate::source::SourceLimits;
use crate::syntax::header::write_header;
use crate::syntax::lexer::{Comment, Lexed};
use crate::syntax::registry;
use std::fmt::Write as _;

/// The length after which a line is broken, so that no statement exceeds the limit on lines.
const WRAP: usize = 16 << 10;
/// The indent of continuation lines relative to the statement.
const CONTINUATION: usize = 4;

/// Formats a source; `None` if it has errors, which are then in `diagnostics`.
// So that it is built as this crate is, not as that of its caller.
#[inline(never)]
pub fn format(source: &str, options: &SourceLimits, diagnostics: &mut Diagnostics) -> Option<String> {
    let arena = Arena::new();
    let mut layout = Layout::default();
    let read = Source::new(source, &arena, options, diagnostics);
    if let Some(read) = &read {
        read.file(&arena, diagnostics, Some(&mut layout));
    }
    diagnostics.sort();
    let read = read.filter(|_| !diagnostics.has_errors())?;
    // An inner block is complete before the outer one.
    sort_by(&mut layout.counts, Ord::cmp);
    let mut writer = TokenWriter {
        source,
        lexed: &read.lexed,
        layout: &layout,
        out: String::with_capacity(source.len()),
        line: 0,
        count: 0,
        wrap: WRAP.min(options.line / 2),
        line_start: 0,
    };
    for (index, section) in layout.functions.iter().enumerate() {
        writer.section(section, index == 0, index + 1 == layout.functions.len());
    }
    Some(writer.out)
}

struct TokenWriter<'w, 'a> {
    source: &'a str,
    lexed: &'w Lexed,
    layout: &'w Layout<'a>,
    out: String,
    /// The number of lines and counts that have been written.
    line: usize,
    count: usize,
    wrap: usize,
    line_start: usize,
}

impl TokenWriter<'_, '_> {
    fn section(&mut self, section: &FunctionLayout<'_>, first: bool, last: bool) {
        let header = section.consumed.first().copied().unwrap_or(0);
        let mut consumed = section.consumed.iter().skip(1).copied().peekable();
        let mut kept: Vec<Comment> = Vec::new();
        for index in section.comments.clone() {
            let is_consumed = consumed.next_if_eq(&index).is_some() || index == header;
            let Some(comment) = self.lexed.comments.get(index).filter(|_| !is_consumed) else { continue };
            if first && index < header {
                self.comment(comment);
                self.end_line();
            } else {
                kept.push(*comment);
            }
        }
        self.header(section);
        let mut comments = kept.into_iter().peekable();
        for index in section.tokens.clone() {
            let depth = self.depth_of(index);
            while let Some(comment) = comments.next_if(|comment| comment.before <= index) {
                self.inner_comment(&comment, depth);
            }
            self.token(index, depth);
        }
        // Comments after the last statement belong to the next function, if there is one.
        let before_next = !last && !section.tokens.is_empty();
        while let Some(comment) = comments.next_if(|comment| !(comment.own_line && before_next)) {
            self.inner_comment(&comment, Some(0));
        }
        self.end_line();
        if !last {
            self.out.push('\n');
        }
        for comment in comments {
            self.comment(&comment);
            self.end_line();
        }
        self.end_line();
    }

    fn header(&mut self, section: &FunctionLayout<'_>) {
        let header = &section.header;
        write_header(&header.name, header.parameters, &header.output, &mut self.out);
        self.end_line();
        for kind in registry::NameKind::ALL {
            let mut entries = section.registries.get(kind).entries.clone();
            if entries.is_empty() {
                continue;
            }
            sort_by_key(&mut entries, |entry| entry.id);
            let title = kind.name();
            self.start_registry(title);
            for entry in entries {
                // A long registry continues in another comment of the same kind.
                if self.out.len() - self.line_start + entry.written.len() > self.wrap {
                    self.end_line();
                    self.start_registry(title);
                }
                let _ = write!(self.out, " {}={}", entry.id, entry.written);
            }
            self.end_line();
        }
    }

    fn start_registry(&mut self, title: &str) {
        let _ = write!(self.out, "; {title}:");
    }

    /// The depth of the line that begins with a token, if it begins a line.
    fn depth_of(&mut self, index: usize) -> Option<usize> {
        let &(token, depth) = self.layout.lines.get(self.line)?;
        (token == index).then(|| {
            self.line += 1;
            depth
        })
    }

    fn token(&mut self, index: usize, depth: Option<usize>) {
        let Some(token) = self.lexed.tokens.get(index) else { return };
        let right = self.layout.counts.get(self.count).filter(|&&(at, _)| at == index);
        let text = self.source.get(token.span().range()).unwrap_or("");
        let length = self.out.len() - self.line_start;
        match depth {
            Some(depth) => {
                self.end_line();
                self.indent(depth * 2);
            }
            None if length == 0 => self.indent(self.continuation()),
            None if length + text.len() > self.wrap => {
                self.end_line();
                self.indent(self.continuation());
            }
            None => self.out.push(' '),
        }
        if let Some((_, right)) = right {
            self.count += 1;
            let _ = write!(self.out, "{right}");
        } else {
            self.out.push_str(text);
        }
    }

    /// The indent of the continuation lines of a statement.
    fn continuation(&self) -> usize {
        let before = self.line.checked_sub(1).and_then(|line| self.layout.lines.get(line));
        before.map_or(0, |&(_, depth)| depth * 2) + CONTINUATION
    }

    /// A comment among statements; `depth` is that of the next line.
    fn inner_comment(&mut self, comment: &Comment, depth: Option<usize>) {
        if comment.own_line {
            self.end_line();
            self.indent(depth.map_or_else(|| self.continuation(), |depth| depth * 2));
        } else {
            self.out.push(' ');
        }
        self.comment(comment);
        self.end_line();
    }

    fn comment(&mut self, comment: &Comment) {
        self.out.push_str(self.source.get(comment.span.range()).unwrap_or("").trim_end());
    }

    fn indent(&mut self, blanks: usize) {
        self.out.extend(std::iter::repeat_n(' ', blanks));
    }

    fn end_line(&mut self) {
        if self.out.len() > self.line_start {
            self.out.push('\n');
        }
        self.line_start = self.out.len();
    }
}
