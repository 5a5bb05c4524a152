//! A program that is printed in any notation reads back to the same code.

use crate::conversion::{Turned, turn};
use crate::generate::{bytes, case};
use ilo_asm::notation::Notation;

/// Seeds whose programs were once converted wrongly.
const KNOWN: [u64; 19] = [
    1023, 1102, 1109, 1111, 1148, 1267, 1300, 1764, 1865, 2054, 2916, 3220, 3223, 3494, 3853, 4589, 4897,
    6129, 682,
];

#[test]
fn random_programs_survive_every_notation() {
    let seeds = std::env::var("SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(200_u64);
    let (mut same, mut wrong) = (0, Vec::new());
    for seed in (0..seeds).chain(KNOWN.into_iter().filter(|&seed| seed >= seeds)) {
        let source = case(&bytes(seed)).source;
        for (to, name) in Notation::ALL {
            match turn(&source, Notation::Id, to) {
                Ok(Turned::Same(_)) => same += 1,
                Ok(Turned::NoProgram) => {}
                Ok(Turned::NotExpressible(why)) => {
                    wrong.push(format!("{name} seed {seed}\n{source}\n{why}"));
                }
                Err(what) => wrong.push(format!("{name} seed {seed}\n{source}\n{what}")),
            }
        }
    }
    println!("{same} the same");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(same > seeds * 4, "nearly every seed is a program");
}
