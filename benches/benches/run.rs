//! Measures the four programs, warm and from a fresh state.

use criterion::{Criterion, criterion_group, criterion_main};
use ilo_benches::{Answers, NOTIFY, P1_ARGUMENTS, PROGRAMS, TOTAL, finish, program};
use ilo_vm::{Datum, Limits, Run, Step};
use std::hint::black_box;

fn programs(c: &mut Criterion) {
    for (name, prepare) in PROGRAMS {
        let mut prepared = prepare();
        c.bench_function(&format!("run/{name}"), |b| b.iter(|| assert!(black_box(prepared.again()))));
    }
    let total = program(TOTAL);
    let Some(entry) = total.function("total") else { return };
    let answers = Answers::new(&total);
    let mut run = Run::new(&total, Limits::default());
    c.bench_function("run/P1 with its start", |b| {
        b.iter(|| {
            assert!(run.start(entry, black_box(&P1_ARGUMENTS)).is_ok());
            assert!(finish(&mut run, &answers));
        });
    });
    c.bench_function("run/P1 from a fresh state", |b| {
        b.iter(|| {
            let mut run = Run::new(&total, Limits::default());
            assert!(run.start(entry, black_box(&P1_ARGUMENTS)).is_ok());
            assert!(finish(&mut run, &answers));
        });
    });
}

fn snapshots(c: &mut Criterion) {
    let notify = program(NOTIFY);
    let Some(entry) = notify.function("notify") else { return };
    let mut run = Run::new(&notify, Limits::default());
    let mut bytes = Vec::new();
    assert!(run.start(entry, &[Datum::Text("u1"), Datum::Text("Hello")]).is_ok());
    for (number, call) in ["first", "second"].into_iter().enumerate() {
        if let (1, Some(call)) = (number, run.pending()) {
            let user = [("email", Datum::Text("a@b.c")), ("verified", Datum::Bool(true))];
            assert!(call.answer(Datum::Record(&user)).is_ok());
        }
        assert!(matches!(run.step(), Step::Call(_)));
        c.bench_function(&format!("snapshot/notify at its {call} call"), |b| {
            b.iter(|| assert!(run.snapshot(black_box(&mut bytes)).is_ok()));
        });
        println!("{} bytes", bytes.len());
        let mut other = Run::new(&notify, Limits::default());
        c.bench_function(&format!("restore/notify at its {call} call"), |b| {
            b.iter(|| assert!(other.restore(black_box(&bytes)).is_ok()));
        });
    }
}

criterion_group!(benches, programs, snapshots);
criterion_main!(benches);
