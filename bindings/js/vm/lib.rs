//! Runs programs in JavaScript: programs from their bytes, runs and tools. It is the module of `ilo-vm/vm`,
//! and a part of the module of `ilo-vm`, which builds programs too (`../core`).
//!
//! Values and outcomes are passed as JSON: one text costs less than many calls, and its integers are exact.
//! Tools, the loops that call them, and the errors of the package are written in TypeScript (`../src`).
//!
//! | file | contents |
//! |---|---|
//! | `program`, `tools` | programs, their plans, starting them; signatures and policies of tools |
//! | `run`, `outcome` | runs step by step, and how they end |
//! | `quick`, `drive` | runs over tools: those that answer at once, and all others |
//! | `given`, `thrown` | values and limits from JavaScript; errors for it |

// Arguments are passed by value because JavaScript passes copies.
#![allow(clippy::needless_pass_by_value, reason = "what JavaScript gives is owned")]
#![allow(unreachable_pub, reason = "wasm-bindgen exports only what is public")]

mod drive;
mod given;
mod outcome;
mod program;
mod quick;
mod run;
pub mod thrown;
mod tools;

pub use program::Core;
pub use tools::{Catalogue, unexpected};

use ilo_bindings::Words;
use wasm_bindgen::prelude::wasm_bindgen;

/// The spelling of names in messages of this package.
pub const WORDS: Words = Words { function: "function", tools: "tools", notation: "notation", camel: true };

/// Prepares the instance: a panic becomes an exception with its message, after which the package makes a new
/// instance.
#[wasm_bindgen(start)]
pub fn prepare() {
    std::panic::set_hook(Box::new(|info| {
        wasm_bindgen::throw_str(&format!("ilo failed in itself: {info}"));
    }));
}
