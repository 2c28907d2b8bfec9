//! What commands print for people, in both languages: `texts/en.toml` and `texts/zh.toml`, of which the
//! build makes a function for each text, and `MESSAGES` of the section of that name. `HELP` is sorted by the
//! English.

use tidemark_report::Lang;

include!(concat!(env!("OUT_DIR"), "/texts.rs"));
