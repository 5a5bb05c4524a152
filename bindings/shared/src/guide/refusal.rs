//! Messages for refused text: the place, the expected text and the text that was found.

use super::Refusal;
use super::held::Entry;
use ilo_asm::text::visible;
use ilo_guide::Vocab;
use ilo_spec::json;

/// The most choices that are listed in a message.
const LISTED: usize = 8;

/// The refused text, and the number of its bytes that could have come.
pub(super) enum Found<'t> {
    Token { vocab: &'t Vocab, token: u32, at: usize },
    Bytes { bytes: &'t [u8], at: usize },
    End,
}

impl Found<'_> {
    /// What was found instead.
    pub(super) fn shown(&self) -> String {
        match self {
            Found::Token { vocab, token, .. } if *token == vocab.eos() => {
                format!("token {token}, which ends the text")
            }
            Found::Token { vocab, token, .. } if *token as usize >= vocab.len() => {
                format!("token {token}, and the vocabulary has only {}", vocab.len())
            }
            Found::Token { vocab, token, .. } if vocab.token(*token).is_empty() => {
                format!("token {token}, which has no text")
            }
            Found::Token { vocab, token, .. } => format!("token {token}, {}", quoted(vocab.token(*token))),
            Found::Bytes { bytes, at } => {
                let end = bytes.len().min(at + 40);
                quoted(bytes.get(*at..end).unwrap_or_default())
            }
            Found::End => "the end of the program".to_owned(),
        }
    }

    /// The choices that could have come.
    pub(super) fn good(&self) -> &[u8] {
        match self {
            Found::Token { vocab, token, at } => vocab.token(*token).get(..*at).unwrap_or_default(),
            Found::Bytes { bytes, at } => bytes.get(..*at).unwrap_or_default(),
            Found::End => b"",
        }
    }
}

pub(super) fn quoted(bytes: &[u8]) -> String {
    visible(&json::quoted(&String::from_utf8_lossy(bytes)))
}

/// The error of a refused step.
pub(super) fn refused(entry: &mut Entry<'_>, found: &Found<'_>) -> Refusal {
    let (good, found) = (found.good(), found.shown());
    if entry.ended {
        return Refusal { message: format!("the text has ended; found {found}"), at: 0 };
    }
    let mark = entry.guide.mark();
    // These bytes were accepted before.
    let _ = entry.guide.accept_bytes(good);
    let (at, expected) = (position(entry.guide.text()), expected(entry));
    entry.guide.rollback(&mark);
    Refusal { message: format!("{at}: expected {expected}; found {found}"), at: good.len() }
}

/// The reason why a mask has no token.
pub(super) fn no_token(entry: &mut Entry<'_>) -> String {
    let (at, expected) = (position(entry.guide.text()), expected(entry));
    format!("{at}: the vocabulary has no token for what may come next: {expected}")
}

/// The line and column, in bytes, of the end of a text.
fn position(text: &[u8]) -> String {
    let line = text.split(|&byte| byte == b'\n').count();
    let column = text.rsplit(|&byte| byte == b'\n').next().map_or(0, <[u8]>::len) + 1;
    format!("{line}:{column} of the body")
}

fn expected(entry: &mut Entry<'_>) -> String {
    let mut all: Vec<String> = Vec::new();
    for shown in entry.guide.next() {
        if !all.contains(&shown) {
            all.push(shown);
        }
    }
    match all.len().saturating_sub(LISTED) {
        _ if all.is_empty() => {
            let bytes = entry.guide.next_bytes();
            let bytes: Vec<String> = bytes.chunks(1).take(LISTED).map(quoted).collect();
            if bytes.is_empty() {
                "nothing: no program can continue from here".to_owned()
            } else {
                bytes.join(", ")
            }
        }
        0 => all.join(", "),
        more => format!("{} and {more} more", all.get(..LISTED).unwrap_or_default().join(", ")),
    }
}
