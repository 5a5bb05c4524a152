//! What hostile input is thrown at: one function an entrance, each taking any bytes and panicking where a promise is
//! broken.
//!
//! The fuzz targets call these, and so do the tests, on the committed corpora. Nothing here decides what a program means;
//! what is held is that the ways through the code agree with each other and that all of them end.

mod answers;
pub mod conversion;
pub mod data;
pub mod differential;
mod drive;
pub mod generate;
pub mod oracle;
#[cfg(feature = "host")]
mod outside;
pub mod seeds;
pub mod shrink;
pub mod sweep;
pub mod world;

pub use answers::answers;
pub use conversion::{conversion, round_trip};
#[cfg(feature = "host")]
pub use outside::{json, mcp_answer, mcp_messages, tools_file};

use bumpalo::Bump;
use drive::{DATA, Turns, USER, drive, fitting, is_limit, limited, run};
use ilo_asm::build::{Options, build};
use ilo_asm::diagnostic::{Diagnostics, fix};
use ilo_asm::disasm;
use ilo_asm::notation::Notation;
use ilo_graph as graph;
use ilo_spec::encode::encode;
use ilo_spec::program::Program;
use ilo_spec::{decode, limits};
use ilo_vm::{Datum, Run, Step};
use std::sync::OnceLock;

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
        Ok(program) => run(&program, Turns::new(source.as_bytes())),
        Err(error) => panic!("what the assembler makes is verified: {error}"),
    }
}

/// Laying a source out keeps its meaning, and laying it out again changes nothing.
fn layout(source: &str, options: &Options<'_>) {
    let mut diagnostics = Diagnostics::default();
    let Some(text) = ilo_asm::format::id_text(source, &options.reading, &mut diagnostics) else { return };
    let reading = ilo_asm::source::Limits { source: limits::SOURCE, line: limits::SOURCE, ..options.reading };
    let mut diagnostics = Diagnostics::default();
    let again = ilo_asm::format::id_text(&text, &reading, &mut diagnostics);
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
        run(&program, Turns::new(data));
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
    drive(&mut run, &mut Turns::new(data), None);
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
