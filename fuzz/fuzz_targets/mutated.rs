//! Throws bytes at [`ilo_fuzz::mutated`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::mutated(data));
