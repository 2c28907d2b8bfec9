//! See `tidemark_fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tidemark_fuzzing::run("series", data));
