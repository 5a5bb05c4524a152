//! Throws bytes at [`ilo_fuzz::json`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::json(data));
