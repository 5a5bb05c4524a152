//! The body for snapshots, and its programs and first inputs.

use crate::drive::{DATA, Turns, USER, drive, fitting, is_limit, limited};
use ilo_asm::compile::{Options, compile};
use ilo_vm::{Datum, Run, Step};
use std::sync::OnceLock;

/// A snapshot: the first byte selects a program, the rest is sealed and restored. It is refused, or the run
/// continues to its end.
///
/// # Panics
/// If a restored run does not end, or its own snapshot is not restored.
pub fn snapshot(data: &[u8]) {
    let Some((&pick, snapshot)) = data.split_first() else { return };
    let programs = suspending();
    let program = &programs[usize::from(pick) % programs.len()];
    let _ = Run::from_snapshot(program, snapshot, limited());
    let mut sealed = snapshot.to_vec();
    ilo_vm::seal(&mut sealed);
    let Ok(mut run) = Run::from_snapshot(program, &sealed, limited()) else { return };
    let mut again = Vec::new();
    assert_eq!(run.snapshot(&mut again), Ok(()), "a restored run waits for an answer");
    if let Err(error) = Run::from_snapshot(program, &again, limited()) {
        assert!(is_limit(error.code().as_str()), "a restored run is restored again: {error}");
    }
    drive(&mut run, &mut Turns::new(data), None);
    assert!(matches!(run.step(), Step::Done(_)), "every run ends");
}

/// The examples that call tools, built and verified.
///
/// # Panics
/// If one does not build, which is a bug.
pub fn suspending() -> &'static [ilo_vm::Program] {
    static PROGRAMS: OnceLock<Vec<ilo_vm::Program>> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let sources = [
            include_str!("../../examples/notify.ilo"),
            include_str!("../../examples/checkout.ilo"),
            include_str!("programs/suspending.ilo"),
            include_str!("programs/rolling_back.ilo"),
        ];
        let built = sources.map(|source| {
            let (program, problems) = compile(source, &Options { strip: true, ..Options::default() });
            match program.and_then(|program| ilo_vm::Program::new(program).ok()) {
                Some(program) => program,
                None => panic!("{:?}", problems.as_slice()),
            }
        });
        built.into()
    })
}

/// Inputs of [`snapshot`]: a snapshot of each of these programs at each of its calls.
///
/// # Panics
/// If a program does not start, which is a bug.
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
