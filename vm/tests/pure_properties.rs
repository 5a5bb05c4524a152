//! Pure functions on random operands, against straightforward definitions over Rust's own values.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use crate::common::*;
use ilo_spec::isa::Op;
use ilo_spec::operand::PureId;
use ilo_spec::program::Number;
use ilo_spec::pure::{Kinds, Pure, TABLE};
use ilo_vm::{Datum, FunctionId, Limits, Program, Run};

/// A fixed sequence that looks random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 11
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next()).unwrap() % end
    }

    fn int(&mut self) -> i64 {
        let bits = self.next().wrapping_mul(2_049).cast_signed();
        bits >> self.below(64)
    }

    /// A finite double, often one with few digits.
    fn double(&mut self) -> f64 {
        match self.below(3) {
            0 => f64::from_bits(self.next() << 11 | self.next() >> 42),
            1 => f64::from(i32::try_from(self.below(2_000_000)).unwrap() - 1_000_000) / 1_000.0,
            _ => f64::from(i32::try_from(self.below(2_000)).unwrap() - 1_000) / 8.0,
        }
        .clamp(f64::MIN, f64::MAX)
        .max(-f64::MAX)
    }

    fn text(&mut self, most: usize) -> String {
        const LETTERS: [char; 12] = ['a', 'b', 'B', ' ', '"', '\\', '\n', 'é', 'ß', '日', '😀', '\u{1f}'];
        (0..self.below(most + 1)).map(|_| LETTERS[self.below(LETTERS.len())]).collect()
    }
}

/// A program that returns what a function gives.
fn program(function: Pure) -> Program {
    let count = u8::try_from(function.row().operands.len()).unwrap();
    let function = PureId(function as u8);
    let mut asm = Asm::new(&["a", "b", "c"]);
    let apply = Op::Apply { dst: Out(3), first: First(0), count: Count(count), function, fail: OnFail(0) };
    let code = [apply, Op::Return { src: In(3) }];
    asm.function("f", &["a", "b", "c"][..usize::from(count)], PLAIN, 4, &code);
    asm.build()
}

fn apply(program: &Program, operands: &[Datum<'_>]) -> String {
    let mut run = Run::new(program, Limits::default());
    run.start(FunctionId(0), operands).unwrap();
    short(&drive(&mut run, NO_TOOLS))
}

fn json(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            '\n' => "\\n".to_string(),
            c if c < ' ' => format!("\\u{:04x}", c as u32),
            c => c.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}

fn list_of(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

#[test]
#[cfg_attr(miri, ignore = "takes long")]
fn texts() {
    let mut random = Random(1);
    let [split, join, replace, trim, slice] =
        [Pure::Split, Pure::Join, Pure::Replace, Pure::Trim, Pure::Slice].map(program);
    for _ in 0..3_000 {
        let (text, pattern, new) = (random.text(12), random.text(2), random.text(3));
        let parts: Vec<String> = match &*pattern {
            "" => text.chars().map(String::from).collect(),
            _ => text.split(&pattern).map(String::from).collect(),
        };
        let shown = list_of(parts.iter().map(|part| json(part)));
        assert_eq!(apply(&split, &[t(&text), t(&pattern)]), shown, "{text:?} {pattern:?}");
        let given: Vec<Datum<'_>> = parts.iter().map(|part| t(part)).collect();
        assert_eq!(apply(&join, &[l(&given), t(&new)]), json(&parts.join(&new)));
        let replaced = if pattern.is_empty() { text.clone() } else { text.replace(&pattern, &new) };
        assert_eq!(apply(&replace, &[t(&text), t(&pattern), t(&new)]), json(&replaced));
        assert_eq!(apply(&trim, &[t(&text)]), json(text.trim()));
        let characters: Vec<char> = text.chars().collect();
        let (from, to) =
            (i64::try_from(random.below(31)).unwrap() - 15, i64::try_from(random.below(31)).unwrap() - 15);
        let length = i64::try_from(characters.len()).unwrap();
        let place = |at: i64| if at < 0 { (length + at).max(0) } else { at.min(length) };
        let expected: String = (0..length)
            .filter(|&at| place(from) <= at && at < place(to))
            .map(|at| characters[usize::try_from(at).unwrap()])
            .collect();
        assert_eq!(apply(&slice, &[t(&text), i(from), i(to)]), json(&expected), "{text:?} {from} {to}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes long")]
fn lists() {
    let mut random = Random(2);
    let [sort, reverse, least, greatest] = [Pure::Sort, Pure::Reverse, Pure::Min, Pure::Max].map(program);
    for _ in 0..500 {
        let numbers: Vec<i64> = (0..=random.below(40)).map(|_| random.int()).collect();
        let given: Vec<Datum<'_>> = numbers.iter().copied().map(i).collect();
        let shown = |numbers: &[i64]| list_of(numbers.iter().map(i64::to_string));
        let mut sorted = numbers.clone();
        // By insertion, which shares nothing with the sort that is tested.
        for end in 1..sorted.len() {
            let mut at = end;
            while at > 0 && sorted[at - 1] > sorted[at] {
                sorted.swap(at - 1, at);
                at -= 1;
            }
        }
        assert_eq!(apply(&sort, &[l(&given), NIL]), shown(&sorted));
        assert_eq!(apply(&least, &[l(&given)]), sorted[0].to_string());
        assert_eq!(apply(&greatest, &[l(&given)]), sorted[sorted.len() - 1].to_string());
        let reversed: Vec<i64> = numbers.iter().rev().copied().collect();
        assert_eq!(apply(&reverse, &[l(&given)]), shown(&reversed));
    }
}

/// A decimal text rounded digit by digit: its form is `-123.456` without an exponent.
fn rounded(text: &str, places: usize) -> String {
    let (sign, size) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = size.split_once('.').unwrap_or((size, ""));
    let padded = format!("{fraction}{}", "0".repeat(places + 1));
    let mut digits: Vec<u8> = format!("0{whole}{}", &padded[..places]).bytes().collect();
    if padded.as_bytes()[places] >= b'5' {
        for digit in digits.iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                break;
            }
            *digit = b'0';
        }
    }
    let digits = String::from_utf8(digits).unwrap();
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let zero = digits.bytes().all(|digit| digit == b'0');
    let sign = if zero { "" } else { sign };
    if places == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[test]
#[cfg_attr(miri, ignore = "takes long")]
fn numbers() {
    let mut random = Random(3);
    let [fixed, round, number] = [Pure::Fixed, Pure::Round, Pure::Number].map(program);
    for _ in 0..3_000 {
        let double = random.double();
        let written = Number::Double(double).to_string();
        assert_eq!(apply(&number, &[t(&format!(" {written}\t"))]), written);
        let places = random.below(21);
        // Rust's own display is the shortest decimal without an exponent.
        let expected = rounded(&format!("{double}"), places);
        let count = i(i64::try_from(places).unwrap());
        assert_eq!(apply(&fixed, &[d(double), count]), format!("\"{expected}\""), "{double:?} {places}");
        let result = apply(&round, &[d(double), count]);
        if places == 0 {
            let whole: Option<i64> = expected.parse().ok();
            assert_eq!(result, whole.map_or("overflow".to_string(), |whole| whole.to_string()), "{double:?}");
        } else {
            // Equal as numbers: the sign of zero is kept here and dropped there.
            let (found, expected): (f64, f64) = (result.parse().unwrap(), expected.parse().unwrap());
            assert_eq!((found + 0.0).to_bits(), (expected + 0.0).to_bits(), "{double:?} {places}: {result}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes long")]
fn times() {
    let mut random = Random(4);
    let [time, iso] = [Pure::Time, Pure::Iso].map(program);
    for _ in 0..3_000 {
        let seconds = i64::try_from(random.below(315_537_897_600)).unwrap() - 62_135_596_800;
        let text = apply(&iso, &[i(seconds)]);
        assert_eq!(apply(&time, &[t(text.trim_matches('"'))]), seconds.to_string(), "{text}");
        let zoned = text.trim_matches('"').replace('Z', "+02:30");
        assert_eq!(apply(&time, &[t(&zoned)]), (seconds - 9_000).to_string(), "{zoned}");
    }
}

/// A random JSON document in compact form.
fn document(random: &mut Random, depth: usize) -> String {
    match random.below(if depth == 0 { 5 } else { 7 }) {
        0 => "null".to_string(),
        1 => ["true", "false"][random.below(2)].to_string(),
        2 => random.int().to_string(),
        3 => Number::Double(random.double()).to_string(),
        4 => json(&random.text(6)),
        5 => {
            let count = random.below(5);
            list_of((0..count).map(|_| document(random, depth - 1)))
        }
        _ => {
            let count = random.below(5);
            let fields = (0..count).map(|at| {
                let name = json(&format!("{}{at}", random.text(2)));
                format!("{name}:{}", document(random, depth - 1))
            });
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes long")]
fn documents() {
    let mut random = Random(5);
    let [parse, written] = [Pure::Parse, Pure::Json].map(program);
    for _ in 0..2_000 {
        let text = document(&mut random, 4);
        assert_eq!(apply(&parse, &[t(&text)]), text);
        assert_eq!(apply(&written, &[t(&text)]), json(&json(&text)));
        // A byte changed is a document or a failure, and never anything else.
        let mut bytes = text.clone().into_bytes();
        let place = random.below(bytes.len());
        bytes[place] = b" \"\\{}[],:0e-.tn"[random.below(15)];
        if let Ok(changed) = String::from_utf8(bytes) {
            let result = apply(&parse, &[t(&changed)]);
            assert!(!result.starts_with("type-mismatch"), "{changed}: {result}");
        }
    }
}

/// The kind of value that a document is.
fn kind(document: &str) -> Kinds {
    match document.as_bytes()[0] {
        b'n' => Kinds::NIL,
        b't' | b'f' => Kinds::BOOL,
        b'"' => Kinds::TEXT,
        b'[' => Kinds::LIST,
        b'{' => Kinds::RECORD,
        _ => Kinds::NUMBER,
    }
}

/// Any operands within any limits come to an outcome, and to the same one when the run is rewound.
#[test]
#[cfg_attr(miri, ignore = "takes long")]
fn any_operands_within_any_limits() {
    let mut random = Random(6);
    let parse = |register| Op::Apply {
        dst: Out(register),
        first: First(register),
        count: Count(1),
        function: PureId(Pure::Parse as u8),
        fail: OnFail(0),
    };
    let programs: Vec<Program> = (0..)
        .map_while(Pure::from_number)
        .map(|function| {
            let count = u8::try_from(function.row().operands.len()).unwrap();
            let function = PureId(function as u8);
            let mut asm = Asm::new(&["a", "b", "c"]);
            let apply =
                Op::Apply { dst: Out(3), first: First(0), count: Count(count), function, fail: OnFail(0) };
            let code = [parse(0), parse(1), parse(2), apply, Op::Return { src: In(3) }];
            asm.function("f", &["a", "b", "c"], RESULT, 4, &code);
            asm.build()
        })
        .collect();
    let mut statuses = std::collections::BTreeMap::<String, u32>::new();
    for _ in 0..30_000 {
        let number = random.below(programs.len());
        let (program, row) = (&programs[number], &TABLE[number]);
        let documents = [0, 1, 2].map(|place| {
            let kinds = row.operands.get(place).map_or(Kinds::ANY, |operand| operand.kinds);
            let kinds = if random.below(8) == 0 { Kinds::ANY } else { kinds };
            loop {
                let document = document(&mut random, 2);
                if kinds.meets(kind(&document)) {
                    break document;
                }
            }
        });
        let limits = Limits {
            fuel: 6 + u64::try_from(random.below(60)).unwrap(),
            memory: 4_600 + u64::try_from(random.below(6_000)).unwrap(),
            text: 10 + random.below(60),
            items: 1 + random.below(8),
            value_depth: 1 + random.below(4),
            ..Limits::default()
        };
        let mut run = Run::new(program, limits);
        let operands = documents.each_ref().map(|document| t(document));
        if run.start(FunctionId(0), &operands).is_err() {
            continue;
        }
        let outcome = drive(&mut run, NO_TOOLS);
        run.rewind();
        assert_eq!(drive(&mut run, NO_TOOLS), outcome, "{documents:?}");
        let status = short(&outcome);
        let status = if outcome.contains("\"status\":\"fault\"") { &*status } else { "an end" };
        *statuses.entry(status.to_string()).or_default() += 1;
    }
    for expected in ["an end", "fuel", "memory", "too-large", "depth", "type-mismatch"] {
        assert!(statuses.get(expected).is_some_and(|&count| count > 20), "{statuses:?}");
    }
}
