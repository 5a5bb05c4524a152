//! Tests of the build with the habits and without.

mod canonical;
mod copied;
mod token_habits;
