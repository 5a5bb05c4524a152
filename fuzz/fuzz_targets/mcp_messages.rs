//! Throws bytes at [`ilo_fuzz::mcp_messages`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::mcp_messages(data));
