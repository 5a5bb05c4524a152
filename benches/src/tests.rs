//! The tests that `cargo test` runs. They are unit tests of the library, so that cargo does not build the
//! programs of this package for them, which it does for a package with tests in `tests`.

mod allocations;
mod notations;
