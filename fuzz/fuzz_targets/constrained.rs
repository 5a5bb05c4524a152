//! Throws bytes at [`ilo_fuzz::constrained`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::constrained(data));
