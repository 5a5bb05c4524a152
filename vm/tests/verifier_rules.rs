//! Each rule of section 8 of the specification: a program that breaks only this rule, and the corrected
//! program.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use crate::common::*;
use ilo_spec::isa::Op;
use ilo_spec::limits;
use ilo_spec::operand::{ChoiceId, FieldId, FieldsId, FunctionId, MapId, NumberId, StringId};
use ilo_spec::program::{Function, Key};
use ilo_spec::record_input::{RecordField, RecordInput};
use ilo_spec::types::Type;
use ilo_vm::{Program, Rule};
use std::collections::BTreeSet;

const RETURN: Op = Op::Return { src: In(0) };
const BASE: LoopBase = LoopBase(1);

/// Registers of the functions in these tests.
const REGISTERS: u16 = 8;

/// One function f(a), with tables that have one entry each.
fn one(code: &[Op]) -> Asm {
    let mut asm = Asm::new(&["a", "b"]);
    asm.int(1);
    asm.shape(&["a", "b"]);
    asm.call("tool", &["a"]);
    asm.function("f", &["a"], PLAIN, REGISTERS, code);
    asm
}

fn with(code: &[Op], change: impl FnOnce(&mut Asm)) -> Asm {
    let mut asm = one(code);
    change(&mut asm);
    asm
}

fn nil(dst: u8) -> Op {
    Op::Nil { dst: Out(dst) }
}

fn read(src: u8) -> Op {
    Op::Move { dst: Out(7), src: In(src) }
}

fn begin(to: u16) -> Op {
    Op::For { base: BASE, list: In(0), to: To(to) }
}

fn next(back: u16) -> Op {
    Op::Next { base: BASE, item: Out(4), back: Back(back) }
}

fn jump_if(to: u16) -> Op {
    Op::JumpIf { src: In(0), to: To(to) }
}

fn call(fail: u16) -> Op {
    Op::Tool { dst: Out(5), first: First(0), call: ilo_spec::operand::CallId(0), fail: OnFail(fail) }
}

const COLLECT: Op = Op::Collect { dst: Out(0), base: BASE };
const YIELD: Op = Op::Yield { base: BASE, src: In(0) };
const SWITCH: Op = Op::Switch { src: In(0), map: MapId(0) };

fn invoke(function: u16) -> Op {
    Op::Invoke { dst: Out(0), first: First(0), function: FunctionId(function), fail: OnFail(0) }
}

/// A rule's number, a program that breaks it and where (nowhere: in the tables or a signature), and the
/// corrected one.
type Row = (u8, Asm, Option<u32>, fn(&Rule) -> bool, Asm);

fn exit(to: u16) -> Op {
    Op::Break { dst: Out(0), base: BASE, to: To(to) }
}

/// A pure function of this number of operands from register 0.
fn apply(function: u8, count: u8, fail: u16) -> Op {
    Op::Apply {
        dst: Out(1),
        first: First(0),
        count: Count(count),
        function: ilo_spec::operand::PureId(function),
        fail: OnFail(fail),
    }
}

/// A call followed by this number of rollbacks.
fn covered(entries: u8, fail: u16) -> Op {
    let (call, entries) = (ilo_spec::operand::CallId(0), ilo_spec::operand::Entries(entries));
    Op::ToolRollback { dst: Out(5), first: First(0), call, fail: OnFail(fail), entries }
}

fn return_as(ty: Type) -> Op {
    Op::ReturnAs { src: In(0), ty: ilo_spec::operand::TypeId(ty.packed()) }
}

const ROLLBACK: Op = Op::Rollback { first: First(5), call: ilo_spec::operand::CallId(0) };

/// A record input: the parameter, and the fields with the numbers of their names and their types.
fn listed(function: u16, place: u16, fields: &[(u32, Type)]) -> RecordInput {
    let field = |&(name, ty): &(u32, Type)| RecordField {
        name: StringId(name),
        ty,
        optional: false,
        nullable: false,
        fields: Vec::new(),
    };
    RecordInput { function: FunctionId(function), place, fields: fields.iter().map(field).collect() }
}

/// Rules of the parameters whose types list fields.
fn records() -> Vec<Row> {
    let right = || {
        let mut asm = one(&[RETURN]);
        asm.spec.records.push(listed(0, 0, &[(0, Type::TEXT), (1, Type::ANY)]));
        asm
    };
    let broken = |is_expected: fn(&Rule) -> bool, change: fn(&mut Vec<RecordInput>)| {
        let mut asm = right();
        change(&mut asm.spec.records);
        (30, asm, None, is_expected, right())
    };
    let index: fn(&Rule) -> bool = |rule| matches!(rule, Rule::Index { .. });
    let twice: fn(&Rule) -> bool = |rule| matches!(rule, Rule::Duplicate { .. });
    vec![
        broken(index, |records| records[0].function = FunctionId(1)),
        broken(index, |records| records[0].place = 1),
        broken(index, |records| records[0].fields[1].name = StringId(99)),
        broken(twice, |records| records.push(records[0].clone())),
        broken(twice, |records| records[0].fields[1].name = StringId(0)),
        broken(
            |rule| matches!(rule, Rule::RecordType),
            |records| records[0].fields[0].fields = records[0].fields.clone(),
        ),
    ]
}

/// Rules of the section of a `tool.rollback`.
fn sections() -> Vec<Row> {
    let section: fn(&Rule) -> bool = |rule| matches!(rule, Rule::Section { .. });
    let right = || one(&[covered(1, 0), nil(6), jump_if(0), ROLLBACK, RETURN]);
    let broken = |code: &[Op]| (27, one(code), Some(0), section, right());
    let mut rows: Vec<Row> = vec![
        broken(&[covered(0, 0), RETURN]),
        broken(&[covered(1, 0), RETURN]),
        broken(&[covered(2, 0), ROLLBACK, RETURN]),
        broken(&[covered(1, 0), call(0), ROLLBACK, RETURN]),
        broken(&[covered(1, 0), covered(1, 0), ROLLBACK, RETURN]),
        broken(&[covered(1, 0), begin(0), next(1), COLLECT, ROLLBACK, RETURN]),
        broken(&[covered(1, 0), RETURN, ROLLBACK, RETURN]),
        broken(&[covered(1, 0), Op::Fail { src: In(0) }, ROLLBACK, RETURN]),
        // A jump over the rollback, and one over the first of two.
        broken(&[covered(1, 0), jump_if(1), ROLLBACK, RETURN]),
        broken(&[covered(2, 0), jump_if(1), ROLLBACK, ROLLBACK, RETURN]),
        // The failure of a pure function may leave the section, but not lead to another place in it.
        (
            27,
            one(&[covered(1, 0), apply(ilo_spec::pure::Pure::Parse as u8, 1, 1), nil(6), ROLLBACK, RETURN]),
            Some(0),
            section,
            one(&[covered(1, 0), apply(ilo_spec::pure::Pure::Parse as u8, 1, 2), nil(6), ROLLBACK, RETURN]),
        ),
        (
            28,
            one(&[nil(5), jump_if(1), covered(1, 0), ROLLBACK, RETURN]),
            Some(3),
            |rule| matches!(rule, Rule::EntersSection { to: 3 }),
            one(&[nil(5), jump_if(0), covered(1, 0), ROLLBACK, RETURN]),
        ),
        // Its own failure.
        (
            28,
            one(&[covered(1, 1), nil(6), ROLLBACK, RETURN]),
            Some(2),
            |rule| matches!(rule, Rule::EntersSection { to: 2 }),
            one(&[covered(1, 2), nil(6), ROLLBACK, RETURN]),
        ),
        (
            29,
            one(&[return_as(Type::NUMBER)]),
            Some(0),
            |rule| matches!(rule, Rule::ReturnType { .. }),
            one(&[return_as(Type::ANY)]),
        ),
    ];
    // Outside a section it may come anywhere.
    rows.push((
        27,
        one(&[covered(2, 0), ROLLBACK, RETURN]),
        Some(0),
        section,
        one(&[nil(5), ROLLBACK, RETURN]),
    ));
    rows
}

fn each(to: u16) -> Op {
    Op::Each { base: BASE, list: In(0), to: To(to) }
}

fn tables() -> Vec<Row> {
    let end = &[RETURN];
    let text = |id| with(&[Op::Text { dst: Out(1), text: StringId(id) }, RETURN], |_| ());
    let mapped = |code: &[Op], cases: Vec<(Key, u16)>| {
        with(code, |asm| {
            asm.map(cases, Some(0));
        })
    };
    let (one_int, twice) = (Key::Number(NumberId(0)), Key::Number(NumberId(1)));
    let equal = |second: f64| {
        with(&[SWITCH, RETURN], |asm| {
            asm.double(second);
            asm.map(vec![(one_int, 0), (twice, 0)], Some(0));
        })
    };
    let parameters = |second: u16| {
        with(end, |asm| {
            let mut other = asm.spec.functions[0].parameters[0];
            other.name = FieldId(second);
            asm.spec.functions[0].parameters.push(other);
        })
    };
    vec![
        (
            1,
            with(end, |asm| assert!(asm.spec.strings.push("tool").is_some())),
            None,
            |rule| matches!(rule, Rule::Duplicate { what: "string" }),
            with(end, |asm| assert!(asm.spec.strings.push("another").is_some())),
        ),
        (
            2,
            text(4),
            Some(0),
            |rule| matches!(rule, Rule::Index { what: "string", found: 4, size: 4 }),
            text(3),
        ),
        (
            3,
            with(end, |asm| asm.spec.shapes.push(vec![FieldId(1), FieldId(1)])),
            None,
            |rule| matches!(rule, Rule::Duplicate { what: "field of a shape" }),
            with(end, |asm| asm.spec.shapes.push(vec![FieldId(1), FieldId(0)])),
        ),
        (
            4,
            mapped(&[RETURN], vec![(Key::Nil, 0)]),
            None,
            |rule| matches!(rule, Rule::UnusedMap { found: 0 }),
            mapped(&[SWITCH, RETURN], vec![(Key::Nil, 0)]),
        ),
        (5, equal(1.0), None, |rule| matches!(rule, Rule::Duplicate { what: "key of a map" }), equal(1.5)),
        (6, parameters(0), None, |rule| matches!(rule, Rule::Duplicate { what: "parameter" }), parameters(1)),
        (
            7,
            with(end, |asm| asm.spec.code.push(RETURN)),
            None,
            |rule| matches!(rule, Rule::Cover),
            with(end, |asm| {
                let name = asm.text("g");
                let first = asm.spec.functions[0].clone();
                asm.spec.functions.push(Function { name, start: 1, end: 2, ..first });
                asm.spec.code.push(RETURN);
            }),
        ),
        (
            8,
            with(end, |asm| asm.spec.functions[0].registers = 257),
            None,
            |rule| matches!(rule, Rule::Count { what: "registers", found: 257, limit: 256 }),
            with(end, |asm| asm.spec.functions[0].registers = 256),
        ),
        (
            9,
            one(&[Op::List { dst: Out(0), first: First(7), count: Count(2) }, RETURN]),
            Some(0),
            |rule| matches!(rule, Rule::Register { found: 9, limit: 8 }),
            one(&[nil(6), nil(7), Op::List { dst: Out(0), first: First(6), count: Count(2) }, RETURN]),
        ),
        (
            10,
            one(&[product(1), RETURN]),
            Some(0),
            |rule| matches!(rule, Rule::Index { what: "number", found: 1, size: 1 }),
            one(&[product(0), RETURN]),
        ),
    ]
}

/// Multiplies by the first number and compares with another.
fn product(least: u8) -> Op {
    Op::MulCUnlessGeC { dst: Out(0), a: In(0), by: NumberByte(0), least: NumberByte(least), to: To(0) }
}

/// A choice whose one case has that number constant; there is one.
fn choice(number: u16) -> Asm {
    with(&[Op::Select { dst: Out(1), src: In(0), map: ChoiceId(0) }, RETURN], |asm| {
        asm.map(vec![(Key::Nil, number)], None);
    })
}

/// A record of this number of registers under the shape of two fields.
fn yield_of(count: usize) -> Op {
    let (a, shape) = (In(0), FieldsId(0));
    match count {
        2 => Op::YieldTwo { base: BASE, a, b: a, shape },
        3 => Op::YieldThree { base: BASE, a, b: a, c: a, shape },
        _ => Op::YieldFour { base: BASE, a, b: a, c: a, d: a, shape },
    }
}

fn flow() -> Vec<Row> {
    let chain = |callee| {
        with(&[RETURN], |asm| {
            asm.function("g", &["a"], PLAIN, REGISTERS, &[invoke(callee), RETURN]);
        })
    };
    vec![
        (
            11,
            one(&[jump_if(1), RETURN]),
            Some(0),
            |rule| matches!(rule, Rule::Jump { to: 2, end: 2 }),
            one(&[jump_if(0), RETURN]),
        ),
        (
            12,
            one(&[RETURN, nil(1)]),
            Some(1),
            |rule| matches!(rule, Rule::Unreachable),
            one(&[nil(1), RETURN]),
        ),
        (12, one(&[nil(1)]), Some(0), |rule| matches!(rule, Rule::RunsOff), one(&[nil(1), RETURN])),
        (
            13,
            one(&[begin(1), nil(5), next(3), COLLECT, RETURN]),
            Some(0),
            |rule| matches!(rule, Rule::Loop),
            one(&[begin(1), nil(5), next(2), COLLECT, RETURN]),
        ),
        (
            14,
            one(&[jump_if(1), begin(1), nil(5), next(2), RETURN]),
            Some(2),
            |rule| matches!(rule, Rule::EntersLoop { to: 2 }),
            one(&[jump_if(3), begin(1), nil(5), next(2), RETURN]),
        ),
        (
            10,
            choice(1),
            Some(0),
            |rule| matches!(rule, Rule::Index { what: "number", found: 1, size: 1 }),
            choice(0),
        ),
        (
            10,
            one(&[begin(1), yield_of(3), next(2), COLLECT, RETURN]),
            Some(1),
            |rule| matches!(rule, Rule::Fields { found: 2, expected: 3 }),
            one(&[begin(1), yield_of(2), next(2), COLLECT, RETURN]),
        ),
        (
            26,
            one(&[begin(1), exit(0), next(2), COLLECT, RETURN]),
            Some(1),
            |rule| matches!(rule, Rule::Break),
            one(&[begin(1), exit(2), next(2), COLLECT, RETURN]),
        ),
        (
            26,
            one(&[each(1), exit(1), next(2), RETURN]),
            Some(1),
            |rule| matches!(rule, Rule::Yield),
            one(&[begin(1), exit(1), next(2), RETURN]),
        ),
        (
            25,
            one(&[apply(45, 1, 0), RETURN]),
            Some(0),
            |rule| matches!(rule, Rule::Index { what: "pure function", found: 45, size: 45 }),
            one(&[apply(44, 1, 0), RETURN]),
        ),
        (
            25,
            one(&[apply(16, 1, 0), RETURN]),
            Some(0),
            |rule| matches!(rule, Rule::Operands { found: 1, expected: 2 }),
            one(&[apply(18, 1, 0), RETURN]),
        ),
        (
            25,
            one(&[apply(6, 1, 1), RETURN, RETURN]),
            Some(0),
            |rule| matches!(rule, Rule::Handler { function: "TRIM" }),
            one(&[apply(18, 1, 1), RETURN, RETURN]),
        ),
        (15, chain(1), Some(1), |rule| matches!(rule, Rule::Order { found: 1, caller: 1 }), chain(0)),
    ]
}

fn registers() -> Vec<Row> {
    let unset = |register| -> fn(&Rule) -> bool {
        match register {
            4 => |rule| matches!(rule, Rule::Unset { register: 4 }),
            5 => |rule| matches!(rule, Rule::Unset { register: 5 }),
            _ => |rule| matches!(rule, Rule::Unset { register: 6 }),
        }
    };
    vec![
        // Set on only one of two paths.
        (
            16,
            one(&[jump_if(1), nil(5), read(5), RETURN]),
            Some(2),
            unset(5),
            one(&[nil(5), jump_if(0), read(5), RETURN]),
        ),
        // At the failure handler `dst` is set, and nothing else.
        (
            17,
            one(&[call(1), RETURN, read(6), RETURN]),
            Some(2),
            unset(6),
            one(&[call(1), RETURN, read(5), RETURN]),
        ),
        // The item is set in the body, but not after the loop.
        (
            18,
            one(&[begin(0), next(1), COLLECT, read(4), RETURN]),
            Some(3),
            unset(4),
            one(&[begin(1), read(4), next(2), COLLECT, RETURN]),
        ),
        (19, one(&[read(6), RETURN]), Some(0), unset(6), one(&[nil(6), read(6), RETURN])),
        (
            20,
            one(&[begin(1), read(2), next(2), COLLECT, RETURN]),
            Some(1),
            |rule| matches!(rule, Rule::LoopRegister { register: 2 }),
            one(&[begin(1), YIELD, next(2), COLLECT, RETURN]),
        ),
        (
            21,
            one(&[each(1), YIELD, next(2), RETURN]),
            Some(1),
            |rule| matches!(rule, Rule::Yield),
            one(&[begin(1), YIELD, next(2), COLLECT, RETURN]),
        ),
        (
            22,
            one(&[begin(0), next(1), nil(5), COLLECT, RETURN]),
            Some(3),
            |rule| matches!(rule, Rule::Collect),
            one(&[begin(0), next(1), COLLECT, nil(5), RETURN]),
        ),
        (
            23,
            one(&[Op::Jump { to: To(1) }, nil(5), RETURN]),
            Some(1),
            |rule| matches!(rule, Rule::Unreachable),
            one(&[Op::Jump { to: To(0) }, nil(5), RETURN]),
        ),
    ]
}

#[test]
fn a_program_that_breaks_one_rule_is_refused_for_it_and_the_corrected_one_is_not() {
    for (number, broken, place, is_expected, corrected) in
        tables().into_iter().chain(flow()).chain(registers()).chain(sections()).chain(records())
    {
        let Err(error) = Program::new(broken.spec) else { panic!("8.{number} is broken and taken") };
        assert!(is_expected(&error.rule), "8.{number}: {error}");
        assert_eq!(error.pc(), place, "8.{number}: {error}");
        if let Err(error) = Program::new(corrected.spec) {
            panic!("8.{number}, corrected: {error}");
        }
    }
}

/// No program breaks rule 8.24: its sums are bounded by limits that other rules check.
#[test]
fn the_sums_of_the_largest_program_can_be_counted() {
    let widest = ilo_spec::isa::TABLE.iter().map(|row| usize::from(row.cost)).max().unwrap();
    assert!(limits::FUNCTION_CODE * widest < 1 << 32);
    const { assert!(limits::FUNCTIONS * limits::REGISTERS < 1 << 32) };
}

/// Every rule numbered in the specification has a row here, except that one.
#[test]
fn every_rule_of_the_specification_is_tested() {
    let page = include_str!("../../spec/doc/bytecode.md");
    let numbered = page.split("**8.").skip(1).filter_map(|rest| rest.split("**").next()?.parse().ok());
    let stated: BTreeSet<u8> = numbered.filter(|&number| number != 24).collect();
    let rows = tables().into_iter().chain(flow()).chain(registers()).chain(sections()).chain(records());
    assert_eq!(rows.map(|row| row.0).collect::<BTreeSet<_>>(), stated);
}
