//! Random programs agree with the oracle: a few here, a hundred thousand with `fuzz/oracle.sh` in `.ci/run`.

use ilo_fuzz::differential::{Verdict, compare};
use ilo_fuzz::generate::{bytes, case};
use std::collections::BTreeMap;

#[test]
fn random_programs_agree_with_the_oracle() {
    let mut shares: BTreeMap<Verdict, u32> = BTreeMap::new();
    for seed in 0..400 {
        let case = case(&bytes(seed));
        match compare(&case) {
            Ok(verdict) => *shares.entry(verdict).or_default() += 1,
            Err(what) => panic!("seed {seed}: {what}\n{case}"),
        }
    }
    println!("{shares:?}");
}
