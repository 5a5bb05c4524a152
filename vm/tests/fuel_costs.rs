//! The fuel of work that grows with its operands (10.4), for every instruction of the table: each is built
//! from its row and run with operands of two sizes, and the difference in fuel must be what the specification
//! says.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use crate::common::*;
use Operands::{AnsweredList, AnsweredText, Lists, OwnTexts, Records, Rendered, Texts};
use ilo_spec::bytes::ByteReader;
use ilo_spec::isa::{Op, Row, TABLE};
use ilo_spec::program::Key;
use ilo_vm::{Datum, FunctionId, Limits, Run, Step};

/// Units that the operands grow by: 64 bytes of text, an item, or a field each.
const MORE: u64 = 960;
/// More fields than a run finds without searching.
const FEW: u64 = 320;
/// More cases than are searched linearly.
const MANY_CASES: usize = 40;

/// The values of both registers; `y` is the greater one if they differ.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operands {
    /// Two equal texts at different addresses, of 64 bytes a unit; the program has that text as well.
    Texts,
    /// The same, but the program has no text of that length.
    OwnTexts,
    /// Two equal lists of integers.
    Lists,
    /// A list of one-digit integers, then a text as long as a digit.
    Rendered,
    /// A record from outside, with its fields in an order that the program does not have, and the name of the
    /// last field.
    Records,
    /// A tool's answer is a text.
    AnsweredText,
    /// A tool's answer is a list.
    AnsweredList,
}

const ALL: [Operands; 7] = [Texts, OwnTexts, Lists, Rendered, Records, AnsweredText, AnsweredList];

/// The additional fuel for `MORE` units, if any, and for which instructions and operands.
const CHARGED: &[(u64, &[Operands], &[&str])] = &[
    // One for 64 bytes compared. Comparisons with a constant are of numbers.
    (MORE, &[Texts, OwnTexts], &["eq", "ne", "lt", "le", "gt", "ge"]),
    (
        MORE,
        &[Texts, OwnTexts],
        &["unless.eq", "unless.ne", "unless.lt", "unless.le", "unless.gt", "unless.ge"],
    ),
    // A key is compared if it may be the text: a text longer than all keys equals none.
    (MORE, &[Texts], &["switch", "select"]),
    // Counted, and two of them joined.
    (MORE, &[Texts, OwnTexts], &["len"]),
    (2 * MORE, &[Texts, OwnTexts], &["concat"]),
    // One for 4 bytes written: a digit and a comma for each item; a five-letter name, `true`, and JSON
    // punctuation.
    (2 * MORE * 2 / 4, &[Lists], &["concat"]),
    (MORE * 2 / 4, &[Rendered], &["concat"]),
    (MORE * 13 / 4, &[Records], &["concat"]),
    // The same for two values; two lists are copied instead, one for 4 values.
    (2 * MORE, &[Texts, OwnTexts], &["concat.two", "add", "return.add"]),
    (MORE * 2 / 4, &[Rendered], &["concat.two"]),
    (MORE * 13 / 4, &[Records], &["concat.two"]),
    (2 * MORE / 4, &[Lists], &["concat.two", "add", "return.add"]),
    // Function 0, which joins: one for 4 values, for 4 bytes written and for 64 copied.
    (MORE / 4 + MORE / 4 + MORE / 64, &[Rendered], &["apply"]),
    // One for 4 items or 64 bytes looked through.
    (MORE / 4, &[Lists, Rendered], &["has", "has.name"]),
    (MORE, &[Texts, OwnTexts], &["has"]),
    (2 * MORE, &[Texts, OwnTexts], &["has.name"]),
    // One for each value of two lists that are compared.
    (MORE, &[Lists], &["eq", "ne", "unless.eq", "unless.ne"]),
    // One for 4 values copied: a list from outside has no room for another item.
    (MORE / 4, &[Lists, Rendered], &["append"]),
    // A pass for each item, with one instruction and the way back.
    (
        2 * MORE,
        &[Lists, Rendered],
        &[
            "for",
            "each",
            "next",
            "yield",
            "yield.record",
            "yield.two",
            "yield.three",
            "yield.four",
            "collect",
        ],
    ),
    // One for 4 fields searched.
    (MORE / 4, &[Records], &["field", "has", "has.name", "if.field", "unless.field", "at"]),
    // One for 4 values copied, and for 64 fields searched for the new one.
    (MORE / 4 + MORE / 64, &[Records], &["merge"]),
    // One for 64 bytes and for 4 values of an answer.
    (MORE, &[AnsweredText], &["tool", "tool.rollback"]),
    (MORE / 4, &[AnsweredList], &["tool", "tool.rollback"]),
];

fn expected(mnemonic: &str, operands: Operands) -> u64 {
    let of = |row: &&(u64, &[Operands], &[&str])| row.1.contains(&operands) && row.2.contains(&mnemonic);
    CHARGED.iter().find(of).map_or(0, |row| row.0)
}

/// The instruction of a row: registers read are the first two in turn, the window begins with them, results
/// go to the third, jumps go to the next instruction, indexes are the first.
fn instruction(row: &Row) -> Op {
    let mut bytes = vec![row.number];
    let mut read = 0;
    for (_, kind) in row.operands {
        bytes.push(match *kind {
            "In" => {
                read += 1;
                (read - 1) % 2
            }
            "Out" | "Count" => 2,
            "LoopBase" => 3,
            // Two other shapes come before the shapes of that many fields.
            "FieldsId" => read,
            _ => 0,
        });
    }
    Op::decode(&mut ByteReader::new(&bytes)).unwrap()
}

/// Code that executes the instruction once, if it is not part of a loop.
fn code(row: &Row) -> Vec<Op> {
    let (base, back) = (LoopBase(3), Back(2));
    let for_each = |op| {
        vec![
            Op::For { base, list: In(0), to: To(1) },
            op,
            Op::Next { base, item: Out(6), back },
            Op::Collect { dst: Out(2), base },
        ]
    };
    let mut code = match row.mnemonic {
        "for" | "next" | "collect" => for_each(Op::Yield { base, src: In(1) }),
        "each" => vec![
            Op::Each { base, list: In(0), to: To(1) },
            Op::Nil { dst: Out(2) },
            Op::Next { base, item: Out(6), back },
        ],
        // To the instruction after the `collect`, which nothing may jump to.
        "break" => for_each(Op::Break { dst: Out(2), base, to: To(2) }),
        "tool" => vec![Op::Tool {
            dst: Out(2),
            first: First(0),
            call: ilo_spec::operand::CallId(0),
            fail: OnFail(0),
        }],
        "tool.rollback" => vec![
            Op::ToolRollback {
                dst: Out(2),
                first: First(0),
                call: ilo_spec::operand::CallId(0),
                fail: OnFail(0),
                entries: ilo_spec::operand::Entries(1),
            },
            Op::Rollback { first: First(0), call: ilo_spec::operand::CallId(0) },
        ],
        _ if row.mnemonic.starts_with("yield") => for_each(instruction(row)),
        _ => vec![instruction(row)],
    };
    let goes_on =
        code.last().is_none_or(|op| !op.ends() || matches!(op, Op::Jump { .. } | Op::Switch { .. }));
    code.extend(goes_on.then_some(Op::ReturnNil {}));
    code
}

/// The fuel that a run burns, however it ends.
fn burnt(code: &[Op], operands: Operands, units: u64) -> u64 {
    let units = usize::try_from(units).unwrap();
    let text = "x".repeat(64 * units);
    let items: Vec<Datum<'_>> = vec![Datum::Int(7); units];
    let names: Vec<String> = (0..units).map(|at| format!("n{at:04}")).chain(["c".to_string()]).collect();
    let fields: Vec<(&str, Datum<'_>)> = names.iter().map(|name| (&**name, Datum::Bool(true))).collect();
    let mut asm = Asm::new(&["c", "d", "e", "g"]);
    asm.int(1);
    asm.shape(&["d"]);
    asm.call("tool", &[]);
    for fields in 2..=4 {
        asm.shape(&["c", "d", "e", "g"][..fields]);
    }
    let mut keys: Vec<Key> = (0..MANY_CASES).map(|at| Key::Text(asm.text(&format!("key {at}")))).collect();
    if operands == Operands::Texts {
        keys[0] = Key::Text(asm.text(&text));
    }
    if code.iter().any(|op| matches!(op, Op::Switch { .. } | Op::Select { .. })) {
        asm.map(keys.into_iter().map(|key| (key, 0)).collect(), Some(0));
    }
    asm.function("helper", &["d"], PLAIN, 1, &[Op::ReturnNil {}]);
    asm.function("f", &["d", "e"], PLAIN, 8, code);
    let (x, y, answer) = match operands {
        Operands::Texts | Operands::OwnTexts => (Datum::Text(&text), Datum::Text(&text), NIL),
        Operands::Lists => (Datum::List(&items), Datum::List(&items), NIL),
        Operands::Rendered => (Datum::List(&items), Datum::Text("7"), NIL),
        Operands::Records => (Datum::Record(&fields), Datum::Text("c"), NIL),
        Operands::AnsweredText => (NIL, NIL, Datum::Text(&text)),
        Operands::AnsweredList => (NIL, NIL, Datum::List(&items)),
    };
    let program = asm.build();
    let mut run = Run::new(&program, Limits::default());
    run.start(FunctionId(1), &[x, y]).unwrap();
    while let Step::Call(call) = run.step() {
        call.answer(answer).unwrap();
    }
    run.fuel_used()
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn every_instruction_is_charged_for_what_it_touches() {
    let mut wrong = Vec::new();
    for row in TABLE {
        for operands in ALL {
            let code = code(row);
            let more = burnt(&code, operands, FEW + MORE) - burnt(&code, operands, FEW);
            let expected = expected(row.mnemonic, operands);
            if more != expected {
                wrong.push(format!("{} {operands:?}: {more}, expected {expected}", row.mnemonic));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
