//! What tables a target has, and what they look like.
