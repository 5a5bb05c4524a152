//! All tests of the crate in one binary: linking many takes long.
//!
//! `cargo test -p ilo-vm --test all budget::` runs the tests of one file.

mod budget;
mod collection;
mod common;
mod fuel_costs;
mod fused_instructions;
mod host_shapes;
mod instructions;
mod json_values;
mod limits;
mod programs;
mod pure_functions;
mod pure_properties;
mod rollback;
mod snapshot;
mod verifier;
mod verifier_boundaries;
mod verifier_rules;
