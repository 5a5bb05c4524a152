//! Writes the first inputs of a fuzz target and its dictionary: `seeds TARGET FOLDER DICTIONARY`. Inputs are
//! named `seed-NNNN` if they are made, and `named-NNNN` or `chosen-NNNN` if they are in `fuzz/corpus`.

use ilo_fuzz::corpus::{chosen, named};
use ilo_fuzz::seeds::{dictionary, made};
use std::process::ExitCode;
use std::{env, fs, io};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [target, folder, words] = &arguments[..] else {
        eprintln!("usage: seeds TARGET FOLDER DICTIONARY");
        return ExitCode::from(2);
    };
    match write(target, folder, words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn write(target: &str, folder: &str, words: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, inputs) in [("seed", made(target)), ("named", named(target)), ("chosen", chosen(target))] {
        for (at, input) in inputs.into_iter().enumerate() {
            fs::write(format!("{folder}/{name}-{at:04}"), input)?;
        }
    }
    fs::write(words, dictionary(target))
}
