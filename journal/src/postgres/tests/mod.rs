//! A journal for the simulation.

pub(crate) mod ledger;
