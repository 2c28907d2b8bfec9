//! How endpoints of HTTP are reached: whose certificates are taken, and what signs in there.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rustls::ClientConfig;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tidemark_core::Secret;
use tidemark_drivers::https_config;

/// A bearer token, or the two of basic authentication (RFC 6750, RFC 7617).
const TOKEN: &str = "TIDEMARK_OBSERVE_TOKEN";
const USER: &str = "TIDEMARK_OBSERVE_USER";
const PASSWORD: &str = "TIDEMARK_OBSERVE_PASSWORD";

/// Certificates and sign-in of endpoints. The sign-in goes only to addresses that the user named.
#[derive(Debug, Clone, Default)]
pub struct EndpointAccess {
    ca: Option<PathBuf>,
    authorization: Secret,
    /// Made when it is first needed.
    tls: Arc<OnceLock<Result<Arc<ClientConfig>, String>>>,
}

impl EndpointAccess {
    /// With a file of certificate authorities, or the system's.
    pub fn new(ca: Option<&Path>) -> Self {
        Self {
            ca: ca.map(Into::into),
            ..Self::default()
        }
    }

    /// The same with the sign-in that the environment has: `TIDEMARK_OBSERVE_TOKEN`, or
    /// `TIDEMARK_OBSERVE_USER` and `TIDEMARK_OBSERVE_PASSWORD`.
    pub fn from_environment(ca: Option<&Path>) -> Self {
        let of = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let access = Self::new(ca);
        match (of(TOKEN), of(USER)) {
            (Some(token), _) => access.with_token(&token),
            (None, Some(user)) => access.with_password(&user, &of(PASSWORD).unwrap_or_default()),
            (None, None) => access,
        }
    }

    /// The same with a bearer token.
    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        self.authorization = Secret::new(format!("Bearer {}", one_line(token)));
        self
    }

    /// The same with an account and its password.
    #[must_use]
    pub fn with_password(mut self, user: &str, password: &str) -> Self {
        let pair = BASE64_STANDARD.encode(format!("{user}:{password}"));
        self.authorization = Secret::new(format!("Basic {pair}"));
        self
    }

    /// The same for an address that the user did not name: nobody else learns the sign-in.
    pub(super) fn without_sign_in(&self) -> Self {
        Self {
            authorization: Secret::default(),
            ..self.clone()
        }
    }

    /// The value of the header, for the wire only.
    pub(super) fn authorization(&self) -> Option<&str> {
        (!self.authorization.is_empty()).then(|| self.authorization.reveal())
    }

    /// Whether the file of certificate authorities can be used, if one is named.
    ///
    /// # Errors
    /// In words, with the option and the file.
    pub fn check(&self) -> Result<(), String> {
        self.ca.as_ref().map_or(Ok(()), |_| self.tls().map(drop))
    }

    /// The configuration of TLS.
    pub(super) fn tls(&self) -> Result<Arc<ClientConfig>, String> {
        let made =
            || https_config(self.ca.as_deref()).map_err(|e| format!("--observe-ca: {}", e.message));
        self.tls.get_or_init(made).clone()
    }
}

/// A header ends with its line.
fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_signs_in_is_never_shown() {
        let access = EndpointAccess::new(None).with_password("u", "geheim");
        assert_eq!(access.authorization(), Some("Basic dTpnZWhlaW0="));
        let token = EndpointAccess::new(None).with_token("ge\r\nheim");
        assert_eq!(token.authorization(), Some("Bearer geheim"));
        let shown = format!("{access:?} {token:?}");
        assert!(
            !shown.contains("geheim") && !shown.contains("dTpn"),
            "{shown}"
        );
        assert_eq!(token.without_sign_in().authorization(), None);
    }

    #[test]
    fn a_file_without_certificates_is_named() {
        let said = EndpointAccess::new(Some(Path::new("/nonexistent/ca.pem"))).tls();
        let said = said.map(|_| ()).unwrap_err();
        assert!(said.starts_with("--observe-ca: "), "{said}");
        assert!(said.contains("/nonexistent/ca.pem"), "{said}");
        let access = EndpointAccess::new(Some(Path::new("/nonexistent/ca.pem")));
        assert_eq!(access.check(), Err(said));
        assert_eq!(EndpointAccess::new(None).check(), Ok(()));
    }
}
