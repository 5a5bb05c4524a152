//! Throws bytes at [`ilo_fuzz::snapshot`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::snapshot(data));
