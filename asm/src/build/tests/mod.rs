//! Tests of the build with the habits and without.

mod canonical;
mod token_habits;
