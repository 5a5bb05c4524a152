//! Converts values to the form that the machine takes: borrowed trees whose lists are in an arena.

use super::Data;
use super::write::Sink;
use bumpalo::Bump;
use ilo_spec::program::Number;
use ilo_vm::Datum;

/// A list or record whose end was not reached.
enum Copied<'a> {
    List(Vec<Datum<'a>>),
    Record(Vec<(&'a str, Datum<'a>)>, &'a str),
}

struct Gather<'a> {
    arena: &'a Bump,
    open: Vec<Copied<'a>>,
    whole: Datum<'a>,
}

/// Converts a value. Texts are borrowed; lists and records are in the arena.
pub(super) fn datum<'a>(data: &'a Data, arena: &'a Bump) -> Datum<'a> {
    let mut gather = Gather { arena, open: Vec::new(), whole: Datum::Nil };
    data.feed(&mut gather);
    gather.whole
}

impl<'a> Gather<'a> {
    fn put(&mut self, value: Datum<'a>) {
        match self.open.last_mut() {
            None => self.whole = value,
            Some(Copied::List(items)) => items.push(value),
            Some(Copied::Record(fields, key)) => fields.push((*key, value)),
        }
    }
}

impl<'a> Sink<'a> for Gather<'a> {
    fn nil(&mut self) {
        self.put(Datum::Nil);
    }

    fn bool(&mut self, value: bool) {
        self.put(Datum::Bool(value));
    }

    fn number(&mut self, value: Number) {
        self.put(match value {
            Number::Int(int) => Datum::Int(int),
            Number::Double(double) => Datum::Double(double),
        });
    }

    fn text(&mut self, value: &'a str) {
        self.put(Datum::Text(value));
    }

    fn begin_list(&mut self, length: usize) {
        self.open.push(Copied::List(Vec::with_capacity(length)));
    }

    fn begin_record(&mut self, length: usize) {
        self.open.push(Copied::Record(Vec::with_capacity(length), ""));
    }

    fn key(&mut self, name: &'a str) {
        if let Some(Copied::Record(_, key)) = self.open.last_mut() {
            *key = name;
        }
    }

    fn end(&mut self) {
        let whole = match self.open.pop() {
            Some(Copied::List(items)) => Datum::List(self.arena.alloc_slice_copy(&items)),
            Some(Copied::Record(fields, _)) => Datum::Record(self.arena.alloc_slice_copy(&fields)),
            None => return,
        };
        self.put(whole);
    }
}
