//! Counts the tokens of integer-ID text with logos, and does no more: no tables of words, no positions, no
//! limits.

#[allow(dead_code, reason = "the file holds more sources than are counted")]
#[path = "../../../src/source.rs"]
mod source;

use ilo_worker::Worker;
use logos::Logos;
use std::hint::black_box;

/// Every kind of token in a source without errors.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t]+")]
enum Token {
    #[regex(r"[\r\n][ \t\r\n]*")]
    Break,
    #[regex(r"[A-Za-z_][A-Za-z0-9_.:/-]*")]
    Word,
    #[regex(r"-?[0-9]+", priority = 20)]
    Integer,
    #[regex(r"-?[0-9]+\.[0-9]+([eE][-+]?[0-9]+)?", priority = 10)]
    Number,
    #[regex(r#""([^"\\\r\n]|\\[^\r\n])*""#)]
    Text,
    #[regex(r";[^\r\n]*", allow_greedy = true)]
    Comment,
}

/// Tokens other than line ends and comments.
fn count(source: &str) -> usize {
    Token::lexer(source).filter(|token| !matches!(token, Ok(Token::Break | Token::Comment))).count()
}

fn main() -> std::io::Result<()> {
    let mut worker = Worker::new("logos, counting");
    let source = source::source(source::LARGE);
    worker.item("lex", count(&source).to_string(), move |passes| {
        for _ in 0..passes {
            black_box(count(black_box(&source)));
        }
        passes * source.len() as u64
    });
    worker.serve()
}
