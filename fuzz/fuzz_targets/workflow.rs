//! Throws bytes at [`ilo_fuzz::workflow`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::workflow(data));
