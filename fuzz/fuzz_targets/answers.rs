//! Throws bytes at [`ilo_fuzz::answers`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::answers(data));
