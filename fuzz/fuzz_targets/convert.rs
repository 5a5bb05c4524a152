//! Throws bytes at [`ilo_fuzz::convert`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::convert(data));
