//! Throws bytes at [`ilo_fuzz::tool_calling`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ilo_fuzz::tool_calling(data));
