//! Limits, fuel and memory of pure functions.

use super::*;

/// A function, its operands, a limit, how much of it is enough, and the fault with one less.
type Row<'r> = (Pure, &'r [Datum<'r>], fn(usize) -> Limits, usize, &'r str);

#[test]
fn results_keep_to_the_limits() {
    let two = l(&[Datum::Int(1), Datum::Int(2)]);
    let inner = [Datum::List(&[Datum::Int(1)])];
    let deep = l(&inner);
    let text = |text| Limits { text, ..Limits::default() };
    let items = |items| Limits { items, ..Limits::default() };
    let depth = |value_depth| Limits { value_depth, ..Limits::default() };
    let nodes = |result_nodes| Limits { result_nodes, ..Limits::default() };
    let bytes = |result_bytes| Limits { result_bytes, ..Limits::default() };
    let one = [Datum::Int(1)];
    let nil = [NIL];
    let within = [("a", deep)];
    let rows: [Row<'_>; 25] = [
        (Pure::Join, &[two, t("+")], text, 3, TOO_LARGE),
        (Pure::Replace, &[t("ab"), t("b"), t("bb")], text, 3, TOO_LARGE),
        (Pure::Lower, &[t("ȺȺ")], text, 6, TOO_LARGE),
        (Pure::Fixed, &[i(1), i(3)], text, 5, TOO_LARGE),
        (Pure::Iso, &[i(0)], text, 20, TOO_LARGE),
        (Pure::Json, &[two], text, 5, TOO_LARGE),
        (Pure::Split, &[t("a,b"), t(",")], items, 2, TOO_LARGE),
        (Pure::Split, &[t("abc"), t("")], items, 3, TOO_LARGE),
        (Pure::Range, &[i(4)], items, 4, TOO_LARGE),
        (Pure::Put, &[r(&[("a", NIL)]), t("b"), NIL], items, 2, TOO_LARGE),
        (Pure::Put, &[r(&[("a", NIL)]), t("a"), deep], depth, 3, DEPTH),
        (Pure::Parse, &[t("[[1]]")], depth, 2, DEPTH),
        (Pure::Parse, &[t("[1,2]")], items, 2, TOO_LARGE),
        (Pure::Parse, &[t("[1,2]")], nodes, 3, TOO_LARGE),
        (Pure::Parse, &[t(r#"{"ab":"cd"}"#)], bytes, 4, TOO_LARGE),
        (Pure::Grouped, &[i(1234), i(0)], text, 5, TOO_LARGE),
        (Pure::Date, &[i(0)], text, 10, TOO_LARGE),
        (Pure::Set, &[l(&nil), i(0), deep], depth, 3, DEPTH),
        (Pure::Joined, &[r(&[("a", NIL)]), r(&[("b", NIL)])], items, 2, TOO_LARGE),
        (Pure::Entries, &[r(&within)], depth, 4, DEPTH),
        (Pure::Group, &[l(&one), NIL], depth, 3, DEPTH),
        (Pure::Read, &[t("[[1]]")], depth, 2, DEPTH),
        (Pure::Read, &[t("[1,2]")], items, 2, TOO_LARGE),
        (Pure::Read, &[t("[1,2]")], nodes, 3, TOO_LARGE),
        (Pure::Read, &[t(r#"{"ab":"cd"}"#)], bytes, 4, TOO_LARGE),
    ];
    for (function, operands, limits, enough, code) in rows {
        let within = apply_within(function, operands, limits(enough));
        assert_ne!(within, code, "{function:?} {operands:?} within {enough}");
        assert_eq!(apply_within(function, operands, limits(enough - 1)), code, "{function:?} {operands:?}");
    }
}

/// The fuel of a run of a function beyond that of its instructions.
fn fuel(function: Pure, operands: &[Datum<'_>]) -> u64 {
    let program = program(function).build();
    let mut run = Run::new(&program, Limits::default());
    run.start(FunctionId(0), operands).unwrap();
    drive(&mut run, NO_TOOLS);
    run.fuel_used() - program.spec().code.iter().map(|op| u64::from(op.cost())).sum::<u64>()
}

#[test]
fn fuel_is_what_the_table_says() {
    let ints: Vec<Datum<'_>> = (0..256).map(i).collect();
    let text = "x".repeat(640);
    let texts = vec![t(&text); 64];
    let names: Vec<String> = (0..64).map(|at| format!("name {at:02}")).collect();
    let fields: Vec<(&str, Datum<'_>)> = names.iter().map(|name| (&**name, NIL)).collect();
    let spaced = format!("{}x", " ".repeat(639));
    let json = format!("[{}1]", "1,".repeat(319));
    let records = [r(&fields)];
    let described: Vec<[(&str, Datum<'_>); 2]> =
        names.iter().map(|name| [("key", t(name)), ("value", NIL)]).collect();
    let described: Vec<Datum<'_>> = described.iter().map(|entry| r(entry)).collect();
    for (function, operands, expected) in [
        // 256 values, 66 digits of 10 + 90 * 2 + 156 * 3 = 658 written, 255 bytes copied.
        (Pure::Join, &[l(&ints), t(",")][..], 64 + (658 / 4 + 255 / 64)),
        (Pure::Get, &[r(&fields), t(&names[63]), NIL], 64 / 4),
        (Pure::Put, &[r(&fields), t(&names[63]), NIL], 65 / 4),
        (Pure::Keys, &[r(&fields)], 64 / 4),
        // 640 bytes read, 640 parts, 640 bytes written.
        (Pure::Split, &[t(&text), t("")], 10 + (640 / 4 + 10)),
        (Pure::Replace, &[t(&text), t("x"), t("yy")], 10 + 20),
        (Pure::Trim, &[t(&spaced)], 10),
        (Pure::Lower, &[t(&text)], 10),
        (Pure::Upper, &[t(&text)], 10 + 10),
        (Pure::Slice, &[l(&ints), i(128), NIL], 128 / 4),
        (Pure::Slice, &[t(&text), i(320), NIL], 10 + 5),
        // 256 values looked at, 8 rounds of 256.
        (Pure::Sort, &[l(&ints), NIL], 64 + 8 * 256),
        (Pure::Sort, &[l(&texts), NIL], 16 + 6 * (64 + 640)),
        (Pure::Reverse, &[l(&ints)], 64),
        (Pure::Range, &[i(256)], 64),
        (Pure::Sum, &[l(&ints)], 64),
        (Pure::Min, &[l(&ints)], 64),
        (Pure::Max, &[l(&texts)], 16 + 640),
        (Pure::Round, &[d(1.5), i(0)], 1),
        (Pure::Fixed, &[d(1.5), i(0)], 1),
        (Pure::Number, &[t(&text)], 10),
        // 641 bytes and 321 values.
        (Pure::Parse, &[t(&json)], 641 / 4 + 321 / 4),
        (Pure::Json, &[t(&text)], 642 / 4),
        (Pure::Time, &[t("1970-01-01")], 1),
        (Pure::Iso, &[i(0)], 1),
        (Pure::Floor, &[d(1.5)], 1),
        (Pure::Ceil, &[d(1.5)], 1),
        (Pure::Abs, &[i(-1)], 1),
        (Pure::FloorDiv, &[i(7), i(2)], 1),
        (Pure::SortDown, &[l(&ints), NIL], 64 + 8 * 256),
        (Pure::SortDown, &[l(&texts), NIL], 16 + 6 * (64 + 640)),
        // An item takes a quarter to look at, and one for each value in it. A list or record of
        // others costs a quarter of its items once more where it leaves the run, rounded up.
        (Pure::Unique, &[l(&ints), NIL], 64 + 256),
        (Pure::Group, &[l(&ints), NIL], 64 + 256 + (64 + 256 * 2)),
        (Pure::Entries, &[r(&fields)], 64 / 4 + (64 / 4 + 64)),
        (Pure::Column, &[l(&records), t(&names[63])], 64 / 4),
        (Pure::Find, &[l(&records), t(&names[63]), i(1)], 64 / 4),
        (Pure::Values, &[r(&fields)], 64 / 4),
        (Pure::Record, &[l(&described)], 64 / 4),
        (Pure::Without, &[r(&fields), t(&names[63])], 64 / 4),
        (Pure::Joined, &[r(&fields), r(&fields)], 128 / 4),
        (Pure::Set, &[l(&ints), i(0), NIL], 256 / 4),
        (Pure::Starts, &[t(&text), t(&text)], 10),
        (Pure::Ends, &[t(&text), t(&text)], 10),
        (Pure::Index, &[l(&ints), i(255)], 256),
        (Pure::Date, &[i(0)], 1),
        (Pure::Days, &[i(0), i(0)], 2),
        (Pure::Grouped, &[d(1.5), i(0)], 1),
        (Pure::Read, &[t(&json)], 641 / 4 + 321 / 4),
    ] {
        // The failure of a function takes one instruction, as its return does; one of them was not carried
        // out.
        let skipped = u64::from(function.row().fails);
        assert_eq!(fuel(function, operands) + skipped, expected + skipped, "{function:?}");
    }
}

/// A loop that makes texts, lists and records and forgets them, in little memory.
#[test]
fn what_functions_make_is_collected() {
    let apply = |dst, first, function: Pure| Op::Apply {
        dst: Out(dst),
        first: First(first),
        count: Count(u8::try_from(function.row().operands.len()).unwrap()),
        function: PureId(function as u8),
        fail: OnFail(0),
    };
    let mut asm = Asm::new(&["a", "b", "n"]);
    let comma = asm.text(",");
    let code = [
        apply(3, 2, Pure::Range),
        Op::For { base: LoopBase(4), list: In(3), to: To(12) },
        Op::Move { dst: Out(8), src: In(0) },
        apply(8, 8, Pure::Parse),
        apply(9, 8, Pure::Reverse),
        Op::ConcatTwo { dst: Out(8), a: In(8), b: In(9) },
        Op::Add { dst: Out(8), a: In(8), b: In(9) },
        Op::Text { dst: Out(9), text: comma },
        apply(10, 8, Pure::Join),
        Op::Move { dst: Out(8), src: In(10) },
        apply(11, 8, Pure::Split),
        apply(12, 11, Pure::Json),
        Op::Len { dst: Out(12), src: In(12) },
        Op::Yield { base: LoopBase(4), src: In(12) },
        Op::Next { base: LoopBase(4), item: Out(7), back: Back(13) },
        Op::Collect { dst: Out(3), base: LoopBase(4) },
        Op::Return { src: In(3) },
    ];
    asm.function("f", &["a", "b", "n"], PLAIN, 13, &code);
    let program = asm.build();
    let document = format!("[{}0]", "1,".repeat(200));
    let drive_within = |memory| {
        let mut run = Run::new(&program, Limits { memory, ..Limits::default() });
        run.start(FunctionId(0), &[t(&document), NIL, i(40)]).unwrap();
        drive(&mut run, NO_TOOLS)
    };
    let plenty = drive_within(64 << 20);
    assert!(plenty.starts_with(r#"{"status":"ok","value":[2413,2413,"#), "{plenty}");
    assert_eq!(drive_within(256 << 10), plenty);
    assert_eq!(short(&drive_within(16 << 10)), "memory");
}
