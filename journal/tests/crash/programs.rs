//! Shared by the crash tests of the journal and of `ilo-restate`: programs, answers that depend only on their
//! arguments, and a log of effects. The effects of a run do not depend on how often it was interrupted.

use ilo_asm::compile::{Options, compile};
use ilo_drive::data::Data;
use ilo_drive::data::read::{Bounds, read};
use ilo_drive::failure::Failure;
use ilo_drive::give;
use ilo_vm::{Limits, Program, Run, Step};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// Programs, by name.
const SOURCES: [(&str, &str); 4] = [
    (
        "pays",
        "
; fn f(n: number) -> result number, text
; Vars: 0=n 1=i 2=got 3=paid 4=set
; Tools: 0=get 1=pay 2=refund 3=set
; Fields: 0=key 1=amount 2=id
FOR 1 RANGE REF 0 4
  LET 2 CALL 0 1 0 REF 1
  LET 3 CALL 1 1 1 ADD REF 1 LIT 1 100
  ROLLBACK CALL 2 1 2 FIELD 3 2
  LET 4 CALL 3 1 0 REF 1
RET_OK REF 0
",
    ),
    (
        "fails",
        "
; fn f(n: number) -> result number, text
; Vars: 0=n 1=i 2=got 3=paid 4=last
; Tools: 0=get 1=pay 2=refund
; Fields: 0=key 1=amount 2=id
FOR 1 RANGE REF 0 3
  LET 2 CALL 0 1 0 REF 1
  LET 3 CALL 1 1 1 ADD REF 1 LIT 1 100
  ROLLBACK CALL 2 1 2 FIELD 3 2
LET 4 CALL 1 1 1 LIT 1 13
RET_OK REF 0
",
    ),
    (
        "undoes",
        r#"
; fn f(n: number) -> result number, text
; Vars: 0=n 1=first 2=second 3=error
; Tools: 0=pay 1=refund 2=set
; Fields: 0=amount 1=id 2=key
LET 1 CALL 0 1 0 ADD REF 0 LIT 1 200
LET 2 CALL 0 1 0 LIT 1 13
MATCH 2 2
  ERR 3 3
    UNDO CALL 1 1 1 FIELD 1 1
    UNDO CALL 2 1 2 REF 0
    RET_ERR CONCAT LIT 0 "not paid: " REF 3
  OK 2 1
    RET_OK REF 0
"#,
    ),
    (
        "asks",
        "
; fn f(n: number) -> result text, text
; Vars: 0=n 1=paid 2=shipped 3=verdict
; Tools: 0=pay 1=refund 2=ship 3=review
; Fields: 0=amount 1=id 2=key
LET 1 CALL 0 1 0 ADD REF 0 LIT 1 300
ROLLBACK CALL 1 1 1 FIELD 1 1
LET 2 CALL 2 1 2 REF 0
LET 3 CALL 3 1 2 REF 0
RET_OK CONCAT FIELD 1 1 REF 3
",
    ),
];

/// What a tool says, as a result of its call.
pub fn result(answer: Result<String, String>) -> Result<Data, Failure> {
    answer.map_err(Failure::text).map(|json| read(json.as_bytes(), &Bounds::default()).unwrap())
}

/// The answer of a tool, or the message with which it fails; and whether that changes anything.
pub fn answer(tool: &str, arguments: &str) -> (Result<String, String>, bool) {
    if tool == "pay" && arguments == "{\"amount\":13}" {
        return (Err("no money".to_owned()), false);
    }
    let digits: String = arguments.chars().filter(char::is_ascii_digit).collect();
    let json = match tool {
        "pay" => format!("{{\"id\":\"p{digits}\"}}"),
        "review" => format!("\" reviewed {digits}\""),
        "get" | "set" | "ship" => "true".to_owned(),
        _ => "null".to_owned(),
    };
    (Ok(json), tool != "get")
}

/// The program of a run, and its argument `n`.
pub fn program(number: u64) -> (Program, i64) {
    let (_, source) = SOURCES[usize::try_from(number).unwrap() % SOURCES.len()];
    let (program, found) = compile(source, &Options::default());
    let program = program.unwrap_or_else(|| panic!("{found:?}"));
    (Program::new(program).unwrap(), i64::try_from(1 + number % 4).unwrap())
}

/// A run at its start.
pub fn started((program, n): (&Program, i64)) -> Run {
    let mut run = Run::new(program, Limits::default());
    run.start(program.function("f").unwrap(), &[n.into()]).unwrap();
    run
}

/// The outcome of a run that nothing interrupts, and its effects in order: tool, arguments, number.
pub fn expected(number: u64) -> (String, Vec<(String, String, u64)>) {
    let (program, n) = program(number);
    let mut run = started((&program, n));
    let mut effects = Vec::new();
    while let Step::Call(call) = run.step() {
        let mut arguments = String::new();
        call.write_json(&mut arguments).unwrap();
        let (tool, at) = (call.tool().to_owned(), call.number());
        let (answer, changes) = answer(&tool, &arguments);
        give(run.pending().unwrap(), &result(answer));
        if changes {
            effects.push((tool, arguments, at));
        }
    }
    (run.outcome().unwrap().to_string(), effects)
}

/// A stream of numbers from a seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// The file of effects: a line is written at once, so it is there or not.
pub struct Log<'f>(pub &'f Path);

impl Log<'_> {
    pub fn write(&self, key: &str, tool: &str, arguments: &str) {
        let mut file = OpenOptions::new().create(true).append(true).open(self.0).unwrap();
        file.write_all(format!("{key}\t{tool}\t{arguments}\n").as_bytes()).unwrap();
    }

    /// Key, tool, arguments.
    pub fn read(&self) -> Vec<(String, String, String)> {
        let text = std::fs::read_to_string(self.0).unwrap_or_default();
        let row = |line: &str| {
            let mut parts = line.split('\t').map(str::to_owned);
            (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap())
        };
        text.lines().map(row).collect()
    }
}
