//! Tries every change of one byte, every truncation and splices at every byte of the bytecode of all programs
//! of the conformance corpus and the examples, and of snapshots: `every-byte [PART PARTS]`, all of them, or
//! the given part of PARTS. Prints their number; a panic ends it.

use ilo_fuzz::every_byte::{splices, sweep};
use ilo_fuzz::seeds::bytecodes;
use ilo_fuzz::{bytecode, snapshot, snapshots};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let arguments: Vec<Option<usize>> =
        std::env::args().skip(1).map(|argument| argument.parse().ok()).collect();
    let (part, parts) = match arguments[..] {
        [] => (0, 1),
        [Some(part), Some(parts)] if part < parts => (part, parts),
        _ => {
            eprintln!("usage: every-byte [PART PARTS]");
            return ExitCode::from(2);
        }
    };
    let begun = Instant::now();
    let programs: Vec<Vec<u8>> = bytecodes().into_iter().skip(part).step_by(parts).collect();
    let snapshots: Vec<Vec<u8>> = snapshots().into_iter().skip(part).step_by(parts).collect();
    let all = |_| 0..=u8::MAX;
    let mut tried: u64 = programs.iter().map(|bytes| sweep(bytecode, bytes, 0, all)).sum();
    // The first byte selects the program of a snapshot.
    tried += snapshots.iter().map(|bytes| sweep(snapshot, bytes, 1, all)).sum::<u64>();
    for (all, body, first) in [(&programs, bytecode as fn(&[u8]), 0), (&snapshots, snapshot, 1)] {
        // The end of each is put behind the beginnings of the next.
        let others = all.iter().cycle().skip(1);
        tried += all
            .iter()
            .zip(others)
            .map(|(one, other)| splices(body, one, first, other, |_, _| true))
            .sum::<u64>();
    }
    println!(
        "{tried} changes, truncations and splices of {} programs and {} snapshots are refused or harmless, {:.0} s",
        programs.len(),
        snapshots.len(),
        begun.elapsed().as_secs_f64()
    );
    ExitCode::SUCCESS
}
