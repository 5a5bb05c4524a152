//! Writes the JavaScript that loads a WebAssembly module, as `wasm-bindgen --target web` does, beside the
//! module: `ilo-glue MODULE.wasm FOLDER NAME`.
//!
//! The version of the library is that in the lock file, so it is the same as in the module.

use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = arguments.as_slice() else {
        eprintln!("usage: ilo-glue MODULE.wasm FOLDER NAME");
        return ExitCode::from(2);
    };
    match write(module, folder, name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(module: &str, folder: &str, name: &str) -> Result<(), String> {
    let mut bindgen = Bindgen::new();
    bindgen.web(true).map_err(|error| error.to_string())?;
    // The package supplies the bytes itself, and makes a new instance after a trap.
    bindgen.typescript(true).omit_default_module_path(true).reset_state_function(true);
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.input_path(module).out_name(name).generate(folder).map_err(|error| format!("{error:?}"))
}
