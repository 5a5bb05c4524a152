//! Throws bytes at [`ilo_fuzz::mcp`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::mcp(data));
