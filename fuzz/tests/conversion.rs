//! A program printed in any notation and read back gives the same code, or is reported as not expressible.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use ilo_asm::build::Notation;
use ilo_fuzz::conversion::{Turned, turn};
use ilo_fuzz::differential::alike;
use ilo_fuzz::generate::{bytes, case};
use std::collections::BTreeMap;

/// Seeds whose programs once came back as others.
const KNOWN: [u64; 4] = [1111, 1267, 1300, 6129];

#[test]
fn random_programs_survive_every_notation() {
    let seeds = std::env::var("SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(300_u64);
    let (mut refused, mut wrong): (BTreeMap<String, u32>, Vec<String>) = (BTreeMap::new(), Vec::new());
    let (mut same, mut settled) = (0, 0);
    for seed in (0..seeds).chain(KNOWN.into_iter().filter(|&seed| seed >= seeds)) {
        let case = case(&bytes(seed));
        let source = &case.source;
        for (to, name) in Notation::ALL {
            match turn(source, Notation::Id, to) {
                Ok(Turned::Same(_)) => same += 1,
                Ok(Turned::NoProgram) => {}
                Ok(Turned::Settled(words)) => match alike(&case, &words, to) {
                    Ok(()) => {
                        settled += 1;
                        if std::env::var("SHOW").is_ok() && to != Notation::Id {
                            println!("{name} seed {seed}\n{source}\n{words}\n");
                            let f = |s: &str, n| {
                                ilo_asm::disasm::disassemble(
                                    &ilo_asm::build::build(
                                        s,
                                        &ilo_asm::build::Options {
                                            from: Some(n),
                                            strip: true,
                                            ..Default::default()
                                        },
                                    )
                                    .0
                                    .unwrap(),
                                )
                            };
                            std::fs::write("/tmp/a.dis", f(source, Notation::Id)).unwrap();
                            std::fs::write("/tmp/b.dis", f(&words, to)).unwrap();
                            let o = std::process::Command::new("diff")
                                .args(["-U5", "/tmp/a.dis", "/tmp/b.dis"])
                                .output()
                                .unwrap();
                            println!("{}", String::from_utf8_lossy(&o.stdout));
                        }
                    }
                    Err(what) => wrong.push(format!("{name} seed {seed}\n{source}\n{words}\n{what}")),
                },
                Ok(Turned::NotExpressible(why)) => *refused.entry(why).or_default() += 1,
                Err(what) => wrong.push(format!("{name} seed {seed}\n{source}\n{what}")),
            }
        }
    }
    println!("{same} the same, {settled} settled\n{refused:#?}");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(settled * 25 < same, "{settled} of {same} differ where slots are used for several things");
}
