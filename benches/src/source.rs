//! The measured sources. It depends on no engine, so that workers outside the workspace can use the file.

use std::fmt::Write;

/// P1: a net price, its tax, and their sum.
pub const TOTAL: &str = include_str!("../../examples/total.ilo");
/// P2: a summary for each customer.
pub const SUMMARIES: &str = include_str!("../../examples/summaries.ilo");
/// P3: looks a user up and writes a mail.
pub const NOTIFY: &str = include_str!("../../examples/notify.ilo");
/// A call that is taken back when the next one fails.
pub const CHECKOUT: &str = include_str!("../../examples/checkout.ilo");
/// P4: doubles numbers and adds those that are large enough.
pub const SUM: &str = include_str!("../../examples/sum.ilo");

/// Bytes of a large source.
pub const LARGE: usize = 1_000_000;

/// A source of about this number of bytes: functions like those of the programs, each with its own name.
pub fn source(bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 4_096);
    let mut number = 0;
    while out.len() < bytes {
        let body = [NOTIFY, SUMMARIES, SUM][number % 3];
        for line in body.lines() {
            match line.strip_prefix("; fn ") {
                Some(rest) => {
                    let (name, rest) = rest.split_once('(').unwrap_or((rest, ""));
                    let _ = writeln!(out, "; fn {name}-{number}({rest}");
                }
                None => {
                    out.push_str(&line.replace("0=classify", &format!("0=classify-{number}")));
                    out.push('\n');
                }
            }
        }
        out.push('\n');
        number += 1;
    }
    out
}
