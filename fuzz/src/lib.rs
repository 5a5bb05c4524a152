//! What hostile input is thrown at: one function an entrance, each taking any bytes and panicking where a promise is
//! broken.
//!
//! The fuzz targets call these, and so do the tests, on the committed corpora. Nothing here decides what a program means;
//! what is held is that the ways through the code agree with each other and that all of them end.

use bumpalo::Bump;
use ilo_asm::build::{Options, build};
use ilo_asm::diagnostic::{Diagnostics, fix};
use ilo_asm::{disasm, graph, id, print};
use ilo_host::data::read::{Bounds, read};
use ilo_host::tools::Tools;
use ilo_spec::encode::encode;
use ilo_spec::operand::FunctionId;
use ilo_spec::program::Program;
use ilo_spec::{decode, limits};
use ilo_vm::{Datum, Limits, Run, Step};
use std::path::Path;

/// Fuel of a run here: enough to go through loops, little enough to be quick.
const FUEL: u64 = 20_000;
/// Memory of a run here, in bytes.
const MEMORY: u64 = 1 << 20;

/// Integer-ID text, all the way: read, mended, laid out, built, packed, listed, drawn, printed back, verified and run.
///
/// # Panics
/// When two ways through the code disagree.
pub fn id_text(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let options = Options::default();
    let (program, diagnostics) = build(source, &options);
    let _ = fix::apply(source, diagnostics.as_slice());
    layout(source, &options);
    let Some(program) = program else {
        assert!(diagnostics.has_errors(), "what is refused has an error");
        return;
    };
    let bare = Program { debug: None, ..program.clone() };
    let bytes = encode(&program);
    assert_eq!(decode::decode(&bytes).as_ref(), Ok(&program), "what is packed is unpacked");
    let again = program.debug.as_ref().map_or("", |debug| debug.source.as_str());
    let (printed, problems) = build(again, &Options { strip: true, ..Options::default() });
    assert!(
        printed.as_ref() == Some(&bare),
        "printed and read back, the code is the same: {problems:?}\n{again}"
    );
    drawn(source);
    assert!(!disasm::disassemble(&program).is_empty());
    match ilo_vm::Program::new(program) {
        Ok(program) => run(&program, data),
        Err(error) => panic!("what the assembler makes is verified: {error}"),
    }
}

/// Laying a source out keeps its meaning, and laying it out again changes nothing.
fn layout(source: &str, options: &Options<'_>) {
    let mut diagnostics = Diagnostics::default();
    let Some(text) = id::format(source, &options.reading, &mut diagnostics) else { return };
    let reading = id::Options { source: limits::SOURCE, line: limits::SOURCE, ..options.reading };
    let mut diagnostics = Diagnostics::default();
    let again = id::format(&text, &reading, &mut diagnostics);
    assert_eq!(again.as_deref(), Some(text.as_str()), "a layout is its own layout");
    let wide = Options { reading, strip: true, ..Options::default() };
    let (before, _) = build(source, &wide);
    let (after, _) = build(&text, &wide);
    assert!(before == after, "a layout means what its source means");
}

fn drawn(source: &str) {
    let arena = Bump::new();
    let file = ilo_asm::build::read(source, &arena, &Options::default(), &mut Diagnostics::default());
    for (format, _) in graph::Format::ALL {
        assert!(!graph::graph(&file, format).is_empty());
    }
    assert!(!print::id(&file).is_empty());
}

/// Bytecode: refused, or verified and run to an end.
///
/// # Panics
/// When a verified program does not end within its limits.
pub fn bytecode(data: &[u8]) {
    if let Ok(program) = decode::decode(data) {
        let _ = disasm::disassemble(&program);
    }
    if let Ok(program) = ilo_vm::Program::load(data) {
        run(&program, data);
    }
}

/// JSON that comes in as an input or a tool's result: refused, or read and written again as the same.
///
/// # Panics
/// When what was written does not read back as it was.
pub fn json(bytes: &[u8]) {
    let bounds = Bounds::default();
    if let Ok(value) = read(bytes, &bounds) {
        let text = value.to_json();
        let again = read(text.as_bytes(), &Bounds { bytes: usize::MAX, ..bounds });
        assert_eq!(again.as_ref(), Ok(&value), "{text}");
    }
}

/// A tools file: refused with problems, or understood.
pub fn tools_file(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Tools::from_text("tools.json", text, Path::new("."));
        let _ = Tools::from_text("tools.toml", text, Path::new("."));
    }
}

/// Runs every function of a program with arguments of each kind, and answers of each kind.
fn run(program: &ilo_vm::Program, seed: &[u8]) {
    const USER: [(&str, Datum<'_>); 3] =
        [("email", Datum::Text("a@b.c")), ("verified", Datum::Bool(true)), ("level", Datum::Text("gold"))];
    let limits = Limits { fuel: FUEL, memory: MEMORY, ..Limits::default() };
    let list = [Datum::Int(1), Datum::Double(2.5), Datum::Record(&USER)];
    let data = [
        Datum::Int(3),
        Datum::Text("x"),
        Datum::Record(&USER),
        Datum::List(&list),
        Datum::Bool(true),
        Datum::Nil,
    ];
    let mut turn =
        seed.iter().fold(0_usize, |sum, &byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
    let mut next = || {
        turn = turn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        turn >> 33
    };
    let mut run = Run::new(program, limits);
    let functions = u16::try_from(program.spec().functions.len().min(4)).unwrap_or(0);
    for function in (0..functions).map(FunctionId) {
        let count = program.parameters(function).count();
        let arguments: Vec<Datum<'_>> = program
            .parameters(function)
            .map(|(_, ty)| fitting(ty, &data).unwrap_or(data[next() % data.len()]))
            .collect();
        assert_eq!(arguments.len(), count);
        if run.start(function, &arguments).is_err() {
            continue;
        }
        // The limit on tool calls ends a run that would go on calling.
        for _ in 0..=limits::DEFAULT_TOOL_CALLS + 1 {
            let ended = match run.step() {
                Step::Done(outcome) => {
                    let mut json = String::new();
                    let _ = outcome.write_json(&mut json);
                    assert!(json.starts_with("{\"status\":"), "an outcome is an object: {json}");
                    true
                }
                Step::Call(call) => {
                    let turn = next();
                    let _ =
                        if turn % 4 == 0 { call.fail("no") } else { call.answer(data[turn % data.len()]) };
                    false
                }
            };
            if ended {
                break;
            }
        }
        assert!(matches!(run.step(), Step::Done(_)), "every run ends");
    }
}

/// An argument of a parameter's type, where the type says which.
fn fitting<'d>(ty: ilo_spec::types::Type, data: &[Datum<'d>; 6]) -> Option<Datum<'d>> {
    use ilo_spec::types::Type;
    match ty {
        Type::NUMBER => Some(data[0]),
        Type::TEXT => Some(data[1]),
        Type::BOOL => Some(data[4]),
        Type::NIL => Some(data[5]),
        Type { lists: 1, base: ilo_spec::types::Base::Any } => Some(data[3]),
        Type { lists: 1.., .. } => Some(Datum::List(&[])),
        _ => None,
    }
}
