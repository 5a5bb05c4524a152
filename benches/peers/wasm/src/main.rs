//! The workers for WebAssembly: wasmi runs the programs that need neither records nor text, wasmparser
//! validates, wat assembles.

use ilo_worker::Worker;
use std::error::Error;
use std::hint::black_box;
use wasmi::{Engine, Instance, Module, Store};
use wasmparser::{Parser, Payload, Validator};

const TOTAL: &str = include_str!("../../programs/total.wat");
const SUM: &str = include_str!("../../programs/sum.wat");
const NOTIFY: &str = include_str!("../../programs/notify.wat");

const NUMBERS: u32 = 10_000;
/// The size of the large source.
const LARGE: usize = 1_000_000;

/// A module of this number of bytes of text, of the same kind as the programs of ilo.
fn large() -> String {
    let mut out = r#"(module
(import "host" "get_user" (func $get_user (param i32) (result i32)))
(import "host" "verified" (func $verified (param i32) (result i32)))
(import "host" "email" (func $email (param i32) (result i32)))
(import "host" "concat" (func $concat (param i32 i32) (result i32)))
(import "host" "send_email" (func $send_email (param i32 i32 i32) (result i32)))
"#
    .to_owned();
    let mut number = 0;
    while out.len() < LARGE {
        for (name, body) in [("notify", NOTIFY), ("total", TOTAL), ("sum", SUM)] {
            let named = body.replace(&format!("${name} "), &format!("${name}-{number} "));
            out.push_str(&named.replace(&format!("\"{name}\""), &format!("\"{name}-{number}\"")));
        }
        number += 1;
    }
    out.push_str("(memory 1))\n");
    out
}

/// The instructions of a module.
fn instructions(binary: &[u8]) -> Result<u64, Box<dyn Error>> {
    let mut count = 0;
    for payload in Parser::new(0).parse_all(binary) {
        if let Payload::CodeSectionEntry(body) = payload? {
            for operator in body.get_operators_reader()? {
                operator?;
                count += 1;
            }
        }
    }
    Ok(count)
}

fn runs(worker: &mut Worker) -> Result<(), Box<dyn Error>> {
    let engine = Engine::default();
    let total = Module::new(&engine, wat::parse_str(format!("(module {TOTAL})"))?)?;
    let mut store = Store::new(&engine, ());
    let function = Instance::new(&mut store, &total, &[])?.get_typed_func::<(f64, f64, f64), f64>(&store, "total")?;
    let shown = function.call(&mut store, (10.5, 20.5, 0.3))?.to_string();
    worker.item("p1", shown.clone(), move |count| {
        for _ in 0..count {
            let _ = black_box(function.call(&mut store, black_box((10.5, 20.5, 0.3))));
        }
        count
    });

    let start = move || -> Result<f64, wasmi::Error> {
        let mut store = Store::new(&engine, ());
        let function = Instance::new(&mut store, &total, &[])?.get_typed_func::<(f64, f64, f64), f64>(&store, "total")?;
        function.call(&mut store, black_box((10.5, 20.5, 0.3)))
    };
    worker.item("start", shown, move |count| {
        for _ in 0..count {
            let _ = black_box(start());
        }
        count
    });

    let engine = Engine::default();
    let sum = Module::new(&engine, wat::parse_str(format!(r#"(module (memory (export "memory") 2) {SUM})"#))?)?;
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &sum, &[])?;
    let memory = instance.get_memory(&store, "memory").ok_or("no memory")?;
    let numbers: Vec<u8> = (0..NUMBERS).flat_map(|number| (f64::from(number % 10) + 0.5).to_le_bytes()).collect();
    memory.write(&mut store, 0, &numbers)?;
    let function = instance.get_typed_func::<i32, f64>(&store, "sum")?;
    let count = NUMBERS as i32;
    worker.item("p4", function.call(&mut store, count)?.to_string(), move |passes| {
        for _ in 0..passes {
            let _ = black_box(function.call(&mut store, black_box(count)));
        }
        passes * u64::from(NUMBERS)
    });
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut worker = Worker::new("wasmi, wasmparser, wat");
    runs(&mut worker)?;
    let text = large();
    let binary = wat::parse_str(&text)?;
    let bytes = text.len() as u64;
    worker.work("assemble", move |passes| {
        for _ in 0..passes {
            let _ = black_box(wat::parse_str(black_box(&text)));
        }
        passes * bytes
    });
    let count = instructions(&binary)?;
    Validator::new().validate_all(&binary)?;
    worker.work("verify", move |passes| {
        for _ in 0..passes {
            let _ = black_box(Validator::new().validate_all(black_box(&binary)));
        }
        passes * count
    });
    worker.serve()?;
    Ok(())
}
