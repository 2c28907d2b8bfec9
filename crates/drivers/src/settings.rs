//! A target's settings that matter.
