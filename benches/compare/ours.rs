//! The worker of ilo, which speaks the same protocol as the others.

use ilo_asm::compile::{Options, compile};
use ilo_asm::id;
use ilo_benches::notations::{self, CONSTRAINED, MCP, TOOL_CALLING, WORKFLOW};
use ilo_benches::{
    Answers, CHECKOUT, CUSTOMERS, LARGE, NOTIFY, NUMBERS, P1_ARGUMENTS, Prepared, SUMMARIES, TOTAL, finish,
    p1, p2, p3, p4, program, source,
};
use ilo_spec::encode::encode;
use ilo_vm::{Limits, Program, Run, Step, View};
use ilo_worker::Worker;
use std::fmt::Write;
use std::hint::black_box;

/// The items of ilo.
pub(crate) fn worker() -> Worker {
    let mut worker = Worker::new(concat!("ilo ", env!("CARGO_PKG_VERSION")));
    runs(&mut worker);
    start(&mut worker);
    assembling(&mut worker);
    verifying(&mut worker);
    sizes(&mut worker);
    super::suspended::add(&mut worker);
    worker
}

fn options() -> Options<'static> {
    let reading =
        ilo_asm::source::SourceLimits { source: usize::MAX, ..ilo_asm::source::SourceLimits::default() };
    Options { reading, strip: true, ..Options::default() }
}

/// From text to bytecode.
fn assemble(source: &str, options: &Options<'_>) -> Vec<u8> {
    compile(source, options).0.map(|program| encode(&program)).unwrap_or_default()
}

fn runs(worker: &mut Worker) {
    let mut run = |name, mut prepared: Prepared, show: fn(View<'_>) -> String, units: usize| {
        let units = u64::try_from(units).unwrap_or(0);
        let shown = shown(&mut prepared, show);
        worker.item(name, shown, move |count| {
            for _ in 0..count {
                black_box(prepared.again());
            }
            count * units
        });
    };
    run("p1", p1(), number, 1);
    run("p2", p2(), summaries, CUSTOMERS);
    run("p3", p3(), |_| "ok".to_owned(), 1);
    // ilo has one calling convention here; others have several.
    run("p3-own-manner", p3(), |_| "ok".to_owned(), 1);
    run("p4", p4(), number, NUMBERS);
}

fn text(value: View<'_>) -> String {
    value.as_text().map_or_else(|| number(value), str::to_owned)
}

/// A number as every engine writes it: without a point if it is whole.
fn number(value: View<'_>) -> String {
    let integer = value.as_i64().map(|number| number.to_string());
    integer.or_else(|| value.as_f64().map(|number| number.to_string())).unwrap_or_else(|| "?".to_owned())
}

fn summaries(list: View<'_>) -> String {
    let mut out = String::new();
    for item in list.items() {
        for field in ["name", "level", "discount"] {
            let _ = write!(out, "{} ", item.field(field).map_or("?".to_owned(), text));
        }
    }
    out
}

/// One run: its calls and its value.
fn shown(prepared: &mut Prepared, show: fn(View<'_>) -> String) -> String {
    prepared.run.rewind();
    let mut calls = String::new();
    loop {
        match prepared.run.step() {
            Step::Done(outcome) => return calls + &outcome.ok().map_or("err".to_owned(), show),
            Step::Call(call) => {
                let arguments: Vec<String> = call.arguments().map(|(_, value)| text(value)).collect();
                let _ = write!(calls, "{}({}) ", call.tool(), arguments.join(", "));
                prepared.answers.give(call);
            }
        }
    }
}

fn start(worker: &mut Worker) {
    let total = program(TOTAL);
    let (entry, answers) = (p1().entry, Answers::new(&total));
    worker.item("start", shown(&mut p1(), number), move |count| {
        for _ in 0..count {
            let mut run = Run::new(&total, Limits::default());
            let started = run.start(entry, black_box(&P1_ARGUMENTS)).is_ok();
            black_box(started && finish(&mut run, &answers));
        }
        count
    });
}

fn assembling(worker: &mut Worker) {
    let large = source(LARGE);
    let tokens = id::count_tokens(&large, &options().reading).to_string();
    let bytes = u64::try_from(large.len()).unwrap_or(0);
    let text = large.clone();
    worker.item("lex", tokens, move |count| {
        for _ in 0..count {
            black_box(id::count_tokens(black_box(&text), &options().reading));
        }
        count * bytes
    });
    worker.work("assemble", move |count| {
        for _ in 0..count {
            black_box(assemble(black_box(&large), &options()));
        }
        count * bytes
    });
    for notation in [TOOL_CALLING, CONSTRAINED, WORKFLOW, MCP] {
        let large = notations::source(&notation, LARGE);
        let bytes = u64::try_from(large.len()).unwrap_or(0);
        worker.work(notation.item, move |count| {
            for _ in 0..count {
                black_box(assemble(black_box(&large), &options()));
            }
            count * bytes
        });
    }
    worker.work("assemble-notify", |count| {
        for _ in 0..count {
            black_box(compile(black_box(NOTIFY), &options()).0.map(|program| Program::new(program).is_ok()));
        }
        count
    });
}

/// From bytes to a runnable program: decoding and verifying, as a WebAssembly engine validates a module.
fn verifying(worker: &mut Worker) {
    let bytes = assemble(&source(LARGE), &options());
    let Ok(program) = Program::load(&bytes) else { return };
    let instructions = u64::try_from(program.spec().code.len()).unwrap_or(0);
    worker.work("verify", move |count| {
        for _ in 0..count {
            black_box(Program::load(black_box(&bytes)).is_ok());
        }
        count * instructions
    });
}

fn sizes(worker: &mut Worker) {
    let programs = [
        ("size-notify", NOTIFY),
        ("size-summaries", SUMMARIES),
        ("size-checkout", CHECKOUT),
        ("size-total", TOTAL),
    ];
    for (name, source) in programs {
        worker.figure(name, u64::try_from(assemble(source, &options()).len()).unwrap_or(0));
    }
}
