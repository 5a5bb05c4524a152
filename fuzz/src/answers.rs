//! Runs programs that call tools, with arguments and answers made from bytes: values of any kind, size and
//! depth.

use crate::drive::{Source, run};
use crate::generate;
use ilo_asm::arena::Arena;
use ilo_asm::compile::{Options, compile};
use ilo_vm::Datum;

/// The number of bytes that a program is generated from.
const PROGRAM: usize = 96;
/// The deepest nesting of a value that is built item by item.
const DEPTH: usize = 4;

/// Field names that the examples and generated programs read, and one that none of them reads.
const NAMES: [&str; 8] = ["a", "email", "verified", "level", "reservation-id", "name", "id", "nowhere"];

/// Runs verified programs with any answers. The first byte selects an example or a generated program, the
/// next bytes generate it, and the rest makes arguments and answers.
///
/// # Panics
/// If a run does not end, or a restored run continues differently.
pub fn answers(data: &[u8]) {
    let Some((&pick, rest)) = data.split_first() else { return };
    let arena = Arena::new();
    let examples = crate::snapshots::suspending();
    if let Some(example) = examples.get(usize::from(pick)) {
        return run(example, Bytes { left: rest, arena: &arena });
    }
    let (head, rest) = rest.split_at(rest.len().min(PROGRAM));
    let options = Options { strip: true, ..Options::default() };
    let program = compile(&generate::case(head).source, &options).0.map(ilo_vm::Program::new);
    if let Some(Ok(program)) = program {
        run(&program, Bytes { left: rest, arena: &arena });
    }
}

/// Values read from bytes; nil after the last byte.
#[derive(Clone)]
struct Bytes<'d> {
    left: &'d [u8],
    arena: &'d Arena,
}

impl<'d> Bytes<'d> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.left.split_first() else { return 0 };
        self.left = rest;
        first
    }

    fn take(&mut self, count: usize) -> &'d [u8] {
        let (head, rest) = self.left.split_at(count.min(self.left.len()));
        self.left = rest;
        head
    }

    fn value(&mut self, depth: usize) -> Datum<'d> {
        match self.byte() % 16 {
            0 => Datum::Nil,
            1 => Datum::Bool(self.byte() > 127),
            2 => Datum::Int(i64::from(self.byte())),
            3 => {
                let mut wide = [0; 8];
                self.take(8).iter().zip(&mut wide).for_each(|(&from, to)| *to = from);
                Datum::Int(i64::from_le_bytes(wide))
            }
            4 => {
                let mut wide = [0; 8];
                self.take(8).iter().zip(&mut wide).for_each(|(&from, to)| *to = from);
                Datum::Double(f64::from_le_bytes(wide))
            }
            5 | 6 => {
                let length = usize::from(self.byte() % 32);
                Datum::Text(core::str::from_utf8(self.take(length)).unwrap_or("\u{fffd}"))
            }
            7 => {
                // Long enough to come near the limits of a run here.
                let text = "x".repeat(usize::from(self.byte()) << 12);
                Datum::Text(self.arena.alloc_str(&text))
            }
            8 => {
                let mut value = Datum::Nil;
                for _ in 0..self.byte() {
                    value = Datum::List(self.arena.alloc_slice_copy(&[value]));
                }
                value
            }
            9 => {
                let item = self.value(DEPTH);
                Datum::List(self.arena.alloc_slice_copy(&vec![item; usize::from(self.byte()) << 6]))
            }
            _ if depth >= DEPTH => Datum::Bool(true),
            10 | 11 => {
                let count = self.byte() % 8;
                let items: Vec<Datum<'d>> = (0..count).map(|_| self.value(depth + 1)).collect();
                Datum::List(self.arena.alloc_slice_copy(&items))
            }
            _ => {
                let count = self.byte() % 6;
                // A name may occur twice; such a record is refused.
                let fields: Vec<(&str, Datum<'d>)> = (0..count)
                    .map(|_| (NAMES[usize::from(self.byte()) % NAMES.len()], self.value(depth + 1)))
                    .collect();
                Datum::Record(self.arena.alloc_slice_copy(&fields))
            }
        }
    }
}

impl<'d> Source<'d> for Bytes<'d> {
    fn next(&mut self) -> Datum<'d> {
        self.value(0)
    }

    fn fails(&mut self) -> bool {
        self.byte() % 4 == 3
    }
}
