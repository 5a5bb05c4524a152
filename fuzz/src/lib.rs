//! What hostile input is thrown at: one function an entrance, each taking any bytes and panicking where a promise is
//! broken.
//!
//! The fuzz targets call these, and so do the tests, on the committed corpora. Nothing here decides what a program means;
//! what is held is that the ways through the code agree with each other and that all of them end.

pub mod conversion;
pub mod data;
pub mod differential;
pub mod generate;
pub mod oracle;
#[cfg(feature = "host")]
mod outside;
pub mod shrink;
pub mod world;

pub use conversion::conversion;
#[cfg(feature = "host")]
pub use outside::{json, tools_file};

use bumpalo::Bump;
use ilo_asm::build::{Notation, Options, build};
use ilo_asm::diagnostic::{Diagnostics, fix};
use ilo_asm::{disasm, graph, id};
use ilo_spec::encode::encode;
use ilo_spec::operand::FunctionId;
use ilo_spec::program::Program;
use ilo_spec::{decode, limits};
use ilo_vm::{Datum, Limits, Run, Step};
use std::sync::OnceLock;

/// Fuel of a run here: enough to go through loops, little enough to be quick.
const FUEL: u64 = 20_000;
/// Memory of a run here, in bytes.
const MEMORY: u64 = 1 << 20;

/// Integer-ID text: laid out, and then as [`text`].
///
/// # Panics
/// When two ways through the code disagree.
pub fn id_text(data: &[u8]) {
    if let Ok(source) = std::str::from_utf8(data) {
        layout(source, &Options { from: Some(Notation::Id), ..Options::default() });
        text(source, Notation::Id);
    }
}

/// A program in the notation of tool calls.
///
/// # Panics
/// When two ways through the code disagree.
pub fn tool_calling(data: &[u8]) {
    text(std::str::from_utf8(data).unwrap_or_default(), Notation::ToolCalling);
}

/// A program in the notation for constrained decoding.
///
/// # Panics
/// When two ways through the code disagree.
pub fn constrained(data: &[u8]) {
    text(std::str::from_utf8(data).unwrap_or_default(), Notation::Constrained);
}

/// A workflow.
///
/// # Panics
/// When two ways through the code disagree.
pub fn workflow(data: &[u8]) {
    text(std::str::from_utf8(data).unwrap_or_default(), Notation::Workflow);
}

/// A composition of MCP tools.
///
/// # Panics
/// When two ways through the code disagree.
pub fn mcp(data: &[u8]) {
    text(std::str::from_utf8(data).unwrap_or_default(), Notation::Mcp);
}

/// A generated program against the oracle.
///
/// # Panics
/// When they disagree.
pub fn differential(data: &[u8]) {
    let case = generate::case(data);
    if let Err(what) = differential::compare(&case) {
        panic!("{what}\n{case}");
    }
}

/// A generated program's bytecode with some bytes changed: the first 8 bytes say where and to what.
///
/// # Panics
/// When a verified program does not end within its limits.
pub fn mutated(data: &[u8]) {
    let Some((changes, rest)) = data.split_first_chunk::<8>() else { return };
    let options = Options { strip: true, ..Options::default() };
    let (Some(program), _) = build(&generate::case(rest).source, &options) else { return };
    let mut bytes = encode(&program);
    for change in changes.chunks_exact(4) {
        // No change of a byte to what it is: each string is a case by itself.
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
        bytes[at] = if change[2] < 128 { bytes[at].wrapping_add(change[2] % 8) } else { change[3] };
    }
    bytecode(&bytes);
}

/// A source all the way: read, mended, built, packed, listed, drawn, printed as ID text, verified and run.
fn text(source: &str, notation: Notation) {
    let options = Options { from: Some(notation), ..Options::default() };
    let (program, diagnostics) = build(source, &options);
    let _ = fix::apply(source, diagnostics.as_slice());
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
        "what bytecode carries reads back to the same: {:?}\n{again}",
        problems.as_slice()
    );
    drawn(source, &options);
    assert!(!disasm::disassemble(&program).is_empty());
    match ilo_vm::Program::new(program) {
        Ok(program) => run(&program, source.as_bytes()),
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
    let wide = Options { reading, strip: true, ..options.clone() };
    let (before, _) = build(source, &wide);
    let (after, _) = build(&text, &wide);
    assert!(before == after, "a layout means what its source means");
}

fn drawn(source: &str, options: &Options<'_>) {
    let arena = Bump::new();
    let file = ilo_asm::build::read(source, &arena, options, &mut Diagnostics::default());
    for (format, _) in graph::Format::ALL {
        assert!(!graph::graph(&file, format).is_empty());
    }
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

/// A snapshot: the first byte picks a program, the rest is sealed and restored; refused, or run to an end.
///
/// # Panics
/// When what was restored does not end, or has no snapshot that is restored again.
pub fn snapshot(data: &[u8]) {
    let Some((&pick, snapshot)) = data.split_first() else { return };
    let programs = suspending();
    let program = &programs[usize::from(pick) % programs.len()];
    let _ = Run::from_snapshot(program, snapshot, limited());
    let mut sealed = snapshot.to_vec();
    ilo_vm::seal(&mut sealed);
    let Ok(mut run) = Run::from_snapshot(program, &sealed, limited()) else { return };
    let mut again = Vec::new();
    assert_eq!(run.snapshot(&mut again), Ok(()), "what was restored waits for an answer");
    if let Err(error) = Run::from_snapshot(program, &again, limited()) {
        assert!(is_limit(error.code().as_str()), "what was restored is restored again: {error}");
    }
    drive(&mut run, &mut Turns::new(data), false);
    assert!(matches!(run.step(), Step::Done(_)), "every run ends");
}

/// The examples that call tools, built.
///
/// # Panics
/// When one does not build, which is a mistake of ours.
pub fn suspending() -> &'static [ilo_vm::Program] {
    static PROGRAMS: OnceLock<Vec<ilo_vm::Program>> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let sources = [
            include_str!("../../examples/notify.ilo"),
            include_str!("../../examples/checkout.ilo"),
            include_str!("programs/suspending.ilo"),
        ];
        let built = sources.map(|source| {
            let (program, problems) = build(source, &Options { strip: true, ..Options::default() });
            match program.and_then(|program| ilo_vm::Program::new(program).ok()) {
                Some(program) => program,
                None => panic!("{:?}", problems.as_slice()),
            }
        });
        built.into()
    })
}

/// Inputs of [`snapshot`]: one of each of these programs at each of its calls.
///
/// # Panics
/// When a program does not start, which is a mistake of ours.
pub fn snapshots() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for (pick, program) in (0_u8..).zip(suspending()) {
        let Ok(function) = program.entry() else { panic!("one function starts") };
        let arguments: Vec<Datum<'_>> =
            program.parameters(function).map(|(_, ty)| fitting(ty).unwrap_or(DATA[2])).collect();
        let mut run = Run::new(program, limited());
        assert!(run.start(function, &arguments).is_ok(), "the arguments fit");
        for turn in 0.. {
            let mut bytes = Vec::new();
            if let Step::Done(_) = run.step() {
                break;
            }
            assert_eq!(run.snapshot(&mut bytes), Ok(()), "a call waits");
            bytes.insert(0, pick);
            found.push(bytes);
            let Some(call) = run.pending() else { break };
            let fields = [("reservation-id", DATA[turn % DATA.len()]), USER[0], USER[1]];
            assert!(call.answer(Datum::Record(&fields)).is_ok(), "the answer fits");
        }
    }
    found
}

fn limited() -> Limits {
    Limits { fuel: FUEL, memory: MEMORY, ..Limits::default() }
}

/// Whether a code is that of a limit.
fn is_limit(code: &str) -> bool {
    ["fuel", "memory", "depth", "too-many-calls", "too-large"].contains(&code)
}

/// What is answered and given, in an order that follows from the input.
#[derive(Clone)]
struct Turns(usize);

impl Turns {
    fn new(seed: &[u8]) -> Turns {
        Turns(seed.iter().fold(0, |sum, &byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte))))
    }

    fn next(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

const USER: [(&str, Datum<'_>); 3] =
    [("email", Datum::Text("a@b.c")), ("verified", Datum::Bool(true)), ("level", Datum::Text("gold"))];
const LIST: [Datum<'_>; 3] = [Datum::Int(1), Datum::Double(2.5), Datum::Record(&USER)];
const DATA: [Datum<'_>; 6] = [
    Datum::Int(3),
    Datum::Text("x"),
    Datum::Record(&USER),
    Datum::List(&LIST),
    Datum::Bool(true),
    Datum::Nil,
];

/// Runs every function of a program with arguments of each kind, and answers of each kind; unbroken, and from a snapshot
/// at each call.
fn run(program: &ilo_vm::Program, seed: &[u8]) {
    let mut turns = Turns::new(seed);
    let mut run = Run::new(program, limited());
    let functions = u16::try_from(program.spec().functions.len().min(4)).unwrap_or(0);
    for function in (0..functions).map(FunctionId) {
        let arguments: Vec<Datum<'_>> = program
            .parameters(function)
            .map(|(_, ty)| fitting(ty).unwrap_or(DATA[turns.next() % DATA.len()]))
            .collect();
        if run.start(function, &arguments).is_err() {
            continue;
        }
        let mut same = turns.clone();
        let outcome = drive(&mut run, &mut turns, false);
        assert!(matches!(run.step(), Step::Done(_)), "every run ends");
        let (fuel, memory) = (run.fuel_used(), run.memory_used());
        assert!(run.start(function, &arguments).is_ok(), "what started once starts again");
        let broken = drive(&mut run, &mut same, true);
        // Near its limits a run looks for room and measures what leaves it, which depends on what it has forgotten.
        if memory < MEMORY / 4 && !LIMITS.iter().any(|code| outcome.contains(code)) {
            assert_eq!(broken, outcome, "a suspended run goes on as it would have");
            assert_eq!(run.fuel_used(), fuel, "and uses the same fuel: {outcome}");
        }
    }
}

/// Runs to the end; where `broken`, each call is answered to what its snapshot is restored to. Gives the outcome.
fn drive(run: &mut Run, turns: &mut Turns, broken: bool) -> String {
    let mut bytes = Vec::new();
    // The limit on tool calls ends a run that would go on calling.
    for _ in 0..=limits::DEFAULT_TOOL_CALLS + 1 {
        if let Step::Done(outcome) = run.step() {
            let mut json = String::new();
            let _ = outcome.write_json(&mut json);
            assert!(json.starts_with("{\"status\":"), "an outcome is an object: {json}");
            return json;
        }
        if broken {
            assert_eq!(run.snapshot(&mut bytes), Ok(()), "a call waits");
            // A new run, whose registers hold nothing of the old one's.
            match Run::from_snapshot(run.program(), &bytes, limited()) {
                Ok(restored) => *run = restored,
                Err(error) => {
                    assert!(is_limit(error.code().as_str()), "a snapshot is restored: {error}");
                    return format!("{{\"code\":\"{}\"}}", error.code());
                }
            }
        }
        let Some(call) = run.pending() else { continue };
        let turn = turns.next();
        let _ = if turn.is_multiple_of(4) { call.fail("no") } else { call.answer(DATA[turn % DATA.len()]) };
    }
    String::new()
}

/// Codes of limits as they stand in an outcome.
const LIMITS: [&str; 5] = [
    "\"code\":\"fuel\"",
    "\"code\":\"memory\"",
    "\"code\":\"depth\"",
    "\"code\":\"too-many-calls\"",
    "\"code\":\"too-large\"",
];

/// An argument of a parameter's type, where the type says which.
fn fitting(ty: ilo_spec::types::Type) -> Option<Datum<'static>> {
    use ilo_spec::types::Type;
    match ty {
        Type::NUMBER => Some(DATA[0]),
        Type::TEXT => Some(DATA[1]),
        Type::BOOL => Some(DATA[4]),
        Type::NIL => Some(DATA[5]),
        Type { lists: 1, base: ilo_spec::types::Base::Any } => Some(DATA[3]),
        Type { lists: 1.., .. } => Some(Datum::List(&[])),
        _ => None,
    }
}
