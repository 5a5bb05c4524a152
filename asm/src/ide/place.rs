//! Locates an offset in JSON or YAML: the keys above it, the keys beside it, and the word that contains it.
//!
//! Sources may be incomplete, as they are while someone types, so only brackets, quotes and indentation are
//! followed. It is one pass over the source, without recursion.

use crate::dialect::words_at::Level;
use crate::notation::Notation;
use crate::span::Span;

/// More levels than a document may have.
const DEEPEST: usize = crate::document::NESTING;

/// What is expected at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// A key.
    Key,
    /// A value.
    Value,
}

/// A position in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The enclosing levels. For a value the last one is that of its key.
    pub(super) path: Vec<Level>,
    /// The record that contains the key.
    pub(super) here: Level,
    pub(super) at: At,
    /// The word or text that contains the offset, without its quotes.
    pub(super) word: Span,
    /// Whether it is quoted.
    pub(super) quoted: bool,
}

/// Locates an offset; `None` if it is outside a document or nested too deeply.
pub(super) fn find(source: &str, notation: Notation, offset: u32) -> Option<Place> {
    let at = offset as usize;
    source.get(..at)?;
    if notation == Notation::Workflow {
        return yaml(source, at);
    }
    Flow::new(source, 0, source.len(), Vec::new()).find(at)
}

/// An open record or list.
struct Frame {
    list: bool,
    level: Level,
    /// Whether a value follows: after a colon, or in a list.
    value: bool,
}

/// Scans JSON, and YAML in flow style.
struct Flow<'s> {
    source: &'s str,
    at: usize,
    end: usize,
    outer: Vec<Level>,
    frames: Vec<Frame>,
}

/// A word or text between brackets, commas and colons.
struct Scalar {
    inner: Span,
    quoted: bool,
    next: usize,
}

impl<'s> Flow<'s> {
    fn new(source: &'s str, start: usize, end: usize, outer: Vec<Level>) -> Flow<'s> {
        Flow { source, at: start, end, outer, frames: Vec::new() }
    }

    fn byte(&self) -> Option<u8> {
        self.source.as_bytes().get(self.at).copied().filter(|_| self.at < self.end)
    }

    fn scalar(&self) -> Scalar {
        let bytes = self.source.as_bytes().get(self.at..self.end).unwrap_or_default();
        let offset = |at: usize| u32::try_from(self.at + at).unwrap_or(u32::MAX);
        let quote = bytes.first().copied().filter(|byte| matches!(byte, b'"' | b'\''));
        let Some(quote) = quote else {
            let stops = |byte: &u8| matches!(byte, b',' | b':' | b'{' | b'}' | b'[' | b']' | b'\n' | b'"');
            let length = bytes.iter().position(stops).unwrap_or(bytes.len()).max(1);
            let text = self.source.get(self.at..self.at + length).unwrap_or("").trim_end().len();
            return Scalar {
                inner: Span::new(offset(0), offset(text)),
                quoted: false,
                next: self.at + length,
            };
        };
        let mut escaped = false;
        let close = bytes.iter().skip(1).position(|&byte| {
            let closes = (byte == quote && !escaped) || byte == b'\n';
            escaped = byte == b'\\' && !escaped && quote == b'"';
            closes
        });
        let inside = close.unwrap_or(bytes.len().saturating_sub(1));
        let closed = bytes.get(inside + 1) == Some(&quote);
        let inner = Span::new(offset(1), offset(1 + inside));
        Scalar { inner, quoted: true, next: self.at + 1 + inside + usize::from(closed) }
    }

    /// Skips what is between words. Returns whether anything was skipped.
    fn mark(&mut self, byte: u8) -> bool {
        match byte {
            b'{' | b'[' => {
                let list = byte == b'[';
                self.frames.push(Frame { list, level: Level::default(), value: list });
            }
            b'}' | b']' => {
                self.frames.pop();
            }
            b':' => {
                if let Some(frame) = self.frames.last_mut().filter(|frame| !frame.list) {
                    frame.value = true;
                }
            }
            b',' => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.value = frame.list;
                }
            }
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => return false,
        }
        self.at += 1;
        true
    }

    fn find(mut self, offset: usize) -> Option<Place> {
        while let Some(byte) = self.byte() {
            if self.at >= offset && !is_scalar(byte) {
                break;
            }
            if self.mark(byte) {
                if self.frames.len() > DEEPEST {
                    return None;
                }
                continue;
            }
            let scalar = self.scalar();
            let (start, end) = (self.at, scalar.inner.end as usize);
            let inside = (scalar.inner.start as usize..=end).contains(&offset);
            if inside || offset <= start {
                let word =
                    if inside { scalar.inner } else { Span::at(u32::try_from(offset).unwrap_or(u32::MAX)) };
                let quoted = inside && scalar.quoted;
                self.at = if inside { scalar.next } else { start };
                return self.place(word, quoted);
            }
            self.take(&scalar);
            self.at = scalar.next;
        }
        self.place(Span::at(u32::try_from(offset).ok()?), false)
    }

    /// Records a key, or the value of one.
    fn take(&mut self, scalar: &Scalar) {
        let text = self.source.get(scalar.inner.range()).unwrap_or("").to_owned();
        let Some(frame) = self.frames.last_mut().filter(|frame| !frame.list) else { return };
        if frame.value {
            if let Some(last) = frame.level.entries.last_mut() {
                last.1.get_or_insert(text);
            }
        } else {
            frame.level.key = Some(text.clone());
            frame.level.entries.push((text, None));
        }
    }

    /// The current position, with the keys that follow it in its record.
    fn place(mut self, word: Span, quoted: bool) -> Option<Place> {
        let Some(frame) = self.frames.last() else {
            let mut path = self.outer;
            // The value of a key of YAML, or the whole source.
            let at = if path.is_empty() { At::Key } else { At::Value };
            let here =
                if at == At::Key { Level::default() } else { path.last().cloned().unwrap_or_default() };
            if at == At::Value && path.len() > DEEPEST {
                path.clear();
            }
            return Some(Place { path, here, at, word, quoted });
        };
        let at = if frame.value { At::Value } else { At::Key };
        let depth = self.frames.len();
        self.read_on(depth);
        let mut path = self.outer;
        path.extend(self.frames.into_iter().take(depth).map(|mut frame| {
            if frame.list {
                frame.level.key = None;
            }
            frame.level
        }));
        let here = if at == At::Key { path.pop().unwrap_or_default() } else { path.last().cloned()? };
        Some(Place { path, here, at, word, quoted })
    }

    /// Scans to the end of the innermost record, for its other keys.
    fn read_on(&mut self, depth: usize) {
        let key = self.frames.last().and_then(|frame| frame.level.key.clone());
        while let Some(byte) = self.byte() {
            if matches!(byte, b'}' | b']') && self.frames.len() == depth {
                break;
            }
            if self.frames.len() > DEEPEST {
                break;
            }
            if self.mark(byte) {
                continue;
            }
            let scalar = self.scalar();
            if self.frames.len() == depth {
                self.take(&scalar);
            }
            self.at = scalar.next;
        }
        if let Some(frame) = self.frames.get_mut(depth - 1) {
            frame.level.key = key;
        }
    }
}

/// Whether a byte begins a word or text.
fn is_scalar(byte: u8) -> bool {
    !matches!(byte, b'{' | b'}' | b'[' | b']' | b':' | b',' | b' ' | b'\t' | b'\r' | b'\n')
}

/// An open mapping or sequence of YAML.
struct Block {
    indent: usize,
    level: Level,
}

/// Scans the indentation of YAML up to an offset, and then to the end of the enclosing mapping.
fn yaml(source: &str, offset: usize) -> Option<Place> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut start = 0;
    let mut found: Option<Place> = None;
    for line in source.split_inclusive('\n') {
        let text = line.trim_end_matches(['\n', '\r']);
        let within = start <= offset && offset <= start + text.len();
        let blank = text.trim_start().is_empty() || text.trim_start().starts_with('#');
        if let Some(place) = &mut found {
            let indent = text.len() - text.trim_start().len();
            let Some(block) = blocks.last().filter(|_| !blank) else {
                start += line.len();
                continue;
            };
            if indent < block.indent {
                break;
            }
            if indent == block.indent && place.at == At::Key {
                place.here.entries.extend(key_of(text.trim_start()));
            }
        } else if within {
            found = Some(yaml_line(source, text, start, offset, &mut blocks)?);
        } else if !blank {
            open(text, &mut blocks, text.len());
            if blocks.len() > DEEPEST {
                return None;
            }
        }
        start += line.len();
    }
    if found.is_none() && offset == source.len() {
        return yaml_line(source, "", start, offset, &mut blocks);
    }
    found
}

/// The key and value on the rest of a line, if it begins with a key.
fn key_of(text: &str) -> Option<(String, Option<String>)> {
    let (key, rest) = text.split_once(':')?;
    if !(rest.is_empty() || rest.starts_with([' ', '\t'])) || key.contains(['{', '[', '$']) {
        return None;
    }
    let unquoted = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    let value = Some(unquoted(rest)).filter(|value| !value.is_empty());
    Some((unquoted(key), value))
}

/// Closes and opens levels for the part of a line before a column. Returns the column after the dashes of
/// sequences.
fn open(text: &str, blocks: &mut Vec<Block>, until: usize) -> usize {
    let mut column = text.len() - text.trim_start().len();
    loop {
        let rest = text.get(column..).unwrap_or("");
        let item = rest == "-" || rest.starts_with("- ");
        if !item || column >= until {
            break;
        }
        // The items of a sequence may be at the column of the key above it.
        blocks.retain(|block| block.indent < column || (block.indent == column && block.level.key.is_some()));
        blocks.push(Block { indent: column, level: Level::default() });
        column += 1 + (rest.len() - 1 - rest.get(1..).unwrap_or("").trim_start().len());
        column = column.max(1);
    }
    let rest = text.get(column..).unwrap_or("");
    if let Some((key, value)) = key_of(rest).filter(|_| column < until) {
        blocks.retain(|block| block.indent <= column);
        let same = blocks.last_mut().filter(|block| block.indent == column && block.level.key.is_some());
        let entry = (key.clone(), value);
        match same {
            Some(block) => {
                block.level.entries.push(entry);
                block.level.key = Some(key);
            }
            None => {
                let level = Level { key: Some(key), entries: vec![entry] };
                blocks.push(Block { indent: column, level });
            }
        }
    }
    column
}

/// The position within the line of the offset.
fn yaml_line(
    source: &str,
    text: &str,
    start: usize,
    offset: usize,
    blocks: &mut Vec<Block>,
) -> Option<Place> {
    let before = text.get(..offset - start)?;
    let marks = before.trim_start_matches([' ', '-']).len();
    let column = before.len() - marks;
    let paths = |blocks: &[Block]| -> Vec<Level> { blocks.iter().map(|block| block.level.clone()).collect() };
    let rest = text.get(column..).unwrap_or("");
    let colon = rest.find(": ").or_else(|| rest.ends_with(':').then(|| rest.len() - 1));
    if let Some(colon) = colon.filter(|&colon| column + colon < before.len() && key_of(rest).is_some()) {
        open(text, blocks, text.len());
        let value = start + column + colon + 1;
        let written = source.get(value..start + text.len()).unwrap_or("");
        if written.trim_start().starts_with(['{', '[', '"', '\'']) {
            return Flow::new(source, value, start + text.len(), paths(blocks)).find(offset);
        }
        // A plain value extends to the end of its line, including colons and commas.
        let to = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let from = (start + text.len() - written.trim_start().len()).min(offset);
        let word = Span::new(to(from), to((start + text.trim_end().len()).max(offset)));
        let path = paths(blocks);
        let here = path.last().cloned().unwrap_or_default();
        return Some(Place { path, here, at: At::Value, word, quoted: false });
    }
    // A key, or the beginning of one.
    open(before, blocks, column);
    blocks.retain(|block| block.indent <= column);
    let same = blocks.last().is_some_and(|block| block.indent == column && block.level.key.is_some());
    let here = if same {
        blocks.last().map(|block| block.level.clone()).unwrap_or_default()
    } else {
        Level::default()
    };
    let mut path = paths(blocks);
    if same {
        path.pop();
    }
    let end = rest.find(':').unwrap_or(rest.trim_end().len());
    let from = u32::try_from(start + column).ok()?;
    let until = u32::try_from(start + column + end.max(before.len() - column)).ok()?;
    let item = path.last().is_some_and(|level| level.key.is_none()) && !rest.contains(':');
    let at = if item && matches!(rest.trim_start().chars().next(), Some('$' | '"' | '{')) {
        At::Value
    } else {
        At::Key
    };
    if !same {
        // The following lines belong to this mapping.
        blocks.push(Block { indent: column, level: Level::default() });
    }
    Some(Place { path, here, at, word: Span::new(from, until), quoted: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys above the place that `|` marks, those beside it, and the word there.
    #[track_caller]
    fn check(notation: Notation, marked: &str, path: &[Option<&str>], here: &[&str], at: At, word: &str) {
        let offset = marked.find('|').unwrap();
        let source = marked.replacen('|', "", 1);
        let found = find(&source, notation, u32::try_from(offset).unwrap()).unwrap();
        let keys: Vec<Option<&str>> = found.path.iter().map(|level| level.key.as_deref()).collect();
        assert_eq!(keys, path, "{marked}");
        let beside: Vec<&str> = found.here.entries.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((beside, found.at), (here.to_vec(), at), "{marked}");
        assert_eq!(&source[found.word.range()], word, "{marked}");
    }

    #[test]
    fn places_in_json() {
        let json = |marked: &str, path: &[Option<&str>], here: &[&str], at, word: &str| {
            check(Notation::ToolCalling, marked, path, here, at, word);
        };
        json(r#"{"function": "f", |}"#, &[], &["function"], At::Key, "");
        json(r#"{"st|}"#, &[], &[], At::Key, "st}");
        json(
            r#"{"steps": [{"call": "a", "ar|gs": {}}]}"#,
            &[Some("steps"), None],
            &["call"],
            At::Key,
            "args",
        );
        json(
            r#"{"steps": [{"call": "ge|", "let": "x"}]}"#,
            &[Some("steps"), None, Some("call")],
            &["call", "let"],
            At::Value,
            "ge",
        );
        json(
            r#"{"steps": [{"call": "t", "args": {"a": 1, |}}]}"#,
            &[Some("steps"), None, Some("args")],
            &["a"],
            At::Key,
            "",
        );
        json(r#"{"input": {"a": |"#, &[Some("input"), Some("a")], &["a"], At::Value, "");
        json(r#"{"steps": [|"#, &[Some("steps"), None], &[], At::Value, "");
    }

    #[test]
    fn places_in_yaml() {
        let yaml = |marked: &str, path: &[Option<&str>], here: &[&str], at, word: &str| {
            check(Notation::Workflow, marked, path, here, at, word);
        };
        yaml("name: f\n|", &[], &["name"], At::Key, "");
        yaml("name: f\nst|\ninput:\n  a: text\n", &[], &["name", "input"], At::Key, "st");
        yaml(
            "steps:\n  user:\n    call: ge|\n",
            &[Some("steps"), Some("user"), Some("call")],
            &["call"],
            At::Value,
            "ge",
        );
        yaml("steps:\n  user:\n    call: t\n    |\n", &[Some("steps"), Some("user")], &["call"], At::Key, "");
        yaml(
            "steps:\n  user:\n    call: t\n    args:\n      us|\n    catch:\n      return: 1\n",
            &[Some("steps"), Some("user"), Some("args")],
            &[],
            At::Key,
            "us",
        );
        yaml(
            "steps:\n  a:\n    return: {err|: x}\n",
            &[Some("steps"), Some("a"), Some("return")],
            &[],
            At::Key,
            "err",
        );
        yaml("steps:\n  - call: t\n    |\n", &[Some("steps"), None], &["call"], At::Key, "");
        yaml("a: ${us|er.email}\n", &[Some("a")], &["a"], At::Value, "${user.email}");
    }
}
