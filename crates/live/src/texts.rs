//! What views say, in both languages: `texts/en.toml` and `texts/zh.toml`, of which the build makes a
//! function for each text.

use tidemark_report::Lang;

include!(concat!(env!("OUT_DIR"), "/texts.rs"));
