//! Values as text: compact JSON, and the plain form that CONCAT and failure messages use (specification:
//! values).
//!
//! Iterative: the stack is as deep as the value, which the run limits. The sink limits how much is written.

use crate::fault::{Trap, mismatch};
use crate::heap::Heap;
use crate::inline_stack::InlineStack;
use crate::program::ProgramData;
use crate::value::{Tag, Value, at};
use alloc::string::String;
use core::fmt::{self, Write};
use ilo_spec::json::{quote, until_escape};
use ilo_spec::number::{self, Digits};
use ilo_spec::program::Number;

/// Where rendered text goes, and the heap that the value lives in.
pub(crate) trait Sink {
    type Error;
    fn heap(&self) -> &Heap;
    fn program(&self) -> &ProgramData;
    /// Raw text.
    fn raw(&mut self, text: &str) -> Result<(), Self::Error>;
    fn number(&mut self, number: Number) -> Result<(), Self::Error>;
    /// A text value, without quotes.
    fn text(&mut self, value: Value) -> Result<(), Self::Error>;
    /// A text value as a JSON string.
    fn quoted(&mut self, value: Value) -> Result<(), Self::Error>;
    /// A field name as a JSON string.
    fn name(&mut self, name: u32) -> Result<(), Self::Error>;
    /// A value that look-ahead does not know.
    fn unknown(&mut self) -> Result<(), Self::Error>;
}

/// Renders as CONCAT does: text without quotes, nil as `nil`, a whole double below 1e16 without a point,
/// everything else as JSON.
pub(crate) fn plain<S: Sink>(sink: &mut S, value: Value) -> Result<(), S::Error> {
    match value.tag {
        Tag::Text => sink.text(value),
        Tag::Nil => sink.raw("nil"),
        Tag::Double => sink.number(number::in_text(value.payload)),
        _ => json(sink, value),
    }
}

/// A container and how many of its items are written.
#[derive(Clone, Copy)]
struct Rendering {
    value: Value,
    next: usize,
    len: usize,
}

/// Renders as compact JSON.
pub(crate) fn json<S: Sink>(sink: &mut S, value: Value) -> Result<(), S::Error> {
    let mut open = InlineStack::new(Rendering { value, next: 0, len: 0 });
    begin(sink, value, &mut open)?;
    while let Some(top) = open.last() {
        let Rendering { value, next, len } = *top;
        let record = value.tag == Tag::Record;
        if next == len {
            open.pop();
            sink.raw(if record { "}" } else { "]" })?;
            continue;
        }
        top.next += 1;
        if next > 0 {
            sink.raw(",")?;
        }
        if record {
            let name = sink.heap().shapes.fields(sink.program(), value.aux)[next];
            sink.name(name)?;
            sink.raw(":")?;
        }
        let item = sink.heap().value(at(value.low()) + next);
        begin(sink, item, &mut open)?;
    }
    Ok(())
}

/// Writes a scalar, or opens a container.
fn begin<S: Sink>(sink: &mut S, value: Value, open: &mut InlineStack<Rendering>) -> Result<(), S::Error> {
    match value.tag {
        Tag::Nil => sink.raw("null"),
        Tag::False => sink.raw("false"),
        Tag::True => sink.raw("true"),
        Tag::Int => sink.number(Number::Int(value.as_int())),
        Tag::Double => sink.number(Number::Double(value.payload)),
        Tag::Text => sink.quoted(value),
        Tag::Unknown => sink.unknown(),
        Tag::List | Tag::Record => {
            let len = sink.heap().len(sink.program(), value);
            open.push(Rendering { value, next: 0, len });
            sink.raw(if value.tag == Tag::List { "[" } else { "{" })
        }
    }
}

/// Renders into the host's writer.
pub(crate) struct Host<'a, W> {
    pub(crate) heap: &'a Heap,
    pub(crate) program: &'a ProgramData,
    pub(crate) out: &'a mut W,
}

impl<W: Write> Sink for Host<'_, W> {
    type Error = fmt::Error;

    fn heap(&self) -> &Heap {
        self.heap
    }

    fn program(&self) -> &ProgramData {
        self.program
    }

    fn raw(&mut self, text: &str) -> fmt::Result {
        self.out.write_str(text)
    }

    fn number(&mut self, number: Number) -> fmt::Result {
        number::write(number, self.out)
    }

    fn text(&mut self, value: Value) -> fmt::Result {
        self.out.write_str(self.heap.text_of(self.program, value))
    }

    fn quoted(&mut self, value: Value) -> fmt::Result {
        quote(self.heap.text_of(self.program, value), |text| self.out.write_str(text))
    }

    fn name(&mut self, name: u32) -> fmt::Result {
        quote(self.heap.shapes.name(self.program, name), |text| self.out.write_str(text))
    }

    /// Only in messages of a look-ahead run, which nobody sees.
    fn unknown(&mut self) -> fmt::Result {
        self.out.write_str("…")
    }
}

/// Renders into the run's own text arena, from which it may read at the same time.
pub(crate) struct Arena<'a> {
    heap: &'a mut Heap,
    program: &'a ProgramData,
    start: usize,
}

impl<'a> Arena<'a> {
    /// A sink for a text that begins at `start` of the arena.
    pub(crate) fn new(heap: &'a mut Heap, program: &'a ProgramData, start: usize) -> Arena<'a> {
        Arena { heap, program, start }
    }

    /// Bytes in the arena.
    pub(crate) fn len(&self) -> usize {
        self.heap.text.len()
    }

    #[inline]
    fn reserve(&mut self, bytes: usize) -> Result<(), Trap> {
        self.heap.budget.check_text(self.heap.text.len() - self.start + bytes)?;
        self.heap.reserve_text(bytes)
    }

    /// Copies a range of the arena to its end.
    fn again(&mut self, range: core::ops::Range<usize>) -> Result<(), Trap> {
        self.reserve(range.len())?;
        self.heap.text.extend_from_within(range);
        Ok(())
    }

    /// Appends a range of the arena as a JSON string.
    fn quote_again(&mut self, mut range: core::ops::Range<usize>) -> Result<(), Trap> {
        self.raw("\"")?;
        loop {
            let (plain, escape) = until_escape(&self.heap.text.as_bytes()[range.clone()]);
            self.again(range.start..range.start + plain)?;
            let Some(escape) = escape else { break };
            self.raw(escape.as_str())?;
            range.start += plain + 1;
        }
        self.raw("\"")
    }

    /// Appends a text from outside the arena as a JSON string.
    fn quote_foreign(&mut self, text: &str) -> Result<(), Trap> {
        let mut trap = None;
        let written = quote(text, |part| {
            self.raw(part).map_err(|found| {
                trap = Some(found);
                fmt::Error
            })
        });
        match (written, trap) {
            (Err(_), Some(trap)) => Err(trap),
            _ => Ok(()),
        }
    }
}

impl Sink for Arena<'_> {
    type Error = Trap;

    fn heap(&self) -> &Heap {
        self.heap
    }

    fn program(&self) -> &ProgramData {
        self.program
    }

    #[inline]
    fn raw(&mut self, text: &str) -> Result<(), Trap> {
        self.reserve(text.len())?;
        self.heap.text.push_str(text);
        Ok(())
    }

    fn number(&mut self, number: Number) -> Result<(), Trap> {
        let mut digits = Digits::default();
        // The buffer is larger than the longest number.
        let _ = number::write(number, &mut digits);
        self.raw(digits.as_str())
    }

    fn text(&mut self, value: Value) -> Result<(), Trap> {
        match self.heap.arena_range(value) {
            Some(range) => self.again(range),
            None => self.raw(self.program.text_at(at(value.low()), at(value.high()))),
        }
    }

    fn quoted(&mut self, value: Value) -> Result<(), Trap> {
        match self.heap.arena_range(value) {
            Some(range) => self.quote_again(range),
            None => self.quote_foreign(self.program.text_at(at(value.low()), at(value.high()))),
        }
    }

    fn name(&mut self, name: u32) -> Result<(), Trap> {
        let program = self.program;
        if let Some(text) = program.own_string(name) {
            return self.quote_foreign(text);
        }
        let text = String::from(self.heap.shapes.name(program, name));
        self.quote_foreign(&text)
    }

    fn unknown(&mut self) -> Result<(), Trap> {
        Err(mismatch("a value to render", Tag::Unknown))
    }
}

/// A string that is cut at a limit of bytes, which is what memory is charged by.
pub(crate) struct Capped<'a> {
    pub(crate) out: &'a mut String,
    pub(crate) left: usize,
}

impl Write for Capped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.len() <= self.left {
            self.left -= text.len();
            self.out.push_str(text);
            return Ok(());
        }
        let mut end = self.left;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.out.push_str(&text[..end]);
        self.out.push('…');
        self.left = 0;
        Err(fmt::Error)
    }
}

/// Bytes of a value shown in a message.
const EXCERPT: usize = 60;

/// Appends the beginning of a value as JSON to a message.
pub(crate) fn excerpt(heap: &Heap, program: &ProgramData, value: Value, out: &mut String) {
    let mut capped = Capped { out, left: EXCERPT };
    // An error means that the value was cut, which the ellipsis shows.
    let _ = json(&mut Host { heap, program, out: &mut capped }, value);
}

/// Appends the beginning of a name to a message; the empty name as `""`.
pub(crate) fn clip(name: &str, out: &mut String) {
    let shown = if name.is_empty() { "\"\"" } else { name };
    let _ = Capped { out, left: EXCERPT }.write_str(shown);
}

/// A failure as a message of at most `limit` bytes.
pub(crate) fn message(heap: &Heap, program: &ProgramData, value: Value, limit: usize) -> String {
    let mut out = String::new();
    let mut capped = Capped { out: &mut out, left: limit };
    let _ = plain(&mut Host { heap, program, out: &mut capped }, value);
    out
}
