//! The WebAssembly module of the npm package `ilo`: work on sources and, through `ilo_js_vm`, programs and
//! runs.
//!
//! | file | contents |
//! |---|---|
//! | `source`, `diagnostic` | work on sources; diagnostics |
//! | `editing` | hover texts and completions for editors |

// Arguments are passed by value because JavaScript passes copies.
#![allow(clippy::needless_pass_by_value, reason = "what JavaScript gives is owned")]
#![allow(unreachable_pub, reason = "wasm-bindgen exports only what is public")]

mod diagnostic;
mod editing;
mod source;
