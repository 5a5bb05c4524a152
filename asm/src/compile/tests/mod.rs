//! Tests of the build: with and without habits, ID text alone, tokens of other languages.

mod canonical;
mod expected;
mod id_text;
mod output;
