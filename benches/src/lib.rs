//! The measured programs with their inputs and answers, and sources of any size.
//!
//! P1 is arithmetic, P2 a loop that builds records and calls a function, P3 two tool calls, P4 a loop over
//! numbers. Inputs are doubles that are not integers, and tools have fixed answers, so that every engine does
//! the same work.

pub mod notations;
pub mod results;
pub mod source;
#[cfg(test)]
mod tests;

use ilo_spec::operand::FunctionId;
use ilo_vm::{Call, Datum, Limits, Program, Run, Shape, Step};

pub use source::{CHECKOUT, LARGE, NOTIFY, SUM, SUMMARIES, TOTAL, source};

/// Customers in P2.
pub const CUSTOMERS: usize = 1_000;
/// Numbers in P4.
pub const NUMBERS: usize = 10_000;

/// Builds and verifies a program.
///
/// # Panics
/// If the source has an error: only programs of this crate are measured.
pub fn program(source: &str) -> Program {
    let options = ilo_asm::compile::Options { strip: true, ..Default::default() };
    let (program, diagnostics) = ilo_asm::compile::compile(source, &options);
    let Some(program) = program else { panic!("{:?}", diagnostics.as_slice()) };
    match Program::new(program) {
        Ok(program) => program,
        Err(error) => panic!("{error}"),
    }
}

/// A run that was started with its inputs, ready to be rewound.
#[derive(Debug)]
pub struct Prepared {
    /// The run.
    pub run: Run,
    /// The function that was started.
    pub entry: FunctionId,
    /// The answers of its tools.
    pub answers: Answers,
}

fn prepare(source: &str, name: &str, arguments: &[Datum<'_>]) -> Prepared {
    let program = program(source);
    let Some(entry) = program.function(name) else { panic!("no function {name}") };
    let limits = Limits { fuel: u64::MAX, memory: u64::MAX, items: usize::MAX, ..Limits::default() };
    let mut run = Run::new(&program, limits);
    if let Err(error) = run.start(entry, arguments) {
        panic!("{error}");
    }
    Prepared { run, entry, answers: Answers::new(&program) }
}

/// The four programs by name, each with the function that starts it.
pub const PROGRAMS: [Named; 4] = [("P1", p1), ("P2", p2), ("P3", p3), ("P4", p4)];

/// A program's name, and the function that starts it.
pub type Named = (&'static str, fn() -> Prepared);

/// P1, started.
pub fn p1() -> Prepared {
    prepare(TOTAL, "total", &P1_ARGUMENTS)
}

/// The arguments of P1.
pub const P1_ARGUMENTS: [Datum<'_>; 3] = [Datum::Double(10.5), Datum::Double(20.5), Datum::Double(0.3)];

/// P2, started.
pub fn p2() -> Prepared {
    customers(CUSTOMERS)
}

/// P2 over this number of customers, started.
pub fn customers(count: usize) -> Prepared {
    let names: Vec<String> = (0..count).map(|number| format!("customer {number}")).collect();
    let fields: Vec<[(&str, Datum<'_>); 2]> = (0_u32..)
        .zip(&names)
        .map(|(number, name)| {
            let spent = f64::from(number % 13) * 100.0 + 0.5;
            [("name", Datum::Text(name)), ("spent", Datum::Double(spent))]
        })
        .collect();
    let customers: Vec<Datum<'_>> = fields.iter().map(|fields| Datum::Record(fields)).collect();
    prepare(SUMMARIES, "summaries", &[Datum::List(&customers)])
}

/// P3, started.
pub fn p3() -> Prepared {
    prepare(NOTIFY, "notify", &[Datum::Text("u1"), Datum::Text("Hello")])
}

/// P4, started.
pub fn p4() -> Prepared {
    numbers(NUMBERS)
}

/// P4 over this number of numbers, started.
pub fn numbers(count: usize) -> Prepared {
    let numbers: Vec<Datum<'_>> =
        (0_u32..).take(count).map(|number| Datum::Double(f64::from(number % 10) + 0.5)).collect();
    prepare(SUM, "sum", &[Datum::List(&numbers)])
}

impl Prepared {
    /// Runs to the end with the present inputs and fixed answers to every call. Returns whether it ended
    /// well.
    pub fn again(&mut self) -> bool {
        self.run.rewind();
        finish(&mut self.run, &self.answers)
    }
}

/// Runs to the end with fixed answers to every call. Returns whether it ended well.
#[inline(always)]
pub fn finish(run: &mut Run, answers: &Answers) -> bool {
    loop {
        match run.step() {
            Step::Done(outcome) => return outcome.ok().is_some(),
            Step::Call(call) => answers.give(call),
        }
    }
}

/// Fixed answers to calls. Tools and names are looked up before the first call; the values are copied each
/// time.
#[derive(Debug)]
pub struct Answers {
    get_user: Option<usize>,
    user: Shape<2>,
    sent: Shape<1>,
}

impl Answers {
    /// The answers to a program's calls.
    pub fn new(program: &Program) -> Answers {
        let get_user = program.tools().position(|tool| tool == "get-user");
        Answers { get_user, user: Shape::new(["email", "verified"]), sent: Shape::new(["message-id"]) }
    }

    /// Answers a call. It is a separate function, as the callbacks of other engines are.
    ///
    /// # Panics
    /// When it does not fit, which these do.
    #[inline(never)]
    pub fn give(&self, call: Call<'_>) {
        const USER: [Datum<'_>; 2] = [Datum::Text("a@b.c"), Datum::Bool(true)];
        const SENT: [Datum<'_>; 1] = [Datum::Text("m1")];
        let is_user = Some(call.tool_index()) == self.get_user;
        let answer = if is_user { self.user.record(&USER) } else { self.sent.record(&SENT) };
        assert!(call.answer(&answer).is_ok(), "the answer fits");
    }
}
