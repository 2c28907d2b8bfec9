//! Proving who we are, without telling the password to whoever listens.
//!
//! - `mysql_native_password`, `caching_sha2_password`, `client_ed25519`: the server's nonce is
//!   answered by a hash or a signature (computed by `mysql_common`).
//! - `caching_sha2_password` of an account that the server has not cached yet needs the password
//!   itself: inside TLS or a Unix socket as it is, otherwise encrypted for the RSA key that the
//!   server sends. Nobody vouches for that key: on a network that isn't trusted, use TLS. No server
//!   at hand offers this plugin; it is tested against a script of the documented exchange
//!   (dev.mysql.com, "Caching_sha2_password information").
//! - `mysql_clear_password`: inside TLS only.

use super::rsa;
use mysql_common::auth::plugins::caching_sha2_password::scramble_sha256;
use mysql_common::auth::plugins::client_ed25519::{ClientEd25519, NONCE_BYTES};
use mysql_common::auth::plugins::mysql_native_password::scramble_native;
use mysql_common::auth::plugins::{ChallengeResponsePlugin, Context};
use tidemark_core::{DbError, ErrorClass, Secret};

/// Bytes of a nonce, but for `client_ed25519`'s.
const NONCE: usize = 20;

/// Who else may read what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    /// Nobody.
    Tls,
    /// Nobody outside this machine.
    Socket,
    /// Everybody on the way.
    Plain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plugin {
    Native,
    CachingSha2,
    Ed25519,
    Clear,
}

const PLUGINS: [(&[u8], Plugin); 4] = [
    (b"mysql_native_password", Plugin::Native),
    (b"caching_sha2_password", Plugin::CachingSha2),
    (b"client_ed25519", Plugin::Ed25519),
    (b"mysql_clear_password", Plugin::Clear),
];

/// What to do after the server said more.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AuthStep {
    /// The server goes on.
    Wait,
    /// It waits for this.
    Send(Vec<u8>),
}

/// One authentication.
#[derive(Debug)]
pub(super) struct Auth<'a> {
    password: &'a Secret,
    transport: Transport,
    plugin: Plugin,
    nonce: Vec<u8>,
    /// Whether the server was asked for its public key.
    awaits_key: bool,
}

impl<'a> Auth<'a> {
    /// Begins with the plugin that the server's greeting names, or with `mysql_native_password`:
    /// the server asks for another one if the account has another.
    pub fn new(password: &'a Secret, transport: Transport, plugin: &[u8], nonce: Vec<u8>) -> Self {
        let plugin = match by_name(plugin) {
            Some(Plugin::CachingSha2) if nonce.len() == NONCE => Plugin::CachingSha2,
            Some(Plugin::Ed25519) if nonce.len() == NONCE_BYTES => Plugin::Ed25519,
            _ => Plugin::Native,
        };
        Self {
            password,
            transport,
            plugin,
            nonce,
            awaits_key: false,
        }
    }

    /// The plugin's name.
    pub fn plugin_name(&self) -> &'static [u8] {
        let named = PLUGINS.iter().find(|(_, plugin)| *plugin == self.plugin);
        named.map_or(b"mysql_native_password", |(name, _)| name)
    }

    /// Goes over to the plugin and nonce that the server asks for.
    pub fn switch(&mut self, plugin: &[u8], nonce: &[u8]) -> Result<(), DbError> {
        self.plugin = by_name(plugin).ok_or_else(|| {
            let known: Vec<_> = PLUGINS
                .iter()
                .map(|(name, _)| String::from_utf8_lossy(name))
                .collect();
            let instead = match plugin {
                b"sha256_password" => {
                    "; change it: ALTER USER … IDENTIFIED WITH caching_sha2_password BY '…'"
                }
                b"parsec" => {
                    "; change it: ALTER USER … IDENTIFIED VIA ed25519 USING \
                              PASSWORD('…')"
                }
                _ => "",
            };
            refused(format!(
                "the account uses the authentication plugin {}; Tidemark knows {}{instead}",
                String::from_utf8_lossy(plugin),
                known.join(", ")
            ))
        })?;
        self.awaits_key = false;
        // The nonce's NUL is not part of it.
        let len = if self.plugin == Plugin::Ed25519 {
            NONCE_BYTES
        } else {
            NONCE
        };
        self.nonce = match nonce {
            [nonce @ .., 0] if nonce.len() == len => nonce.to_vec(),
            nonce => nonce.to_vec(),
        };
        Ok(())
    }

    /// The answer to the nonce.
    pub fn respond(&self) -> Result<Vec<u8>, DbError> {
        let password = self.password.reveal().as_bytes();
        match self.plugin {
            _ if password.is_empty() && self.plugin != Plugin::Ed25519 => Ok(Vec::new()),
            Plugin::Native => Ok(scramble_native(self.short_nonce()?, password)
                .map(Vec::from)
                .unwrap_or_default()),
            Plugin::CachingSha2 => Ok(scramble_sha256(self.short_nonce()?, password)
                .map(Vec::from)
                .unwrap_or_default()),
            Plugin::Ed25519 => ClientEd25519::default()
                .run(JustThePassword(password), &self.nonce)
                .map(|response| response.data().unwrap_or_default().to_vec())
                .map_err(|_| DbError::protocol("client_ed25519 needs a nonce of 32 bytes")),
            Plugin::Clear if self.transport == Transport::Tls => Ok(with_nul(password)),
            Plugin::Clear => Err(refused(
                "the server requests the password in clear text, but the session is not \
                 encrypted; use tls=on",
            )),
        }
    }

    /// Takes what the server says on after the answer: only `caching_sha2_password` has more.
    pub fn more(&mut self, data: &[u8]) -> Result<AuthStep, DbError> {
        const FAST_SUCCESS: &[u8] = &[0x03];
        const FULL_NEEDED: &[u8] = &[0x04];
        const SEND_KEY: u8 = 0x02;
        let password = self.password.reveal().as_bytes();
        match data {
            _ if self.plugin != Plugin::CachingSha2 => Err(DbError::protocol(
                "the server sent unexpected data for its authentication plugin",
            )),
            key if self.awaits_key => {
                self.awaits_key = false;
                let mut secret = with_nul(password);
                let nonce = self.short_nonce()?;
                for (byte, mask) in secret.iter_mut().zip(nonce.iter().cycle()) {
                    *byte ^= mask;
                }
                rsa::encrypt(&secret, key).map(AuthStep::Send)
            }
            FAST_SUCCESS => Ok(AuthStep::Wait),
            FULL_NEEDED if self.transport == Transport::Plain => {
                self.awaits_key = true;
                Ok(AuthStep::Send(vec![SEND_KEY]))
            }
            FULL_NEEDED => Ok(AuthStep::Send(with_nul(password))),
            _ => Err(DbError::protocol("caching_sha2_password has no such step")),
        }
    }

    fn short_nonce(&self) -> Result<&[u8; NONCE], DbError> {
        self.nonce
            .first_chunk()
            .ok_or_else(|| DbError::protocol("the server's nonce is too short"))
    }
}

fn by_name(name: &[u8]) -> Option<Plugin> {
    let named = PLUGINS.iter().find(|(known, _)| *known == name);
    named.map(|(_, plugin)| *plugin)
}

fn with_nul(password: &[u8]) -> Vec<u8> {
    [password, &[0]].concat()
}

fn refused(message: impl Into<String>) -> DbError {
    DbError::new(ErrorClass::Refused, "auth", message)
}

/// What `client_ed25519` asks of its surroundings.
struct JustThePassword<'a>(&'a [u8]);

impl Context for JustThePassword<'_> {
    fn pass(&self) -> &[u8] {
        self.0
    }
    fn is_ipc_transport(&self) -> bool {
        false
    }
    fn is_tls_transport(&self) -> bool {
        false
    }
    fn scramble(&self) -> &[u8] {
        &[]
    }
    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auth<'a>(password: &'a Secret, transport: Transport, plugin: &[u8]) -> Auth<'a> {
        Auth::new(password, transport, plugin, vec![7; 20])
    }

    #[test]
    fn the_password_goes_out_in_clear_only_where_nobody_listens() {
        let password = Secret::new("geheim");
        for (transport, sent) in [
            (Transport::Tls, AuthStep::Send(b"geheim\0".to_vec())),
            (Transport::Socket, AuthStep::Send(b"geheim\0".to_vec())),
            (Transport::Plain, AuthStep::Send(vec![2])),
        ] {
            let mut a = auth(&password, transport, b"caching_sha2_password");
            assert_eq!(a.more(&[4]).unwrap(), sent);
        }
        for (transport, allowed) in [
            (Transport::Tls, true),
            (Transport::Socket, false),
            (Transport::Plain, false),
        ] {
            let mut a = auth(&password, transport, b"");
            a.switch(b"mysql_clear_password", b"").unwrap();
            assert_eq!(a.respond().is_ok(), allowed);
        }
    }

    #[test]
    fn an_unknown_plugin_is_named_beside_the_known() {
        let password = Secret::new("geheim");
        let mut a = auth(&password, Transport::Plain, b"");
        let e = a.switch(b"auth_gssapi_client", b"").unwrap_err();
        assert!(e.message.contains("auth_gssapi_client"));
        assert!(e.message.contains("client_ed25519"));
        assert!(!e.message.contains("geheim"));
    }

    #[test]
    fn what_to_change_is_said_of_plugins_that_have_a_better_one() {
        let password = Secret::new("geheim");
        for (plugin, instead) in [
            (
                "sha256_password",
                "ALTER USER … IDENTIFIED WITH caching_sha2_password BY '…'",
            ),
            (
                "parsec",
                "ALTER USER … IDENTIFIED VIA ed25519 USING PASSWORD('…')",
            ),
        ] {
            let mut a = auth(&password, Transport::Plain, b"");
            let e = a.switch(plugin.as_bytes(), b"").unwrap_err();
            assert!(e.message.contains(plugin), "{e}");
            assert!(e.message.ends_with(instead), "{e}");
        }
        let mut a = auth(&password, Transport::Plain, b"");
        let e = a.switch(b"auth_gssapi_client", b"").unwrap_err();
        assert!(!e.message.contains("ALTER USER"), "{e}");
    }

    #[test]
    fn a_bad_nonce_key_or_step_is_an_error() {
        let password = Secret::new("geheim");
        let mut a = auth(&password, Transport::Plain, b"caching_sha2_password");
        assert!(a.more(&[5]).is_err());
        assert_eq!(a.more(&[4]).unwrap(), AuthStep::Send(vec![2]));
        assert!(a.more(b"no key").is_err());
        a.switch(b"mysql_native_password", b"short").unwrap();
        assert!(a.respond().is_err());
        assert!(a.more(&[3]).is_err());
        a.switch(b"client_ed25519", &[1; 20]).unwrap();
        assert!(a.respond().is_err());
    }
}
