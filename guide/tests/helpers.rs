//! Files with helper functions: the headers that may be written, the bodies after them, masks of headers.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::missing_panics_doc,
    reason = "a test may panic"
)]

use crate::common::samples::samples;
use crate::common::{Random, catalog, number, signature, step, synthetic};
use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_asm::compile::{Options as Build, compile};
use ilo_asm::notation::Notation;
use ilo_guide::{Guide, Header, Options, Session, Vocab};

/// Writes a header byte by byte.
fn header(header: &mut Header, random: &mut Random) {
    for _ in 0..random.below(80) {
        let next = header.next_bytes();
        if header.ended() {
            assert!(next.is_empty());
            return;
        }
        assert!(!next.is_empty(), "nothing may follow {:?}", String::from_utf8_lossy(header.text()));
        let ends: Vec<u8> = next.iter().copied().filter(|it| b"(),:\n ".contains(it)).collect();
        let byte =
            if ends.is_empty() || random.chance(2) { *random.pick(&next) } else { *random.pick(&ends) };
        header.accept_bytes(&[byte]).unwrap();
    }
    let close = header.close();
    let text = String::from_utf8_lossy(header.text()).into_owned();
    header.accept_bytes(close.as_bytes()).unwrap_or_else(|_| panic!("{text:?} does not end by {close:?}"));
    assert!(header.ended());
}

#[test]
fn files_with_helpers_build() {
    let (first, count) = (number("SEED", 0), number("WALKS", 60));
    let (mut helpers, mut called) = (0, 0);
    for seed in first..first + count {
        let mut random = Random::new(seed);
        let catalog = catalog(&mut random);
        let signature = signature(&mut random);
        let mut above = String::new();
        let whole = loop {
            let options = Options { above: above.clone(), ..Options::default() };
            let mut next = Header::new(&Session::new(&catalog, &signature, &options).unwrap());
            header(&mut next, &mut random);
            let line = String::from_utf8(next.text().to_vec()).unwrap();
            let session = Session::new(&catalog, &line, &options).unwrap();
            let mut guide = Guide::new(&session);
            for _ in 0..random.below(60) {
                if !step(&mut guide, &mut random) {
                    break;
                }
            }
            let close = guide.close().unwrap();
            guide.accept_bytes(&close).unwrap();
            let file = guide.finish().unwrap();
            if next.is_own() {
                break file;
            }
            helpers += 1;
            above = file;
        };
        let options = Build { from: Some(Notation::Id), catalog: Some(&catalog), ..Build::default() };
        let (program, found) = compile(&whole, &options);
        let error = found.as_slice().iter().find(|found| found.is_error());
        assert!(error.is_none(), "seed {seed}: {error:?}\n{whole}");
        assert!(program.is_some());
        let names =
            whole.lines().filter_map(|line| line.strip_prefix("; fn ")?.split_once('(')).map(|it| it.0);
        let names: Vec<String> = names.map(|name| format!("={name}")).collect();
        let registries = whole.lines().filter(|line| line.starts_with("; Tools:"));
        called += registries
            .filter(|line| line.split(' ').any(|entry| names.iter().any(|it| entry.ends_with(it))))
            .count();
    }
    assert!(called > 0);
    println!("{count} files with {helpers} helpers, which {called} functions call");
}

fn begin(catalog: &Catalog, signature: &str, above: &str) -> Header {
    let options = Options { above: above.to_owned(), ..Options::default() };
    Header::new(&Session::new(catalog, signature, &options).unwrap())
}

fn one_tool() -> Catalog {
    let mut catalog = Catalog::default();
    catalog.insert(ToolSignature::new("get", None, None, None));
    catalog
}

#[test]
fn headers_are_those_that_a_file_may_have() {
    let catalog = one_tool();
    let above = "; fn half(n: number) -> number\nRET DIV REF 0 LIT 1 2\n";
    let begin = || begin(&catalog, "main(id: text) -> any", above);
    let fits = |line: &str| begin().accept_bytes(line.as_bytes()).is_ok();
    assert!(fits("; fn main(id: text) -> any\n"));
    assert!(fits("; fn ma(id: list list text, to: nil) -> result list bool, any\n"));
    assert!(fits("; fn get-1() -> nil\n"));
    for wrong in [
        "; fn get()",                  // a tool
        "; fn half()",                 // a function above
        "; fn main()",                 // the program, with other parameters
        "; fn main(id: text) -> text", // and with another output
        "; fn f(a: text, a",           // of which nothing but a longer name may come
        "; fn F(",
        "; fn 1(",
        "; fn f-(",
        "; fn f(a: result text, text)",
        "; fn f(a: list list list text)",
        "; fn f(a: texts)",
        "; fn f() -> list result",
        "; fn f() -> result text\n",
        "; fn f() -> any ",
        "\n",
    ] {
        let mut header = begin();
        let taken = header.accept_bytes(wrong.as_bytes());
        let is_longer_name = wrong.ends_with(", a") && header.accept_bytes(b":").is_err();
        assert!(taken.is_err() || is_longer_name, "{wrong}");
    }
    assert_eq!(begin().forced(), b"; fn ");
}

#[test]
fn names_are_free_in_a_catalogue_of_all_short_ones() {
    let mut catalog = Catalog::default();
    let letters: Vec<char> = ('a'..='z').collect();
    for first in &letters {
        catalog.insert(ToolSignature::new(&first.to_string(), None, None, None));
        for second in &letters {
            catalog.insert(ToolSignature::new(&format!("{first}{second}"), None, None, None));
        }
    }
    let mut header = begin(&catalog, "main() -> nil", "");
    header.accept_bytes(b"; fn a").unwrap();
    let close = header.close();
    header.accept_bytes(close.as_bytes()).unwrap();
    assert_eq!(header.text(), b"; fn aaa() -> nil\n");
}

#[test]
fn a_mask_is_each_token_tried_alone_and_keeps_to_its_budget() {
    let catalog = one_tool();
    for seed in 0..number("WALKS", 60) {
        let mut random = Random::new(seed);
        let tokens = synthetic(&mut random);
        let vocab = Vocab::new(&tokens, 0).unwrap();
        let mut header = begin(&catalog, "main(id: text) -> any", "");
        let mut bits = vec![0; vocab.mask_len()];
        let mut left = 60 + u32::try_from(random.below(60)).unwrap();
        while !header.ended() {
            let free = random.chance(2);
            header.fill_mask(&vocab, if free { u32::MAX } else { left }, &mut bits).unwrap();
            let allowed: Vec<u32> = (0..u32::try_from(vocab.len()).unwrap())
                .filter(|it| bits[*it as usize / 32] >> (it % 32) & 1 == 1)
                .collect();
            if free {
                let alone = |it: &u32| header.clone().accept(&vocab, *it).is_ok();
                let all = (0..u32::try_from(vocab.len()).unwrap()).filter(alone);
                assert_eq!(allowed, all.collect::<Vec<_>>(), "seed {seed}");
                header.fill_mask(&vocab, left, &mut bits).unwrap();
            }
            let allowed: Vec<u32> = (0..u32::try_from(vocab.len()).unwrap())
                .filter(|it| bits[*it as usize / 32] >> (it % 32) & 1 == 1)
                .collect();
            header.accept(&vocab, *random.pick(&allowed)).unwrap();
            left = left.checked_sub(1).expect("it ends within its budget");
        }
        header.fill_mask(&vocab, left, &mut bits).unwrap();
        assert_eq!(bits[0], 1, "the end of the text");
    }
}

#[test]
fn a_budget_that_is_too_small_says_how_much_it_takes() {
    let (catalog, tokens) = (one_tool(), (0..=u8::MAX).map(|byte| vec![byte]).collect::<Vec<_>>());
    let vocab = Vocab::new(&tokens, 0).unwrap();
    let mut header = begin(&catalog, "main() -> any", "");
    let mut bits = vec![0; vocab.mask_len()];
    let short = header.fill_mask(&vocab, 5, &mut bits).unwrap_err();
    assert_eq!(short.needed, Some("; fn main() -> any\n".len()));
}

/// Sessions that have no check: a guide follows the functions above.
#[test]
fn a_guide_follows_the_functions_above() {
    let catalog = Catalog::default();
    for (above, refused) in [
        ("", None),
        ("; fn one() -> number\nRET LIT 1 1\n", None),
        ("; fn one() -> number\nRET LIT 1 1\n; fn two() -> number\n; Tools: 0=one\nRET CALL 0 0\n", None),
        (
            "; fn one() -> number\nRET REF 1\n",
            Some("in the functions above: no guide writes `RET REF 0` in `; fn one() -> number`"),
        ),
        ("; fn one() -> number\nLET 0 LIT 1 1\n", Some("`; fn one() -> number` has no end")),
        ("; fn one() -> nil\n; fn one() -> nil\n", Some("is named `one` as well")),
        ("; fn one( -> nil\n", Some("in the functions above: bad-header")),
    ] {
        let options = Options { above: above.to_owned(), ..Options::default() };
        let found = Session::following(&catalog, "fn own() -> number", &options);
        let message = found.err().map_or_else(String::new, |error| error.0);
        assert!(message.contains(refused.unwrap_or_default()), "{above}: {message}");
        assert_eq!(message.is_empty(), refused.is_none(), "{above}: {message}");
    }
    let mut refused = Vec::new();
    let all: Vec<_> = samples().into_iter().filter(|it| it.text.matches("; fn ").count() > 1).collect();
    for sample in &all {
        let above = sample.text.rfind("; fn ").and_then(|at| sample.text.get(..at)).unwrap_or_default();
        let options = Options { above: above.to_owned(), ..Options::default() };
        if let Err(error) = Session::following(&sample.catalog, "fn own-name() -> nil", &options) {
            refused.push((&sample.name, error));
        }
    }
    assert!(all.len() > 50 && refused.len() < 2, "{} of {}: {refused:?}", refused.len(), all.len());
}
