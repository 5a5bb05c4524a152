//! Plans of programs written by hand.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use ilo_host::plan::{Plan, plan};
use ilo_host::tools::Tools;
use ilo_spec::isa::Op;
use ilo_spec::operand::{Back, Count, First, FunctionId, In, LoopBase, OnFail, Out, To};
use ilo_spec::program::Program;
use ilo_spec::types::{Output, Type};
use support::Draft;

const ANY: Output = Output::plain(Type::ANY);

fn planned(program: &Program) -> Plan {
    let program = ilo_vm::Program::new(program.clone()).unwrap();
    let last = program.spec().functions.len() - 1;
    plan(&program, FunctionId(last.try_into().unwrap()), &Tools::new()).unwrap()
}

/// Each tool with how often it is called.
fn bounds(program: &Program) -> Vec<(String, String)> {
    planned(program).calls.into_iter().map(|call| (call.tool, call.most)).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|&(tool, most)| (tool.to_owned(), most.to_owned())).collect()
}

fn list() -> Type {
    Type::ANY.list().unwrap()
}

#[test]
fn branches_that_exclude_each_other_count_once() {
    let mut d = Draft::new(&["id"]);
    let (a, _) = d.call("a", &["id"]);
    let (b, _) = d.call("b", &["id"]);
    let tool = |call| Op::Tool { dst: Out(1), first: First(0), call, fail: OnFail(0) };
    d.function(
        "f",
        &[("id", Type::ANY)],
        ANY,
        &[
            tool(a),
            Op::JumpUnless { src: In(1), to: To(2) },
            tool(b),
            Op::Jump { to: To(1) },
            tool(b),
            Op::Return { src: In(1) },
        ],
    );
    assert_eq!(bounds(&d.0), pairs(&[("a", "1"), ("b", "1")]));
}

#[test]
fn a_loop_multiplies_and_an_early_end_adds_nothing_to_its_passes() {
    let mut d = Draft::new(&["customers", "tags"]);
    let (a, _) = d.call("a", &["tags"]);
    let (log, _) = d.call("log", &["tags"]);
    let tool = |call| Op::Tool { dst: Out(6), first: First(5), call, fail: OnFail(0) };
    let tags = d.field("tags");
    d.function(
        "f",
        &[("customers", list())],
        ANY,
        &[
            Op::Each { base: LoopBase(2), list: In(0), to: To(10) },
            tool(a), // 1: the body
            tool(a),
            Op::JumpUnless { src: In(6), to: To(2) },
            tool(log), // 4: the end of the function
            Op::Return { src: In(6) },
            Op::Field { dst: Out(7), src: In(5), field: tags },
            Op::Each { base: LoopBase(8), list: In(7), to: To(1) },
            tool(log),
            Op::Next { base: LoopBase(8), item: Out(11), back: Back(2) },
            Op::Nil { dst: Out(7) },
            Op::Next { base: LoopBase(2), item: Out(5), back: Back(11) },
            Op::ReturnNil {},
        ],
    );
    // In one pass the log is written once, or once a tag: the larger coefficient of each product.
    let log = "≤ len(customers) + len(customers) × len(tags of each item of customers)";
    assert_eq!(bounds(&d.0), pairs(&[("a", "≤ 2 × len(customers)"), ("log", log)]));
}

#[test]
fn a_called_function_counts_in_terms_of_its_arguments() {
    let mut d = Draft::new(&["items", "orders", "lines"]);
    let (a, _) = d.call("a", &["items"]);
    d.function(
        "each",
        &[("items", list())],
        ANY,
        &[
            Op::Each { base: LoopBase(2), list: In(0), to: To(1) },
            Op::Tool { dst: Out(6), first: First(5), call: a, fail: OnFail(0) },
            Op::Next { base: LoopBase(2), item: Out(5), back: Back(2) },
            Op::ReturnNil {},
        ],
    );
    let lines = d.field("lines");
    d.function(
        "f",
        &[("orders", list())],
        ANY,
        &[
            Op::Move { dst: Out(1), src: In(0) },
            Op::Move { dst: Out(2), src: In(0) },
            Op::List { dst: Out(10), first: First(0), count: Count(3) },
            Op::Invoke { dst: Out(2), first: First(10), function: FunctionId(0), fail: OnFail(0) },
            Op::Each { base: LoopBase(3), list: In(0), to: To(2) },
            Op::Field { dst: Out(10), src: In(6), field: lines },
            Op::Invoke { dst: Out(2), first: First(10), function: FunctionId(0), fail: OnFail(0) },
            Op::Next { base: LoopBase(3), item: Out(6), back: Back(3) },
            Op::ReturnNil {},
        ],
    );
    let most = "≤ 3 + len(orders) × len(lines of each item of orders)";
    assert_eq!(bounds(&d.0), pairs(&[("a", most)]));
}

#[test]
fn a_list_that_paths_disagree_on_is_named_by_its_place() {
    let mut d = Draft::new(&["xs", "c"]);
    let (a, _) = d.call("a", &["xs"]);
    d.function(
        "f",
        &[("xs", list()), ("c", Type::BOOL)],
        ANY,
        &[
            Op::Move { dst: Out(2), src: In(0) },
            Op::JumpUnless { src: In(1), to: To(1) },
            Op::List { dst: Out(2), first: First(0), count: Count(1) },
            Op::Each { base: LoopBase(3), list: In(2), to: To(1) },
            Op::Tool { dst: Out(7), first: First(6), call: a, fail: OnFail(0) },
            Op::Next { base: LoopBase(3), item: Out(6), back: Back(2) },
            Op::ReturnNil {},
        ],
    );
    assert_eq!(bounds(&d.0), pairs(&[("a", "≤ len(the list at line 4, column 1)")]));
}

#[test]
fn a_call_with_a_rollback_after_it_is_told_from_one_without() {
    let mut d = Draft::new(&["id"]);
    let (reserve, _) = d.call("reserve", &["id"]);
    let (charge, _) = d.call("charge", &["id"]);
    let (release, release_name) = d.call("release", &["id"]);
    let output = Output { ok: Type::ANY, err: Some(Type::ANY) };
    d.function(
        "f",
        &[("id", Type::ANY)],
        output,
        &[
            Op::Tool { dst: Out(1), first: First(0), call: reserve, fail: OnFail(0) },
            Op::Tool { dst: Out(2), first: First(0), call: charge, fail: OnFail(1) },
            Op::Return { src: In(2) },
            Op::Tool { dst: Out(3), first: First(0), call: release, fail: OnFail(1) },
            Op::Jump { to: To(1) },
            Op::Note { src: In(3), tool: release_name },
            Op::Fail { src: In(2) },
        ],
    );
    let plan = planned(&d.0);
    let found: Vec<_> =
        plan.calls.iter().map(|call| (call.tool.as_str(), call.rolled_back, call.is_rollback)).collect();
    assert_eq!(found, [("reserve", true, false), ("charge", false, false), ("release", false, true)]);
    assert!(plan.calls.iter().all(|call| !call.policy.read_only && call.most == "1"));
}

#[test]
fn bounds_stay_small_where_calls_of_calls_double() {
    let mut d = Draft::new(&["xs"]);
    let (a, _) = d.call("a", &["xs"]);
    let call = Op::Tool { dst: Out(1), first: First(0), call: a, fail: OnFail(0) };
    d.function("f0", &[("xs", list())], ANY, &[call, Op::ReturnNil {}]);
    for level in 0..2_000 {
        let argument = Op::Move { dst: Out(10), src: In(0) };
        let invoke =
            Op::Invoke { dst: Out(1), first: First(10), function: FunctionId(level), fail: OnFail(0) };
        d.function(
            &format!("f{}", level + 1),
            &[("xs", list())],
            ANY,
            &[
                argument,
                invoke,
                Op::Each { base: LoopBase(2), list: In(0), to: To(2) },
                argument,
                invoke,
                Op::Next { base: LoopBase(2), item: Out(5), back: Back(3) },
                Op::ReturnNil {},
            ],
        );
    }
    assert_eq!(bounds(&d.0), pairs(&[("a", "more often than can be said briefly")]));
}
