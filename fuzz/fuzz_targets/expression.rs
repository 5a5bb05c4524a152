//! Throws bytes at [`ilo_fuzz::expression`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::expression(data));
