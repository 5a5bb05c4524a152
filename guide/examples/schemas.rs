//! Writes functions of the corpus in the notation `constrained` with their schemas, a line of JSON each, for
//! validators that are tried with them.
//!
//! `cargo run --release -p ilo-guide --example schemas > FILE`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example prints, and may panic")]

#[path = "../tests/common/mod.rs"]
mod common;

use ilo_guide::Session;
use ilo_guide::export::{Host, schema};
use serde_json::json;

fn main() {
    for sample in common::samples::samples() {
        let Ok((session, _)) = Session::of_file(&sample.catalog, None, &sample.text) else { continue };
        let of = |host| schema(&session, host, false).ok();
        let line = json!({
            "name": sample.name,
            "program": sample.constrained,
            "none": of(None),
            "openai": of(Some(Host::OpenAi)),
            "anthropic": of(Some(Host::Anthropic)),
            "outlines": of(Some(Host::Outlines)),
        });
        println!("{line}");
    }
}
