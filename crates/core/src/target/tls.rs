//! Whether and how sessions are encrypted.

use std::fmt;

/// Whether and how a session is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsMode {
    /// Plain text.
    Disabled,
    /// Encrypted; certificate chain and host name verified. What asking for TLS means by default.
    VerifyFull,
    /// Encrypted; certificate chain verified, host name not.
    VerifyCa,
    /// Encrypted, nothing verified. Must be asked for by name.
    NoVerify,
}

impl TlsMode {
    /// What a word asks for, whichever tool has it: URLs, libpq, sysbench, the drivers of Go and Java.
    /// Words that leave it to the server whether anything is encrypted are plain text. `None` of
    /// another word.
    ///
    /// Certificates are verified unless the user says otherwise: a server is only trusted unseen where
    /// that is said.
    pub fn of(word: &str) -> Option<Self> {
        Some(match word {
            "off" | "false" | "disable" | "disabled" | "allow" | "prefer" | "preferred" => {
                TlsMode::Disabled
            }
            "on" | "true" | "require" | "required" | "verify-full" | "verify-identity" => {
                TlsMode::VerifyFull
            }
            "verify-ca" => TlsMode::VerifyCa,
            "no-verify" | "skip-verify" | "trust" => TlsMode::NoVerify,
            _ => return None,
        })
    }

    /// The same of a tool that has these words alone.
    pub fn among(words: &[&str], word: &str) -> Option<Self> {
        Self::of(word).filter(|_| words.contains(&word))
    }
}

impl fmt::Display for TlsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TlsMode::Disabled => "off",
            TlsMode::VerifyFull => "verify-full",
            TlsMode::VerifyCa => "verify-ca",
            TlsMode::NoVerify => "no-verify",
        })
    }
}
