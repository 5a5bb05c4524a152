//! Throws bytes at [`ilo_fuzz::id_text`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::id_text(data));
