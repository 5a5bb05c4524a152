//! Tests of the build: with and without habits, ID text alone, copied text, tokens of other languages.

mod canonical;
mod copied;
mod expected;
mod id_text;
mod output;
