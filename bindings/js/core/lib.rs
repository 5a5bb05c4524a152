//! The WebAssembly module of the npm package `ilo`: work on sources, and with `ilo_js_vm` programs and runs.
//!
//! | file | contents |
//! |---|---|
//! | `source`, `diagnostic` | work on sources; diagnostics |
//! | `editing` | hover texts and completions for editors |

// Arguments come by value because JavaScript hands over copies.
#![allow(clippy::needless_pass_by_value, reason = "what JavaScript gives is owned")]
#![allow(unreachable_pub, reason = "wasm-bindgen exports only what is public")]

mod diagnostic;
mod editing;
mod source;
