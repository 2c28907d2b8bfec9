//! What rules say: `texts/en.toml` and `texts/zh.toml`, of which the build makes a module for each
//! rule.

include!(concat!(env!("OUT_DIR"), "/texts.rs"));
