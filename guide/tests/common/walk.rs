//! A random step of a body in `constrained`.

use super::Random;
use ilo_guide::{ConstrainedGuide, Node};

/// Names, some of which have a meaning elsewhere.
const NAMES: [&str; 16] = [
    "a",
    "b2",
    "user",
    "user-id",
    "total_sum",
    "len",
    "item",
    "it",
    "prev",
    "result",
    "index",
    "map",
    "null",
    "input",
    "default",
    "let",
];
const TEXTS: [&str; 10] = ["", "a", "id", "12", "größe \\\"x\\\"", "${a}", "a.b", "default", "else", "_"];

/// Texts that are nearly references, or would be in another notation.
const NEAR: [&str; 24] = [
    "p0",
    "p1",
    "p0.id",
    "usex",
    "users",
    "User",
    "user_id",
    "user.name",
    "total-sum",
    "totalsum",
    "itme",
    "err",
    "error.name",
    "a b",
    "a.",
    "3.5",
    "file.json",
    "$p0",
    "{{p0}}",
    "$${p0}",
    "\\u0070\\u0030",
    "\\u0024{p0}",
    "it costs $",
    "Dear ${p0}, $(p1)",
];

/// Few words, so that texts equal names that are bound before, around and after them.
const SHARED: [&str; 3] = ["a", "b", "a"];
const SHARED_TEXTS: [&str; 10] = ["a", "b", "a", "b", "a.b", "b.a", "${a}", "to ${b.id}", "{{a}}", "\\u0061"];

/// Writes a choice that may come next; `false` if the program ended.
pub fn step(guide: &mut ConstrainedGuide<'_>, random: &mut Random) -> bool {
    step_with(guide, random, false)
}

/// The same; if it is `shared`, names and texts are the same few words.
pub fn step_with(guide: &mut ConstrainedGuide<'_>, random: &mut Random, shared: bool) -> bool {
    let pieces = guide.next();
    assert!(!pieces.is_empty(), "nothing may follow {}", String::from_utf8_lossy(guide.text()));
    let mut piece: &Node = random.pick(&pieces);
    // Values mostly end soon, and programs late.
    let is_short = |piece: &&Node| !matches!(piece, Node::Bytes(bytes) if bytes.starts_with(['{', '[']));
    let short: Vec<&Node> = pieces.iter().filter(is_short).collect();
    if !short.is_empty() && !random.chance(4) {
        piece = *random.pick(&short);
    }
    for _ in 0..2 {
        if matches!(piece, Node::Bytes(bytes) if bytes == "]}" || bytes.starts_with("{\"ra")) {
            piece = random.pick(&pieces);
        }
    }
    let written = match piece {
        Node::End => return false,
        Node::Bytes(bytes) => bytes.clone(),
        Node::Bound if shared => format!("{}\"", random.pick(&SHARED)),
        Node::Text(None) if shared => format!("{}\"", random.pick(&SHARED_TEXTS)),
        Node::Bound => format!("{}\"", random.pick(&NAMES)),
        Node::Text(None) if random.chance(2) => format!("{}\"", random.pick(&NEAR)),
        Node::Text(None) => format!("{}\"", random.pick(&TEXTS)),
        Node::AnyNumber => (*random.pick(&["", "0", "1", ".5", "e2", "3"])).to_owned(),
        other => panic!("{other} is of ID text"),
    };
    if guide.accept_bytes(written.as_bytes()).is_err() {
        assert!(
            !matches!(piece, Node::Bytes(_)),
            "{piece:?} was offered behind {}",
            String::from_utf8_lossy(guide.text())
        );
    }
    if matches!(piece, Node::AnyNumber) {
        // Characters that may end it.
        let ends: Vec<u8> = guide.next_bytes().into_iter().filter(|byte| b",]}".contains(byte)).collect();
        if !ends.is_empty() {
            guide.accept_bytes(&[*random.pick(&ends)]).unwrap();
        }
    }
    true
}
