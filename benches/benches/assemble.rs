//! Measures each stage from text to verified bytecode.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ilo_asm::arena::Arena;
use ilo_asm::compile::{Options, compile, read, read_and_check};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::id;
use ilo_benches::{NOTIFY, source};
use ilo_spec::{decode, encode};
use ilo_vm::Program;
use std::hint::black_box;

fn stages(c: &mut Criterion, name: &str, text: &str) {
    let mut group = c.benchmark_group(format!("assemble/{name}"));
    group.throughput(Throughput::Bytes(text.len() as u64));
    let reading =
        ilo_asm::source::SourceLimits { source: usize::MAX, ..ilo_asm::source::SourceLimits::default() };
    let options = Options { reading, strip: true, ..Options::default() };
    group.bench_function("lex", |b| b.iter(|| id::count_tokens(black_box(text), &reading)));
    group.bench_function("parse", |b| {
        b.iter(|| {
            let arena = Arena::new();
            black_box(read(text, &arena, &options, &mut Diagnostics::default()).functions.len())
        });
    });
    group.bench_function("check", |b| {
        b.iter(|| {
            let arena = Arena::new();
            black_box(read_and_check(text, &arena, &options, &mut Diagnostics::default()).1.order.len())
        });
    });
    group.bench_function("build", |b| b.iter(|| black_box(compile(text, &options).0.is_some())));
    group.bench_function("build to bytes", |b| {
        b.iter(|| black_box(compile(text, &options).0.map(|program| encode::encode(&program).len())));
    });
    let (Some(program), _) = compile(text, &options) else { return };
    let bytes = encode::encode(&program);
    group.throughput(Throughput::Elements(program.code.len() as u64));
    group.bench_function("decode", |b| b.iter(|| black_box(decode::decode(&bytes).is_ok())));
    group.bench_function("decode and verify", |b| b.iter(|| black_box(Program::load(&bytes).is_ok())));
    group.finish();
}

fn assemble(c: &mut Criterion) {
    stages(c, "notify", NOTIFY);
    stages(c, "1 MB", &source(1_000_000));
}

criterion_group!(benches, assemble);
criterion_main!(benches);
