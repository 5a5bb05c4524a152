//! The simulation of processes that die.

pub(crate) mod simulation;
