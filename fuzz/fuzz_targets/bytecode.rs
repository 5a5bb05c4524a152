//! Throws bytes at [`ilo_fuzz::bytecode`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::bytecode(data));
