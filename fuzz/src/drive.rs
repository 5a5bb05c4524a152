//! Runs programs to their end with arguments and answers that the fuzzer chooses, uninterrupted and restored
//! from a snapshot at each call, and checks what every run promises: it ends, it reports how, and a restored
//! run continues as the uninterrupted one.

use ilo_spec::limits;
use ilo_spec::operand::FunctionId;
use ilo_spec::types::{Base, Type};
use ilo_vm::{Datum, Limits, Run, Step};

/// Fuel of a run here: enough for loops, little enough to be fast.
const FUEL: u64 = 20_000;
/// Memory of a run here, in bytes: little enough that runs clear their heap.
const MEMORY: u64 = 1 << 20;
/// Memory that no run here exhausts with so little fuel, so its heap is never cleared.
const AMPLE: u64 = 1 << 40;

/// The limits of a run here.
pub(crate) fn limited() -> Limits {
    Limits { fuel: FUEL, memory: MEMORY, ..Limits::default() }
}

/// Whether a fault code is that of a limit.
pub(crate) fn is_limit(code: &str) -> bool {
    LIMITS.contains(&code)
}

/// The fault codes of limits.
const LIMITS: [&str; 6] = ["fuel", "memory", "depth", "too-many-calls", "too-large", "too-many-rollbacks"];

/// A source of arguments and answers. A clone yields the same values.
pub(crate) trait Source<'d>: Clone {
    /// The next value.
    fn next(&mut self) -> Datum<'d>;
    /// Whether the next answer is a failure.
    fn fails(&mut self) -> bool;
}

/// Values in an order that depends on the input.
#[derive(Clone)]
pub(crate) struct Turns(usize);

impl Turns {
    pub(crate) fn new(seed: &[u8]) -> Turns {
        Turns(seed.iter().fold(0, |sum, &byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte))))
    }

    fn turn(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

impl Source<'static> for Turns {
    fn next(&mut self) -> Datum<'static> {
        DATA[self.turn() % DATA.len()]
    }

    fn fails(&mut self) -> bool {
        self.turn().is_multiple_of(4)
    }
}

pub(crate) const USER: [(&str, Datum<'_>); 3] =
    [("email", Datum::Text("a@b.c")), ("verified", Datum::Bool(true)), ("level", Datum::Text("gold"))];
const LIST: [Datum<'_>; 3] = [Datum::Int(1), Datum::Double(2.5), Datum::Record(&USER)];
/// A value of each kind.
pub(crate) const DATA: [Datum<'_>; 6] = [
    Datum::Int(3),
    Datum::Text("x"),
    Datum::Record(&USER),
    Datum::List(&LIST),
    Datum::Bool(true),
    Datum::Nil,
];

/// An argument for a parameter whose type determines its kind.
pub(crate) fn fitting(ty: Type) -> Option<Datum<'static>> {
    match ty {
        Type::NUMBER => Some(DATA[0]),
        Type::TEXT => Some(DATA[1]),
        Type::BOOL => Some(DATA[4]),
        Type::NIL => Some(DATA[5]),
        Type { lists: 1, base: Base::Any } => Some(DATA[3]),
        Type { lists: 1.., .. } => Some(Datum::List(&[])),
        _ => None,
    }
}

/// Runs every function of a program with values from `source`, uninterrupted and restored from a snapshot at
/// each call.
pub(crate) fn run<'d>(program: &ilo_vm::Program, mut source: impl Source<'d>) {
    let mut run = Run::new(program, limited());
    let functions = u16::try_from(program.spec().functions.len().min(4)).unwrap_or(0);
    for function in (0..functions).map(FunctionId) {
        let arguments: Vec<Datum<'_>> = program
            .parameters(function)
            .map(|(_, ty)| fitting(ty).unwrap_or_else(|| source.next()))
            .collect();
        let same = source.clone();
        let Some(whole) = ended(&mut run, &limited(), (function, &arguments), &mut source, false) else {
            continue;
        };
        let broken = ended(&mut run, &limited(), (function, &arguments), &mut same.clone(), true);
        let Some(broken) = broken else { panic!("a function that started once starts again") };
        let limit = [&whole.0, &broken.0]
            .iter()
            .any(|outcome| LIMITS.iter().any(|code| outcome.contains(&format!("\"code\":\"{code}\""))));
        assert!(
            limit || broken.0 == whole.0,
            "a suspended run continues as it would have: {broken:?}, {whole:?}"
        );
        if broken != whole {
            // When a heap is cleared, and what is then measured, depends on values that the run has dropped,
            // which a snapshot does not contain (11.3). With ample memory there must be no difference.
            let limits = Limits { memory: AMPLE, ..limited() };
            let mut run = Run::new(program, limits.clone());
            let whole = ended(&mut run, &limits, (function, &arguments), &mut same.clone(), false);
            let broken = ended(&mut run, &limits, (function, &arguments), &mut same.clone(), true);
            assert_eq!(broken, whole, "a suspended run continues as it would have, with the same fuel");
        }
    }
}

/// Runs one function to its end and returns the outcome and the fuel, or `None` if the arguments are refused.
fn ended<'d>(
    run: &mut Run,
    limits: &Limits,
    (function, arguments): (FunctionId, &[Datum<'_>]),
    source: &mut impl Source<'d>,
    broken: bool,
) -> Option<(String, u64)> {
    run.start(function, arguments).ok()?;
    let outcome = drive(run, source, broken.then_some(limits));
    // A run that is not restored, because it exceeds a limit, still waits.
    assert!(broken || matches!(run.step(), Step::Done(_)), "every run ends");
    Some((outcome, run.fuel_used()))
}

/// Runs to the end and returns the outcome. With `broken`, each call is answered after restoring its snapshot
/// with these limits.
pub(crate) fn drive<'d>(run: &mut Run, source: &mut impl Source<'d>, broken: Option<&Limits>) -> String {
    let mut bytes = Vec::new();
    // The limits on tool calls and on entries end a run that calls in a loop.
    for _ in 0..=limits::DEFAULT_TOOL_CALLS + limits::DEFAULT_ROLLBACKS as u64 + 1 {
        if let Step::Done(outcome) = run.step() {
            let mut json = String::new();
            let _ = outcome.write_json(&mut json);
            assert!(json.starts_with("{\"status\":"), "an outcome is an object: {json}");
            return json;
        }
        if let Some(limits) = broken {
            assert_eq!(run.snapshot(&mut bytes), Ok(()), "a call waits");
            // A new run, so that no register keeps a value of the old one.
            match Run::from_snapshot(run.program(), &bytes, limits.clone()) {
                Ok(restored) => *run = restored,
                Err(error) => {
                    assert!(is_limit(error.code().as_str()), "a snapshot is restored: {error}");
                    return format!("{{\"code\":\"{}\"}}", error.code());
                }
            }
        }
        let Some(call) = run.pending() else { continue };
        // An answer that exceeds a limit ends the run; the next step reports it.
        let _ = if source.fails() { call.fail_with(source.next()) } else { call.answer(source.next()) };
    }
    String::new()
}
