//! The bodies for sources, generated programs and bytecode.

use crate::differential::compare;
use crate::drive::{Turns, run};
use crate::generate;
use ilo_asm::arena::Arena;
use ilo_asm::compile::{Options, compile};
use ilo_asm::diagnostic::{Diagnostic, Diagnostics, fix};
use ilo_asm::disasm;
use ilo_asm::format::id_text as format_id;
use ilo_asm::notation::Notation;
use ilo_asm::source::SourceLimits;
use ilo_asm::span::Span;
use ilo_spec::encode::encode;
use ilo_spec::program::Program;
use ilo_spec::{decode, limits};

/// Integer-ID text: formats it, then tests it as [`text`] does.
///
/// # Panics
/// If two ways through the code disagree.
pub fn id_text(data: &[u8]) {
    if let Ok(source) = std::str::from_utf8(data) {
        layout(source, &Options { from: Some(Notation::Id), ..Options::default() });
        text(source, Notation::Id);
    }
}

/// A program in the tool-calling notation.
///
/// # Panics
/// If two ways through the code disagree.
pub fn tool_calling(data: &[u8]) {
    text(std::str::from_utf8(data).unwrap_or_default(), Notation::ToolCalling);
}

/// A program in the constrained notation.
///
/// # Panics
/// If two ways through the code disagree.
pub fn constrained(data: &[u8]) {
    text(std::str::from_utf8(data).unwrap_or_default(), Notation::Constrained);
}

/// A program in the workflow notation.
///
/// # Panics
/// If two ways through the code disagree.
pub fn workflow(data: &[u8]) {
    text(std::str::from_utf8(data).unwrap_or_default(), Notation::Workflow);
}

/// A program in the mcp notation.
///
/// # Panics
/// If two ways through the code disagree.
pub fn mcp(data: &[u8]) {
    text(std::str::from_utf8(data).unwrap_or_default(), Notation::Mcp);
}

/// An expression in the braces of a text, in the four notations of JSON and YAML, which read it alike.
///
/// # Panics
/// If two notations build different code from it, or two ways through the code disagree.
pub fn expression(data: &[u8]) {
    let text_of = std::str::from_utf8(data).unwrap_or_default();
    let mut quoted = String::new();
    crate::data::quote(&format!("${{{text_of}}}"), &mut quoted);
    let head = r#""input": {"a": "any", "b": "number", "c": "text"}, "output": "any", "steps": ["#;
    let programs = [
        (
            Notation::ToolCalling,
            format!(r#"{{"function": "f", {head}{{"let": "x", "expr": {quoted}}}, {{"return": "$x"}}]}}"#),
        ),
        (
            Notation::Constrained,
            format!(
                r#"{{"fn": "f", "in": {{"a": "any", "b": "number", "c": "text"}}, "out": "any", "body": [{{"let": "x", "expr": {quoted}}}, {{"ret": "x"}}]}}"#
            ),
        ),
        (
            Notation::Workflow,
            format!(
                "{{\"name\": \"f\", {head}{{\"let\": \"x\", \"expr\": {quoted}}}, {{\"return\": \"${{x}}\"}}]}}"
            ),
        ),
        (
            Notation::Mcp,
            format!(
                r#"{{"meta": {{"name": "f", "input": {{"a": "any", "b": "number", "c": "text"}}, "output": "any"}}, "steps": [{{"let": "x", "expr": {quoted}}}, {{"ok": "$x"}}]}}"#
            ),
        ),
    ];
    let mut built: Vec<(Notation, Vec<u8>)> = Vec::new();
    for (notation, source) in &programs {
        text(source, *notation);
        let options = Options { from: Some(*notation), strip: true, ..Options::default() };
        if let (Some(program), findings) = compile(source, &options)
            && findings.as_slice().is_empty()
        {
            built.push((*notation, encode(&program)));
        }
    }
    for pair in built.windows(2) {
        assert!(pair[0].1 == pair[1].1, "{} and {} differ: {text_of}", pair[0].0, pair[1].0);
    }
}

/// The expressions of the sources: what is in the braces of their texts.
pub(crate) fn expressions<'s>(sources: impl IntoIterator<Item = &'s str>) -> Vec<String> {
    let inside = |source: &'s str| source.split("${").skip(1).filter_map(|rest| rest.split('}').next());
    sources.into_iter().flat_map(inside).map(str::to_owned).collect()
}

/// Compares a generated program with the oracle.
///
/// # Panics
/// If they disagree.
pub fn differential(data: &[u8]) {
    let case = generate::case(data);
    if let Err(what) = compare(&case) {
        panic!("{what}\n{case}");
    }
}

/// Runs the changed bytecode of a generated program: the first 8 bytes give places and values.
///
/// # Panics
/// If a verified program does not end within its limits.
pub fn mutated(data: &[u8]) {
    let Some((changes, rest)) = data.split_first_chunk::<8>() else { return };
    let options = Options { strip: true, ..Options::default() };
    let (Some(program), _) = compile(&generate::case(rest).source, &options) else { return };
    let mut bytes = encode(&program);
    for change in changes.chunks_exact(4) {
        // Some changes leave a byte as it is, so that the unchanged program is a case too.
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
        bytes[at] = if change[2] < 128 { bytes[at].wrapping_add(change[2] % 8) } else { change[3] };
    }
    bytecode(&bytes);
}

/// Takes a source through everything: it is read, its fixes are applied, it is built, encoded, disassembled,
/// drawn, printed as ID text, verified and run.
fn text(source: &str, notation: Notation) {
    let options = Options { from: Some(notation), ..Options::default() };
    let (program, diagnostics) = compile(source, &options);
    located(source, diagnostics.as_slice());
    let Some(program) = program else {
        assert!(diagnostics.has_errors(), "a refused source has an error");
        return;
    };
    let bare = Program { debug: None, ..program.clone() };
    let bytes = encode(&program);
    assert_eq!(decode::decode(&bytes).as_ref(), Ok(&program), "an encoded program is decoded to the same");
    let again = program.debug.as_ref().map_or("", |debug| debug.source.as_str());
    let (printed, problems) = compile(again, &Options { strip: true, ..Options::default() });
    assert!(
        printed.as_ref() == Some(&bare),
        "the source in the bytecode reads back to the same program: {:?}\n{again}",
        problems.as_slice()
    );
    drawn(source, &options);
    assert!(!disasm::disassemble(&program).is_empty());
    match ilo_vm::Program::new(program) {
        Ok(program) => run(&program, Turns::new(source.as_bytes())),
        Err(error) => panic!("the assembler makes programs that are verified: {error}"),
    }
}

/// What is found lies in the source, between characters, and so does what each fix replaces; a fix can be
/// applied.
fn located(source: &str, found: &[Diagnostic]) {
    let is_inside = |span: Span| source.get(span.range()).is_some();
    for one in found {
        let shown = || format!("{}: {}\n{source}", one.code.as_str(), one.message);
        assert!(is_inside(one.span), "the place is in the source: {}", shown());
        assert!(
            one.related.iter().all(|it| is_inside(it.0)),
            "related places are in the source: {}",
            shown()
        );
        let Some(fix) = &one.fix else { continue };
        assert!(fix.edits.iter().all(|edit| is_inside(edit.span)), "edits are in the source: {}", shown());
        let (fixed, count) = fix::apply(source, core::slice::from_ref(one));
        assert!(count == 1 && fixed != source, "a fix changes the source: {}", shown());
    }
    let _ = fix::apply(source, found);
}

/// Formatting a source keeps its meaning, and formatting it again changes nothing.
fn layout(source: &str, options: &Options<'_>) {
    let mut diagnostics = Diagnostics::default();
    let Some(text) = format_id(source, &options.reading, &mut diagnostics) else { return };
    let reading = SourceLimits { source: limits::SOURCE, line: limits::SOURCE, ..options.reading };
    let mut diagnostics = Diagnostics::default();
    let again = format_id(&text, &reading, &mut diagnostics);
    assert_eq!(again.as_deref(), Some(text.as_str()), "formatting again changes nothing");
    let wide = Options { reading, strip: true, ..options.clone() };
    let (before, _) = compile(source, &wide);
    let (after, _) = compile(&text, &wide);
    assert!(before == after, "formatting keeps the meaning");
}

fn drawn(source: &str, options: &Options<'_>) {
    let arena = Arena::new();
    let file = ilo_asm::compile::read(source, &arena, options, &mut Diagnostics::default());
    for (format, _) in ilo_graph::Format::ALL {
        assert!(!ilo_graph::graph(&file, format).is_empty());
    }
}

/// Bytecode is refused, or its program has a form that is decoded to the same program. If it is verified too,
/// it is run to its end.
///
/// # Panics
/// If that form is another program, or a verified program does not end within its limits.
pub fn bytecode(data: &[u8]) {
    let decoded = decode::decode(data);
    if let Ok(program) = &decoded {
        // A section of no items is left out of what is encoded (7.2.2).
        let packed = encode(program);
        let again = decode::decode(&packed).map(|again| encode(&again));
        assert!(again.is_ok_and(|again| again == packed), "what is encoded is decoded: {data:02x?}");
        let _ = disasm::disassemble(program);
    }
    if let Ok(program) = ilo_vm::Program::load(data) {
        assert!(decoded.is_ok(), "what can run can be decoded");
        run(&program, Turns::new(data));
    }
}
