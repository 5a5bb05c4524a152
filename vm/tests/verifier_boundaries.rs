//! Where the verifier takes different paths by size or place: both sides are judged alike, and the costs that
//! it computes are exact.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use crate::common::*;
use ilo_spec::isa::Op;
use ilo_spec::limits;
use ilo_spec::operand::{FieldId, FieldsId, FunctionId, MapId, StringId};
use ilo_spec::program::{Function, Key};
use ilo_vm::{Datum, Limits, Program, Rule, Run};

const RETURN: Op = Op::Return { src: In(0) };

fn nil(dst: u8) -> Op {
    Op::Nil { dst: Out(dst) }
}

fn copy(dst: u8, src: u8) -> Op {
    Op::Move { dst: Out(dst), src: In(src) }
}

fn each(base: u8, to: u16) -> Op {
    Op::Each { base: LoopBase(base), list: In(0), to: To(to) }
}

fn next(base: u8, item: u8, back: u16) -> Op {
    Op::Next { base: LoopBase(base), item: Out(item), back: Back(back) }
}

fn invoke(function: u16, first: u8, fail: u16) -> Op {
    Op::Invoke { dst: Out(first), first: First(first), function: FunctionId(function), fail: OnFail(fail) }
}

/// The verdict on a program: the rule's debug print and its place.
fn verdict(asm: Asm) -> Result<(), (Option<u32>, String)> {
    Program::new(asm.spec).map(drop).map_err(|error| (error.pc(), format!("{:?}", error.rule)))
}

/// Functions one after the other, each with one parameter.
fn functions(codes: &[(u16, &[Op])]) -> Asm {
    let mut asm = Asm::new(&["a"]);
    for (number, (registers, code)) in codes.iter().enumerate() {
        asm.function(&format!("f{number}"), &["a"], PLAIN, *registers, code);
    }
    asm
}

#[test]
fn many_keys_are_all_different() {
    let keyed = |twice: bool| {
        let mut asm = Asm::new(&["a"]);
        let mut cases: Vec<(Key, u16)> = (0..40).map(|n| (Key::Number(asm.int(n)), 0)).collect();
        cases.push((if twice { cases[7].0 } else { Key::Nil }, 0));
        asm.map(cases, Some(0));
        asm.function("f", &["a"], PLAIN, 1, &[Op::Switch { src: In(0), map: MapId(0) }, RETURN]);
        verdict(asm)
    };
    assert_eq!(keyed(false), Ok(()));
    let twice = format!("{:?}", Rule::Duplicate { what: "key of a map" });
    assert_eq!(keyed(true), Err((None, twice)));
}

#[test]
fn many_parameters_are_all_different_and_of_the_table() {
    let names: Vec<String> = (0..9).map(|n| format!("p{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let with = |last: Option<u16>, registers: u16| {
        let mut asm = Asm::new(&names);
        asm.function("f", &names, PLAIN, registers, &[RETURN]);
        if let Some(last) = last {
            let parameters = asm.spec.functions[0].parameters.iter().copied();
            let mut parameters: Vec<_> = parameters.collect();
            parameters[8].name = FieldId(last);
            asm.spec.functions[0].parameters = parameters.into_iter().collect();
        }
        verdict(asm)
    };
    assert_eq!(with(None, 9), Ok(()), "as many registers as parameters");
    assert!(with(None, 8).unwrap_err().1.starts_with("Count"));
    assert!(with(Some(3), 9).unwrap_err().1.starts_with("Duplicate"));
    assert!(with(Some(9), 9).unwrap_err().1.starts_with("Index"));
}

#[test]
fn a_function_is_as_long_as_may_be_wherever_it_stands() {
    let long = |length: usize| {
        let mut code = vec![nil(1); length - 1];
        code.push(RETURN);
        code
    };
    let most = limits::FUNCTION_CODE;
    assert_eq!(verdict(functions(&[(2, &long(most))])), Ok(()));
    let (place, rule) = verdict(functions(&[(2, &long(most + 1))])).unwrap_err();
    assert_eq!((place, rule.starts_with("Count")), (None, true));
    // The second one ends after that many instructions, but is not longer.
    assert_eq!(verdict(functions(&[(2, &long(40_000)), (2, &long(40_000))])), Ok(()));
}

#[test]
fn an_empty_function_covers_nothing() {
    let mut asm = functions(&[(1, &[RETURN])]);
    let name = asm.text("g");
    let first = asm.spec.functions[0].clone();
    asm.spec.functions.insert(0, Function { name, start: 0, end: 0, ..first });
    assert_eq!(verdict(asm), Err((None, "Cover".to_owned())));
}

#[test]
fn a_wide_frame_is_followed_as_a_narrow_one_is() {
    for registers in [64, 65, 128, 256] {
        let last = u8::try_from(registers - 1).unwrap();
        assert_eq!(verdict(functions(&[(registers, &[nil(last), copy(0, last), RETURN])])), Ok(()));
        let unset = format!("{:?}", Rule::Unset { register: last });
        assert_eq!(verdict(functions(&[(registers, &[copy(0, last), RETURN])])), Err((Some(0), unset)));
    }
}

/// A narrow frame is tracked in a word of 64 bits; register 64 would fall on register 0, which is set.
#[test]
fn a_register_past_the_word_is_no_other() {
    let code: [&[Op]; 4] = [
        &[Op::Return { src: In(64) }],
        &[nil(64), RETURN],
        &[copy(0, 64), RETURN],
        &[Op::List { dst: Out(0), first: First(64), count: Count(1) }, RETURN],
    ];
    for code in code {
        let (place, rule) = verdict(functions(&[(8, code)])).unwrap_err();
        assert_eq!((place, rule), (Some(0), format!("{:?}", Rule::Register { found: 65, limit: 8 })));
    }
}

/// An index far outside its table is refused like the first one outside.
#[test]
fn an_index_is_below_its_table_and_a_loop_within_its_frame() {
    for field in [1, 2, 9, u16::MAX] {
        let read = Op::Field { dst: Out(0), src: In(0), field: FieldId(field) };
        let (place, rule) = verdict(functions(&[(1, &[read, RETURN])])).unwrap_err();
        assert_eq!((place, rule.starts_with("Index")), (Some(0), true), "field {field}");
    }
    for far in [2, 9, u16::MAX] {
        let text = Op::Text { dst: Out(0), text: StringId(far.into()) };
        let switch = Op::Switch { src: In(0), map: MapId(far.into()) };
        for (op, rule) in [(text, "Index"), (switch, "Index"), (invoke(far, 0, 0), "Order")] {
            let (place, found) = verdict(functions(&[(1, &[op, RETURN])])).unwrap_err();
            assert_eq!((place, found.starts_with(rule)), (Some(0), true), "{op:?} {found}");
        }
    }
    for far in [0, 1, 9] {
        let shape = FieldsId(far);
        let add = Op::YieldTwo { base: LoopBase(1), a: In(0), b: In(0), shape };
        let begin = Op::For { base: LoopBase(1), list: In(0), to: To(1) };
        let (place, found) = verdict(functions(&[(5, &[begin, add, next(1, 4, 2), RETURN])])).unwrap_err();
        assert_eq!((place, found.starts_with("Index")), (Some(1), true), "{far} {found}");
    }
    for (base, registers, fits) in [(1, 5, true), (1, 3, false), (2, 5, true), (3, 5, false), (5, 7, false)] {
        let code = [each(base, 0), next(base, 0, 1), RETURN];
        let found = verdict(functions(&[(registers, &code)]));
        assert_eq!(found.is_ok(), fits, "{base} {registers} {found:?}");
    }
}

/// Each yield instruction must be in its loop, and those that name single registers must match their shape.
#[test]
fn what_yields_has_its_loop_and_its_shape() {
    let base = LoopBase(1);
    let (a, b, c, d) = (In(0), In(0), In(0), In(0));
    // The shapes 0 to 2 have two to four fields.
    let of = |count: usize, shape| match count {
        2 => Op::YieldTwo { base, a, b, shape },
        3 => Op::YieldThree { base, a, b, c, shape },
        _ => Op::YieldFour { base, a, b, c, d, shape },
    };
    let found = |begin: Op, op: Op| {
        let mut asm = Asm::new(&["a", "b", "c", "d"]);
        for count in 2..=4 {
            asm.shape(&["a", "b", "c", "d"][..count]);
        }
        asm.function("f", &["a"], PLAIN, 5, &[begin, op, next(1, 4, 2), RETURN]);
        verdict(asm)
    };
    let collects = Op::For { base, list: In(0), to: To(1) };
    for count in 2..=4_usize {
        for (shape, fields) in [(0, 2), (1, 3), (2, 4)] {
            let expected = if fields == count {
                Ok(())
            } else {
                Err((Some(1), format!("{:?}", Rule::Fields { found: fields, expected: count })))
            };
            assert_eq!(found(collects, of(count, FieldsId(shape))), expected);
        }
        let right = FieldsId(u16::try_from(count - 2).unwrap());
        assert_eq!(found(each(1, 1), of(count, right)), Err((Some(1), "Yield".to_owned())), "{count}");
    }
}

#[test]
fn the_second_function_is_followed_as_the_first_is() {
    let jump = Op::JumpIf { src: In(0), to: To(1) };
    let code = [nil(1), jump, nil(2), copy(0, 1), RETURN];
    assert_eq!(verdict(functions(&[(3, &code), (3, &code)])), Ok(()));
    // Its loop does not end in the next function.
    let begins = [nil(5), each(1, 0)];
    let ends = [next(1, 4, 1), RETURN];
    assert_eq!(verdict(functions(&[(6, &begins), (6, &ends)])), Err((Some(1), "Loop".to_owned())));
}

#[test]
fn a_failed_function_goes_on_where_it_says() {
    let leaf: (u16, &[Op]) = (1, &[RETURN]);
    let handled = [copy(1, 0), invoke(0, 1, 1), RETURN, copy(0, 1), RETURN];
    assert_eq!(verdict(functions(&[leaf, (2, &handled)])), Ok(()));
    let outside = [copy(1, 0), invoke(0, 1, 2), RETURN];
    let (place, rule) = verdict(functions(&[leaf, (2, &outside)])).unwrap_err();
    assert_eq!((place, rule.starts_with("Jump")), (Some(2), true), "{rule}");
    // Only its window is wrong.
    let unset = format!("{:?}", Rule::Unset { register: 1 });
    assert_eq!(verdict(functions(&[leaf, (2, &[invoke(0, 1, 0), RETURN])])), Err((Some(1), unset)));
}

/// An inner loop ends before the outer one.
#[test]
fn loops_do_not_cross() {
    let inner = |to: u16, code: [Op; 2]| {
        let code = [&[each(1, 3), each(5, to), nil(9)], &code[..], &[RETURN]].concat();
        verdict(functions(&[(10, &code)]))
    };
    assert_eq!(inner(1, [next(5, 8, 2), next(1, 4, 4)]), Ok(()));
    assert_eq!(inner(2, [next(1, 4, 4), next(5, 8, 3)]), Err((Some(0), "Loop".to_owned())));
    let code = [each(1, 2), each(5, 2), nil(9), next(1, 4, 3), next(5, 8, 3), RETURN];
    assert_eq!(verdict(functions(&[(10, &code)])), Err((Some(1), "Loop".to_owned())));
}

/// What one inner loop overwrites does not affect another one after it.
#[test]
fn each_inner_loop_overwrites_its_own() {
    let code = [
        each(1, 8),
        each(5, 2),
        nil(12),
        invoke(0, 12, 0),
        next(5, 8, 3),
        nil(12),
        each(5, 1),
        copy(14, 12),
        next(5, 8, 2),
        next(1, 4, 9),
        RETURN,
    ];
    assert_eq!(verdict(functions(&[(1, &[RETURN]), (16, &code)])), Ok(()));
}

/// Runs the last function with a list of that many numbers; returns the fuel and memory charged.
fn charged(asm: Asm, items: i64) -> (u64, u64) {
    let program = asm.build();
    let last = FunctionId(u16::try_from(program.spec().functions.len() - 1).unwrap());
    let items: Vec<Datum<'_>> = (0..items).map(Datum::Int).collect();
    let mut run = Run::new(&program, Limits::default());
    run.start(last, &[Datum::List(&items)]).unwrap();
    assert!(drive(&mut run, NO_TOOLS).starts_with("{\"status\":\"ok\""));
    (run.fuel_used(), run.memory_used())
}

/// A pass costs the rows of its instructions, including `next` (10.4).
#[test]
fn a_pass_costs_what_its_instructions_cost() {
    let looped = || functions(&[(6, &[each(1, 2), nil(5), nil(5), next(1, 4, 3), RETURN])]);
    let (fewer, more) = (charged(looped(), 8).0, charged(looped(), 16).0);
    assert_eq!(more - fewer, 8 * 3);
}

/// Nested calls that are under way are charged separately.
#[test]
fn calls_inside_each_other_are_charged_each() {
    let chain = |depth: u16| {
        let mut codes: Vec<(u16, Vec<Op>)> = vec![(8, vec![RETURN])];
        for callee in 0..depth {
            codes.push((8, vec![invoke(callee, 0, 0), RETURN]));
        }
        let codes: Vec<(u16, &[Op])> =
            codes.iter().map(|(registers, code)| (*registers, &code[..])).collect();
        charged(functions(&codes), 1).1
    };
    let sizes: Vec<u64> = (0..4).map(chain).collect();
    let steps: Vec<u64> = sizes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps[0] > 0 && steps.iter().all(|&step| step == steps[0]), "{sizes:?}");
}
