//! Plans of programs written by hand.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use crate::support::Draft;
use ilo_host::plan::{Plan, plan};
use ilo_host::tools::Tools;
use ilo_spec::isa::Op;
use ilo_spec::operand::{Back, Count, First, FunctionId, In, LoopBase, OnFail, Out, To};
use ilo_spec::program::Program;
use ilo_spec::types::{Output, Type};

const ANY: Output = Output::plain(Type::ANY);

fn planned(program: &Program) -> Plan {
    let program = ilo_vm::Program::new(program.clone()).unwrap();
    let last = program.spec().functions.len() - 1;
    plan(&program, FunctionId(last.try_into().unwrap()), &Tools::new()).unwrap()
}

/// Each tool with its number of calls.
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
    // A pass writes the log once for each tag, or once and is the last.
    let log = "≤ 1 + len(customers) × len(tags of each item of customers)";
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

/// Each tool of a source with its number of calls, and with the rollbacks that can still follow them.
fn told(source: &str) -> Vec<String> {
    let (program, diagnostics) = ilo_asm::compile::compile(source, &ilo_asm::compile::Options::default());
    let plan = planned(&program.unwrap_or_else(|| panic!("{:?}\n{source}", diagnostics.as_slice())));
    assert!(plan.calls.iter().all(|call| !call.policy.read_only));
    plan.calls
        .iter()
        .map(|call| {
            let after = match (call.is_rollback, call.rollbacks.join(", ")) {
                (true, after) if after.is_empty() && !call.some_without => "a rollback".to_owned(),
                (_, after) if after.is_empty() && call.some_without => "then none".to_owned(),
                (_, after) => format!("then {after}{}", if call.some_without { " or none" } else { "" }),
            };
            format!("{} {}: {after}", call.tool, call.most)
        })
        .collect()
}

#[test]
fn a_call_with_a_rollback_after_it_is_told_from_one_without() {
    let source = "; fn f(id: text) -> result any text\n; Tools: 0=reserve 1=charge 2=release\n; Fields: 0=id\n\
        LET 1 CALL 0 1 0 REF 0\n\
        LET 2 CALL 1 1 0 REF 0\n\
        MATCH 2 2\n  ERR 3 2\n    UNDO CALL 2 1 0 REF 1\n    RET_ERR REF 3\n  OK 4 1\n    RET_OK REF 4\n";
    let expected = ["reserve 1: then release", "charge 1: then none", "release 1: a rollback"];
    assert_eq!(told(source), expected);
}

#[test]
fn a_rollback_in_a_loop_follows_what_comes_before_it_on_any_pass() {
    // It can follow the call before the loop, and the later ones in an earlier pass; it leaves the loop, so
    // it runs once.
    let source = "; fn f(xs: list text) -> result nil text\n; Tools: 0=open 1=take 2=pay 3=drop 4=last\n; Fields: 0=id\n\
        LET 1 CALL 0 0\n\
        FOR 2 REF 0 4\n  LET 3 CALL 1 1 0 REF 2\n  MATCH 3 1\n    ERR 4 2\n      UNDO CALL 3 1 0 REF 1\n      RET_ERR REF 4\n\
        \x20 CALL 2 1 0 REF 2\n  REF 2\n\
        CALL 4 0\nRET_OK LIT 2 nil\n";
    let expected = [
        "open 1: then drop",
        "take ≤ len(xs): then drop",
        "pay ≤ len(xs): then drop",
        "last 1: then none",
        "drop 1: a rollback",
    ];
    assert_eq!(told(source), expected);
}

#[test]
fn held_things_that_a_loop_gives_back_are_counted_once() {
    let source = "; fn f(xs: list text) -> result nil text\n; Tools: 0=take 1=drop\n; Fields: 0=id\n\
        LET 1 LIST 0\n\
        FOR 2 REF 0 4\n  LET 3 CALL 0 1 0 REF 2\n  MATCH 3 1\n    ERR 4 2\n      FOR 5 REF 1 1\n\
        \x20       UNDO CALL 1 1 0 REF 5\n      RET_ERR REF 4\n  LET 1 APPEND REF 1 REF 3\n  REF 2\n\
        RET_OK LIT 2 nil\n";
    let expected = ["take ≤ len(xs): then drop", "drop ≤ len(the list at line 9, column 7): a rollback"];
    assert_eq!(told(source), expected);
}

#[test]
fn a_branch_without_a_rollback_after_its_call_is_told() {
    // `send` is called before something that may be undone, and as the last thing of the other branch.
    let source = "; fn f(ok: bool) -> result nil text\n; Tools: 0=send 1=pay 2=recall\n; Fields: 0=id\n\
        IF REF 0 3\n\
        \x20 CALL 0 0\n  LET 1 CALL 1 0\n  MATCH 1 1\n    ERR 2 2\n      UNDO CALL 2 0\n      RET_ERR REF 2\n\
        ELSE 1\n  CALL 0 0\n\
        RET_OK LIT 2 nil\n";
    let expected = ["send 1: then recall or none", "pay 1: then none", "recall 1: a rollback"];
    assert_eq!(told(source), expected);
}

#[test]
fn rollbacks_are_found_through_functions() {
    // The caller undoes the work of the function that then failed; the rollback is itself a function.
    let source = "; fn book(id: text) -> result any text\n; Tools: 0=hold 1=pay\n; Fields: 0=id\n\
        CALL 0 1 0 REF 0\nRET_OK CALL 1 1 0 REF 0\n\n\
        ; fn back(id: text) -> any\n; Tools: 0=free 1=tell\n; Fields: 0=id\n\
        CALL 0 1 0 REF 0\nRET CALL 1 1 0 REF 0\n\n\
        ; fn f(id: text) -> result any text\n; Tools: 0=book 1=back 2=tell\n; Fields: 0=id\n\
        LET 1 CALL 0 1 0 REF 0\nMATCH 1 2\n  ERR 2 2\n    UNDO CALL 1 1 0 REF 0\n    RET_ERR REF 2\n  OK 3 1\n    RET_OK CALL 2 1 0 REF 0\n";
    let expected = [
        "hold 1: then free, tell",
        "pay 1: then free, tell",
        "free 1: a rollback",
        // It is called as a rollback, and at the end of the other path.
        "tell 1: then none",
    ];
    assert_eq!(told(source), expected);
}

/// The tools of a program with the number of calls of each.
fn bounds_of(source: &str) -> Vec<(String, String)> {
    let (program, diagnostics) = ilo_asm::compile::compile(source, &ilo_asm::compile::Options::default());
    bounds(&program.unwrap_or_else(|| panic!("{:?}\n{source}", diagnostics.as_slice())))
}

#[test]
fn a_loop_over_a_constant_range_bounds_its_calls() {
    // The passes of loops inside each other multiply; ELSE runs once, and so does what a BREAK follows.
    let source = "; fn f(n: number) -> nil\n; Tools: 0=outer 1=inner 2=done 3=none 4=unknown\n\
        FOR 1 RANGE LIT 1 20 4\n  LET 2 CALL 0 0\n  FOR 3 RANGE LIT 1 3 1\n    CALL 1 0\n\
        \x20 IF EQ REF 2 LIT 1 1 2\n    CALL 2 0\n    BREAK\n  LET 4 REF 2\n\
        ELSE 1\n  CALL 3 0\n\
        FOR 5 RANGE REF 0 1\n  CALL 4 0\n";
    let (outer, inner, done, none) = ("≤ 20", "≤ 60", "1", "1");
    let unknown = "≤ len(the list at line 13, column 1)";
    let expected = [("outer", outer), ("inner", inner), ("done", done), ("none", none), ("unknown", unknown)];
    assert_eq!(bounds_of(source), pairs(&expected));
}

#[test]
fn what_leaves_a_loop_is_counted_once_for_each_time_that_the_loop_begins() {
    // Of at most 5 passes, the last may leave: `try` is called 5 times, and once more after the loop. `end`
    // is before a RET, and so called once in total; `found` once for each item of the outer loop.
    let source = "; fn f(xs: list text) -> nil\n; Tools: 0=try 1=found 2=end 3=next\n\
        FOR 1 REF 0 2\n\
        \x20 FOR 2 RANGE LIT 1 5 3\n    LET 3 CALL 0 0\n\
        \x20   IF EQ REF 3 LIT 1 1 2\n      CALL 1 0\n      BREAK\n\
        \x20   IF EQ REF 3 LIT 1 2 2\n      CALL 2 0\n      RET LIT 2 nil\n\
        \x20 ELSE 1\n    CALL 3 0\n\
        \x20 CALL 0 0\n";
    let expected = [("try", "≤ 6 × len(xs)"), ("found", "≤ len(xs)"), ("end", "1"), ("next", "≤ len(xs)")];
    assert_eq!(bounds_of(source), pairs(&expected));
    // A loop whose first pass always leaves it.
    let source = "; fn f(xs: list text) -> nil\n; Tools: 0=a 1=b\n\
        FOR 1 REF 0 2\n  CALL 0 0\n  BREAK\nCALL 1 0\n";
    assert_eq!(bounds_of(source), pairs(&[("a", "1"), ("b", "1")]));
    // A call in each pass, and two in the last.
    let source = "; fn f(xs: list text) -> nil\n; Tools: 0=a\n\
        FOR 1 REF 0 2\n  LET 2 CALL 0 0\n  IF EQ REF 2 LIT 1 1 2\n    CALL 0 0\n    BREAK\n";
    assert_eq!(bounds_of(source), pairs(&[("a", "≤ 1 + len(xs)")]));
    // No pass, so nothing leaves.
    let source = "; fn f() -> nil\n; Tools: 0=a\nFOR 1 RANGE LIT 1 0 2\n  CALL 0 0\n  BREAK\nELSE 0\n";
    assert_eq!(bounds_of(source), pairs(&[("a", "0")]));
}

#[test]
fn a_loop_over_what_a_constant_range_collected_is_bounded() {
    let source = "; fn f() -> nil\n; Tools: 0=first 1=second\n\
        LET 1 FOR 2 RANGE LIT 1 7 2\n  CALL 0 0\n  REF 2\n\
        FOR 3 REF 1 1\n  CALL 1 0\n";
    assert_eq!(bounds_of(source), pairs(&[("first", "≤ 7"), ("second", "≤ 7")]));
    let never = "; fn f() -> nil\n; Tools: 0=a\nFOR 1 RANGE LIT 1 0 1\n  CALL 0 0\n";
    assert_eq!(bounds_of(never), pairs(&[("a", "0")]));
}

/// What undoes each tool's calls: entries, then rollbacks by hand, then the lines of calls without any.
fn taken_back(source: &str) -> Vec<String> {
    let (program, diagnostics) = ilo_asm::compile::compile(source, &ilo_asm::compile::Options::default());
    let plan = planned(&program.unwrap_or_else(|| panic!("{:?}\n{source}", diagnostics.as_slice())));
    let lines = |places: &[ilo_host::plan::Place]| -> Vec<u32> {
        places.iter().filter_map(|place| place.source.map(|(line, _)| line)).collect()
    };
    plan.calls
        .iter()
        .map(|call| {
            let (by_hand, without) = (lines(&call.by_hand), lines(&call.without));
            format!(
                "{} {}: {:?} {:?} {by_hand:?} {without:?}",
                call.tool, call.most, call.entries, call.rollbacks
            )
        })
        .collect()
}

#[test]
fn an_entry_takes_back_its_own_call_alone() {
    // The entry of `pay` does not undo `reserve`, also in another pass; a separate one counts for the calls
    // before it.
    let source = "; fn f(xs: list text) -> result nil text\n; Tools: 0=reserve 1=pay 2=refund 3=release 4=last\n; Fields: 0=id\n\
        FOR 1 REF 0 3\n\
        \x20 CALL 0 1 0 REF 1\n\
        \x20 CALL 1 1 0 REF 1\n\
        \x20 ROLLBACK CALL 2 1 0 AND EQ REF 1 LIT 0 \"a\" LIT 3 true\n\
        CALL 0 1 0 LIT 0 \"b\"\n\
        LET 2 LIT 1 1\n\
        ROLLBACK CALL 3 1 0 LIT 0 \"b\"\n\
        CALL 4 1 0 REF 2\n\
        RET_OK LIT 2 nil\n";
    let expected = [
        r#"reserve ≤ 1 + len(xs): [] ["release"] [5, 8] []"#,
        r#"pay ≤ len(xs): ["refund"] [] [] []"#,
        r"refund ≤ len(xs): [] [] [] []",
        r"release 1: [] [] [] []",
        r"last 1: [] [] [11] [11]",
    ];
    assert_eq!(taken_back(source), expected);
}

#[test]
fn an_entry_is_found_behind_a_match_and_in_a_function() {
    let source = "; fn book(id: text) -> result any text\n; Tools: 0=hold 1=free 2=pay\n; Fields: 0=id\n\
        LET 1 CALL 0 1 0 REF 0\n\
        MATCH 1 1\n  ERR 2 1\n    RET_ERR REF 2\n\
        ROLLBACK CALL 1 1 0 REF 1\n\
        RET_OK CALL 2 1 0 REF 1\n\n\
        ; fn f(id: text) -> result any text\n; Tools: 0=book 1=tell\n; Fields: 0=id\n\
        LET 1 CALL 0 1 0 REF 0\n\
        ROLLBACK CALL 1 1 0 REF 1\n\
        RET_OK REF 1\n";
    let expected = [
        r#"hold 1: ["free"] [] [] []"#,
        r"free 1: [] [] [] []",
        r#"pay 1: [] ["tell"] [9] []"#,
        r"tell 1: [] [] [] []",
    ];
    assert_eq!(taken_back(source), expected);
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
