//! Writes what a fuzz target begins with: `seeds TARGET FOLDER DICTIONARY`.

use ilo_fuzz::seeds::{dictionary, seeds};
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
    for (at, seed) in seeds(target).into_iter().enumerate() {
        fs::write(format!("{folder}/seed-{at:04}"), seed)?;
    }
    fs::write(words, dictionary(target))
}
