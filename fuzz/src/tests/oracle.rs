//! Random programs agree with the oracle: a few here, a hundred thousand with `fuzz/oracle.sh` in `.ci/run`.

use crate::data::Data;
use crate::differential::{Verdict, compare};
use crate::generate::{Case, Tool, bytes, case};
use std::collections::BTreeMap;

#[test]
fn random_programs_agree_with_the_oracle() {
    let mut shares: BTreeMap<Verdict, u32> = BTreeMap::new();
    for seed in 0..400 {
        let case = case(&bytes(seed));
        match compare(&case) {
            Ok(verdict) => *shares.entry(verdict).or_default() += 1,
            Err(what) => panic!("seed {seed}: {what}\n{case}"),
        }
    }
    println!("{shares:?}");
}

/// A program with rollbacks, and the tools that fail in it.
const ROLLBACKS: &str = r#"
; fn take(id: text) -> result text, text
; Tools: 0=reserve 1=release 2=ship
; Fields: 0=id
LET 1 CALL 0 1 0 REF 0
ROLLBACK CALL 1 1 0 REF 1
LET 2 CALL 2 1 0 REF 1
ROLLBACK CALL 1 1 0 CONCAT REF 1 LIT 0 "?"
MATCH 2 2
  ERR 3 1
    RET_ERR CONCAT LIT 0 "ship: " REF 3
  OK 2 1
    ROLLBACK CALL 1 1 0 FIELD 2 0
RET_OK REF 1

; fn undo-it(id: text) -> nil
; Tools: 0=reserve 1=release
; Fields: 0=id
CALL 0 1 0 REF 0
ROLLBACK CALL 1 1 0 REF 0

; fn f(id: text) -> result text, text
; Tools: 0=book 1=cancel 2=take 3=undo-it 4=pay
; Fields: 0=id
LET 1 CALL 0 1 0 REF 0
MATCH 1 2
  ERR 2 1
    LET 1 LIT 0 "none"
  OK 1 2
    ROLLBACK CALL 1 1 0 REF 1
    ROLLBACK CALL 1 1 0 CONCAT REF 1 LIT 0 "!"
FOR 3 LIST 2 LIT 0 "a" LIT 0 "b" 4
  LET 4 CALL 2 1 0 REF 3
  MATCH 4 1
    ERR 5 1
      LET 4 REF 5
  CALL 0 1 0 REF 4
  ROLLBACK CALL 1 1 0 REF 3
UNDO CALL 3 1 0 REF 0
LET 6 CALL 4 1 0 REF 0
ROLLBACK CALL 1 1 0 AT LIST 1 REF 6 REF 6
RET_OK LIT 0 "done"
"#;

#[test]
fn rollbacks_agree_with_the_oracle() {
    let (text, number) = (|text: &str| Ok(Data::Text(text.to_owned())), |n| Ok(Data::Number(n)));
    let no = || Err(Data::Text("no".to_owned()));
    let record = || Ok(Data::Record(vec![("id".to_owned(), Data::Text("r".to_owned()))]));
    let integer = ilo_spec::program::Number::Int;
    let choices = |name: &str| match name {
        "ship" => vec![record(), no(), text("no record")],
        "pay" => vec![number(integer(0)), number(integer(7)), no()],
        "cancel" | "release" => vec![text("done"), no()],
        _ => vec![text("x"), no()],
    };
    let names = ["reserve", "release", "ship", "book", "cancel", "pay"];
    let mut shares: BTreeMap<Verdict, u32> = BTreeMap::new();
    for round in 0_usize..1_000 {
        let tools = names.iter().enumerate().map(|(place, name)| {
            let all = choices(name);
            let pick = |turn: usize| {
                all[round.wrapping_mul(31 + place).wrapping_add(turn * round) / 7 % all.len()].clone()
            };
            Tool { name: (*name).to_owned(), answers: (0..4).map(pick).collect() }
        });
        let case = Case {
            source: ROLLBACKS.to_owned(),
            entry: "f".to_owned(),
            input: vec![("id".to_owned(), Data::Text("x".to_owned()))],
            tools: tools.collect(),
        };
        match compare(&case) {
            Ok(verdict) => *shares.entry(verdict).or_default() += 1,
            Err(what) => panic!("round {round}: {what}\n{case}"),
        }
    }
    let kinds = [Verdict::Ok, Verdict::Err, Verdict::Fault];
    assert!(kinds.iter().all(|kind| shares.get(kind).is_some_and(|&count| count > 50)), "{shares:?}");
}
