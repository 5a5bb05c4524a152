//! Formatting keeps the meaning of a source in every notation, whatever its layout, and formatting again
//! changes nothing.

use crate::conversion::{Turned, turn};
use crate::generate::{bytes, case};
use ilo_asm::compile::{Options, compile};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::format::{self, Formatted};
use ilo_asm::notation::Notation;
use ilo_asm::source::SourceLimits;
use ilo_spec::program::Program;

/// A generator of numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) >> 1).unwrap_or(0) % most.max(1)
    }
}

fn built(source: &str, notation: Notation) -> Option<Program> {
    compile(source, &Options { from: Some(notation), strip: true, ..Options::default() }).0
}

/// A source with another layout, which may have another meaning or none.
fn disturbed(source: &str, notation: Notation, numbers: &mut Numbers) -> String {
    let mut text = source.to_owned();
    for _ in 0..=numbers.below(4) {
        let mut at = numbers.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
        let yaml = matches!(notation, Notation::Workflow);
        let comment = if notation == Notation::Id { "; a # b" } else { "# a: [b" };
        match numbers.below(16) {
            0 => text.insert(at, ' '),
            1 => text.insert(at, '\n'),
            2 => text.insert_str(end, "   "),
            3 => text = text.replace('\n', "\r\n"),
            4 => text.insert(line, '\t'),
            5 if yaml || notation == Notation::Id => text.insert_str(line, &format!("{comment}\n")),
            6 if yaml || notation == Notation::Id => text.insert_str(end, &format!(" {comment}")),
            7 if yaml || notation == Notation::Id => text.insert_str(line, &format!("    {comment}\n\n")),
            8 => text.insert_str(line, "\n\n\n"),
            9 if at < text.len() => {
                text.remove(at);
            }
            10 => text.insert_str(
                at,
                [
                    "'", "\"", "|\n", ">-\n", "&a ", "*a", "!!str ", "--- ", "? ", "- ", ": ", ", ", "{",
                    "}", "[", "]", "\\", "\u{85}", "\u{2028}", "\u{a0}", "\u{feff}", "~", "0x1F", "1_000",
                    "1e3", ".5", "null", "yes",
                ][numbers.below(28)],
            ),
            11 => text.insert_str(line, "  "),
            12 => text = text.replace("  ", "    "),
            13 => text = text.replace('\n', "\n\n"),
            14 => text.truncate(text.trim_end().len()),
            _ => text.insert_str(at, "  "),
        }
    }
    text
}

fn formatted(source: &str, notation: Notation) -> Formatted {
    let (limits, mut found) = (SourceLimits::default(), Diagnostics::default());
    match notation {
        Notation::Id => {
            format::id_text(source, &limits, &mut found).map_or(Formatted::Refused, Formatted::Text)
        }
        _ => format::format(source, notation, &limits, &mut found),
    }
}

/// The first line in which a text differs from another one, and those around it.
fn differing(text: &str, other: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let at = text.lines().zip(other.lines()).take_while(|(a, b)| a == b).count();
    lines[at.saturating_sub(4)..(at + 4).min(lines.len())].join("\n")
}

#[test]
fn a_source_of_any_layout_keeps_its_meaning_and_settles() {
    let seeds = std::env::var("SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(25_u64);
    let (mut done, mut alone, mut wrong) = (0, 0, Vec::new());
    for seed in 0..seeds {
        let source = case(&bytes(seed)).source;
        for (notation, name) in Notation::ALL {
            let Ok(Turned::Same(printed)) = turn(&source, Notation::Id, notation) else { continue };
            if printed.len() > 4000 {
                continue;
            }
            let mut numbers = Numbers(seed);
            for round in 0..20 {
                let text =
                    if round == 0 { printed.clone() } else { disturbed(&printed, notation, &mut numbers) };
                let before = built(&text, notation);
                let one = match formatted(&text, notation) {
                    Formatted::Text(one) => one,
                    Formatted::LeftAlone => {
                        alone += 1;
                        continue;
                    }
                    Formatted::Refused => {
                        if before.is_some() {
                            wrong.push(format!("{name} seed {seed}: a program is refused\n{text}"));
                        }
                        continue;
                    }
                };
                done += 1;
                let after = built(&one, notation);
                if before != after {
                    wrong.push(format!(
                        "{name} seed {seed}: another meaning {} {}\n{text}\n----\n{one}",
                        before.is_some(),
                        after.is_some()
                    ));
                }
                match formatted(&one, notation) {
                    Formatted::Text(two) if two == one => {}
                    Formatted::Text(two) => wrong.push(format!(
                        "{name} seed {seed}: changes again\n{}\n----\n{}",
                        differing(&one, &two),
                        differing(&two, &one)
                    )),
                    Formatted::LeftAlone => wrong
                        .push(format!("{name} seed {seed}: left alone the second time\n{text}\n----\n{one}")),
                    Formatted::Refused => wrong
                        .push(format!("{name} seed {seed}: refused the second time\n{text}\n----\n{one}")),
                }
            }
        }
    }
    println!("{done} formatted, {alone} left alone");
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.iter().take(6).cloned().collect::<Vec<_>>().join("\n\n=====\n")
    );
}
