//! Throws bytes at [`ilo_fuzz::tools_file`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::tools_file(data));
