//! Running the four programs, warm and from a fresh state.

use criterion::{Criterion, criterion_group, criterion_main};
use ilo_benches::{P1_ARGUMENTS, PROGRAMS, TOTAL, finish, program};
use ilo_vm::{Limits, Run};
use std::hint::black_box;

fn programs(c: &mut Criterion) {
    for (name, prepare) in PROGRAMS {
        let mut prepared = prepare();
        c.bench_function(&format!("run/{name}"), |b| b.iter(|| assert!(black_box(prepared.again()))));
    }
    let total = program(TOTAL);
    let Some(entry) = total.function("total") else { return };
    let mut run = Run::new(&total, Limits::default());
    c.bench_function("run/P1 with its start", |b| {
        b.iter(|| {
            assert!(run.start(entry, black_box(&P1_ARGUMENTS)).is_ok());
            assert!(finish(&mut run));
        });
    });
    c.bench_function("run/P1 from a fresh state", |b| {
        b.iter(|| {
            let mut run = Run::new(&total, Limits::default());
            assert!(run.start(entry, black_box(&P1_ARGUMENTS)).is_ok());
            assert!(finish(&mut run));
        });
    });
}

criterion_group!(benches, programs);
criterion_main!(benches);
