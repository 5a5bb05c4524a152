//! Throws bytes at [`ilo_fuzz::mcp_answer`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::mcp_answer(data));
