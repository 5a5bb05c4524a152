//! The measurements at each size: assembling, verifying and running a source, and running over lists.

use crate::{MEMORY, Point, Series};
use ilo_asm::compile::{Options, compile};
use ilo_benches::{Answers, Prepared, customers, finish, numbers};
use ilo_spec::encode::encode;
use ilo_vm::{Datum, Limits, Program, Run};
use ilo_worker::thread_time;
use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

/// Bytes of a function: small enough for the limit on instructions of a function, large enough for the limit
/// on functions of a program.
const FUNCTION: usize = 16_000;
/// Passes are repeated until this much time has passed.
const ENOUGH: Duration = Duration::from_millis(100);

/// A source of about this number of bytes. `all` runs every line of it.
fn source(bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 2 * FUNCTION);
    let mut functions = 0;
    while out.len() < bytes {
        let _ =
            writeln!(out, "; fn work-{functions}(x: number) -> number\n; Fields: 0=x 1=sum\nLET 1 LIT 1 0.5");
        let end = bytes.min(out.len() + FUNCTION);
        let mut step = 0;
        while out.len() < end {
            let _ = writeln!(
                out,
                "IF GTE REF 0 LIT 1 {step} 1\n  LET 1 ADD REF 1 MUL REF 0 LIT 1 2\n\
                 LET 2 OBJ 2 0 REF 0 1 REF 1\nLET 1 ADD FIELD 2 0 FIELD 2 1"
            );
            step += 1;
        }
        out.push_str("RET REF 1\n\n");
        functions += 1;
    }
    out.push_str("; fn all(x: number) -> number\n; Fields: 0=x\n; Tools:");
    for function in 0..functions {
        let _ = write!(out, " {function}=work-{function}");
    }
    out.push_str("\nLET 1 LIT 1 0\n");
    for function in 0..functions {
        let _ = writeln!(out, "LET 1 ADD REF 1 CALL {function} 1 0 REF 0");
    }
    out.push_str("RET REF 1\n");
    out
}

fn unlimited() -> Limits {
    Limits { fuel: u64::MAX, memory: u64::MAX, items: usize::MAX, ..Limits::default() }
}

/// Measures until enough time has passed, at least three times. Returns the median and the result of the last
/// pass.
///
/// The median and not the least: on a virtual machine the clock of a thread sometimes does not advance.
fn measure<T>(size: usize, mut stage: impl FnMut() -> T) -> (Point, T) {
    let (mut times, mut spent, mut memory) = (Vec::new(), Duration::ZERO, 0.0_f32);
    loop {
        MEMORY.reset_peak_usage();
        let given = MEMORY.current_usage_as_mb();
        let before = thread_time();
        let made = black_box(stage());
        let took = thread_time().saturating_sub(before);
        memory = memory.max(MEMORY.peak_usage_as_mb() - given);
        times.push(took);
        spent += took;
        if spent >= ENOUGH && times.len() >= 3 {
            times.sort();
            let median = times.get(times.len() / 2).copied().unwrap_or_default();
            let size = u32::try_from(size).map_or(f64::NAN, f64::from);
            return (Point { size, time: median.as_secs_f64() * 1e3, memory: memory.into() }, made);
        }
    }
}

/// Assembling, verifying and running sources of these sizes.
pub(crate) fn sources(sizes: &[usize]) -> Result<Vec<Series>, String> {
    let reading = ilo_asm::source::SourceLimits {
        source: usize::MAX,
        line: usize::MAX,
        ..ilo_asm::source::SourceLimits::default()
    };
    let options = Options { reading, strip: true, ..Options::default() };
    let mut series = ["assemble", "verify", "run"].map(|name| Series { name, points: Vec::new() });
    for &size in sizes {
        eprintln!("{size} bytes of source");
        let text = source(size);
        let (assembled, bytes) = measure(text.len(), || {
            let (program, diagnostics) = compile(&text, &options);
            program
                .map(|program| encode(&program))
                .ok_or_else(|| format!("{:?}", diagnostics.as_slice().first()))
        });
        let bytes = bytes?;
        let (verified, program) = measure(text.len(), || Program::load(&bytes));
        let program = program.map_err(|error| error.to_string())?;
        let entry = program.function("all").ok_or("no function `all`")?;
        let answers = Answers::new(&program);
        let (ran, good) = measure(text.len(), || {
            let mut run = Run::new(&program, unlimited());
            run.start(entry, &[Datum::Double(0.5)]).is_ok() && finish(&mut run, &answers)
        });
        if !good {
            return Err(format!("a source of {size} bytes does not run to its end"));
        }
        for (series, point) in series.iter_mut().zip([assembled, verified, ran]) {
            series.points.push(point);
        }
    }
    Ok(series.into())
}

/// A program over a list.
type Prepare = fn(usize) -> Prepared;

/// P2 and P4 over lists of these lengths.
pub(crate) fn lists(lengths: &[usize]) -> Result<Vec<Series>, String> {
    let programs: [(&str, Prepare); 2] = [("P2", customers), ("P4", numbers)];
    let mut all = Vec::new();
    for (name, prepare) in programs {
        let mut points = Vec::new();
        for &length in lengths {
            eprintln!("{name} over {length} elements");
            // The first pass of a run allocates its memory; the timed passes reuse it.
            let memory = measure_once(|| prepare(length).again());
            let mut prepared = prepare(length);
            let (point, good) = measure(length, || prepared.again());
            if !good {
                return Err(format!("{name} over {length} elements does not run to its end"));
            }
            points.push(Point { memory, ..point });
        }
        all.push(Series { name, points });
    }
    Ok(all)
}

/// Peak memory of one pass from nothing, in megabytes.
fn measure_once(mut pass: impl FnMut() -> bool) -> f64 {
    MEMORY.reset_peak_usage();
    let given = MEMORY.current_usage_as_mb();
    black_box(pass());
    (MEMORY.peak_usage_as_mb() - given).into()
}
