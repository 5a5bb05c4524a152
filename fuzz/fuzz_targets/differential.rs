//! Throws bytes at [`ilo_fuzz::differential`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::differential(data));
