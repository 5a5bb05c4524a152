//! Tests of the build: with and without habits, of copied text, and of tokens of other languages.

mod canonical;
mod copied;
mod token_habits;
