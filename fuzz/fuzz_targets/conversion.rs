//! Throws bytes at [`ilo_fuzz::conversion`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::conversion(data));
