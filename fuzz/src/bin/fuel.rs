//! Measures the time for a unit of fuel in programs that do as much as possible for it: `fuel [NAME]`. Prints
//! a row for each, the most expensive last. A limit on fuel bounds only what is proportional to it.

use ilo_asm::compile::{Options, compile};
use ilo_spec::operand::FunctionId;
use ilo_vm::{Datum, Limits, Program, Run, Step};
use std::sync::OnceLock;
use std::time::Instant;

/// Fuel of a run.
const FUEL: u64 = 20_000_000;

/// What each pass of a loop over the list `l` does, with the operands `a` and `b`.
const PROGRAMS: [(&str, &str, Operand); 23] = [
    ("add", "LET 4 ADD REF 3 LIT 1 7", Operand::Few),
    ("divide", "LET 4 DIV LIT 1 7.5 ADD REF 3 LIT 1 1", Operand::Few),
    ("remainder of doubles", "LET 4 MOD LIT 1 1e300 LIT 1 0.7", Operand::Few),
    ("join short texts", "LET 4 CONCAT LIT 0 \"a\" LIT 0 \"b\"", Operand::Few),
    ("join integers", "LET 4 CONCAT REF 3 REF 3", Operand::Few),
    ("join doubles", "LET 4 CONCAT LIT 1 0.1234567890123456 LIT 1 1.2345678901234567e-200", Operand::Few),
    ("join long texts", "LET 4 CONCAT REF 1 REF 2", Operand::Texts),
    ("join lists of doubles", "LET 4 CONCAT REF 1 REF 2", Operand::Doubles),
    ("join lists of records", "LET 4 CONCAT REF 1 REF 2", Operand::Records),
    ("equal long texts", "LET 4 EQ REF 1 REF 2", Operand::Texts),
    ("order long texts", "LET 4 LT REF 1 REF 2", Operand::Texts),
    ("equal lists of doubles", "LET 4 EQ REF 1 REF 2", Operand::Doubles),
    ("equal lists of records", "LET 4 EQ REF 1 REF 2", Operand::Records),
    ("equal wide records", "LET 4 EQ REF 1 REF 2", Operand::Wide),
    ("length of a long text", "LET 4 LEN REF 1", Operand::Texts),
    ("merge into a wide record", "LET 4 MERGE REF 1 0 REF 3", Operand::Wide),
    ("append to a shared list", "LET 4 APPEND REF 1 REF 3", Operand::Doubles),
    ("read a far field", "LET 4 FIELD 1 1", Operand::Wide),
    ("ask for a far field", "LET 4 HAS REF 1 1", Operand::Wide),
    ("ask for a name", "LET 4 HAS REF 1 LIT 0 \"field-4999\"", Operand::Wide),
    ("make a record", "LET 4 OBJ 2 0 REF 3 1 REF 3", Operand::Few),
    ("loop in a loop", "FOR 5 REF 1 1\n    LIT 1 1", Operand::Doubles),
    ("switch on a long text", "LET 4 MATCH_MAP REF 1 2 \"a\" 1 ELSE 2", Operand::Texts),
];

/// The operands.
#[derive(Clone, Copy)]
enum Operand {
    /// Two small integers.
    Few,
    /// Two equal texts of 64 KiB.
    Texts,
    /// Two equal lists of a thousand doubles.
    Doubles,
    /// Two equal lists of three hundred records.
    Records,
    /// Two records of five thousand fields; the first field of the second is the last of the first.
    Wide,
}

fn main() {
    let wanted = std::env::args().nth(1);
    let mut rows: Vec<(f64, &str)> = PROGRAMS
        .iter()
        .filter(|(name, ..)| wanted.as_ref().is_none_or(|wanted| name.contains(wanted.as_str())))
        .map(|&(name, pass, operand)| (measure(pass, operand), name))
        .collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    println!("| what | ns for a unit of fuel |\n|---|---|");
    for (time, name) in rows {
        println!("| {name} | {time:.1} |");
    }
}

/// The processor time of this thread in nanoseconds, or the wall time if the system does not provide it.
fn clock() -> u64 {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let worked = text.as_deref().and_then(|text| text.split(' ').next()?.parse().ok());
    worked.unwrap_or_else(|| {
        u64::try_from(BEGUN.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
    })
}

/// Measures the time of a unit of fuel.
fn measure(pass: &str, operand: Operand) -> f64 {
    let source = format!(
        "; fn f(l: list thing, a: thing, b: thing) -> nil\n; Vars: 0=l 1=a 2=b 3=i 4=r 5=j\n\
         ; Fields: 0=field-0 1=field-4999\nFOR 3 REF 0 1\n  FOR 3 REF 0 1\n    {pass}\n"
    );
    let (program, problems) = compile(&source, &Options::default());
    let program = program.and_then(|program| Program::new(program).ok());
    let Some(program) = program else { panic!("{source}{:?}", problems.as_slice()) };
    let names: Vec<String> = (0..5_000).map(|name| format!("field-{name}")).collect();
    let text = "0123456789abcdef".repeat(4 << 10);
    let doubles: Vec<Datum<'_>> = (0..1_000).map(|n| Datum::Double(f64::from(n) / 7.0)).collect();
    let user = [("email", Datum::Text("a@b.c")), ("n", Datum::Int(12)), ("ok", Datum::Bool(true))];
    let records = vec![Datum::Record(&user); 300];
    let wide: Vec<(&str, Datum<'_>)> = names.iter().map(|name| (&**name, Datum::Int(1))).collect();
    let mut turned = wide.clone();
    turned.rotate_right(1);
    let (a, b) = match operand {
        Operand::Few => (Datum::Int(1), Datum::Int(2)),
        Operand::Texts => (Datum::Text(&text), Datum::Text(&text)),
        Operand::Doubles => (Datum::List(&doubles), Datum::List(&doubles)),
        Operand::Records => (Datum::List(&records), Datum::List(&records)),
        Operand::Wide => (Datum::Record(&wide), Datum::Record(&turned)),
    };
    let items: Vec<Datum<'_>> = (0..1_500).map(Datum::Int).collect();
    let mut run = Run::new(&program, Limits { fuel: FUEL, ..Limits::default() });
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        if let Err(error) = run.start(FunctionId(0), &[Datum::List(&items), a, b]) {
            panic!("{error}");
        }
        let (begun, before) = (clock(), run.fuel_used());
        while !matches!(run.step(), Step::Done(_)) {}
        #[allow(clippy::cast_precision_loss, reason = "a run takes far less than 2^52 ns")]
        let time = (clock() - begun) as f64;
        #[allow(clippy::cast_precision_loss, reason = "fuel is far below 2^52")]
        let fuel = (run.fuel_used() - before) as f64;
        best = best.min(time / fuel);
    }
    best
}
