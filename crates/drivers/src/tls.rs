//! TLS as both wire protocols use it: which certificates are trusted, and how failures read.
//!
//! [`TlsMode::VerifyFull`] is rustls's own verification (RFC 5280 path, RFC 6125 name), and takes
//! the certificate that the target itself names; [`TlsMode::VerifyCa`] is the same without the
//! name; [`TlsMode::NoVerify`] encrypts for whoever answers and must be asked for by name.

mod failed;
mod verify;
mod version;

pub(crate) use failed::{failed, not_offered};

use crate::connector::refused;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, Error, RootCertStore};
use std::path::Path;
use std::sync::Arc;
use tidemark_core::{DbError, ErrorClass, ErrorKind, Host, Target, TlsMode};
use verify::{Nothing, Trusted};

/// The client's TLS configuration; `None` when the target asks for none. Files are read once, here.
///
/// # Errors
/// [`ErrorClass::Refused`]: kind [`ErrorKind::TlsFiles`] when a PEM file can't be read or holds
/// nothing usable, or a certificate is given without its key; code `tls` when there is nothing to
/// verify against.
pub(crate) fn client_config(target: &Target) -> Result<Option<Arc<ClientConfig>>, DbError> {
    if target.tls == TlsMode::Disabled {
        return Ok(None);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|e| bad(e.to_string()))?;
    let trusting = builder
        .dangerous()
        .with_custom_certificate_verifier(verifier(target.tls, target.ca.as_deref(), provider)?);
    let config = match (&target.cert, &target.key) {
        (None, None) => trusting.with_no_client_auth(),
        (Some(cert), Some(key)) => {
            let chain = certificates("cert", cert)?;
            let key_der =
                PrivateKeyDer::from_pem_file(key).map_err(|e| unreadable("key", key, e))?;
            let own = chain.first().cloned();
            trusting
                .with_client_auth_cert(chain, key_der)
                .map_err(|e| {
                    unusable(format!(
                        "cert={} with key={}: {}",
                        cert.display(),
                        key.display(),
                        of_own(e, own.as_ref())
                    ))
                })?
        }
        (Some(_), None) => return Err(unusable("cert is given without key; give both")),
        (None, Some(_)) => return Err(unusable("key is given without cert; give both")),
    };
    Ok(Some(Arc::new(config)))
}

/// A client's configuration for `https://`: certificates are verified against a file of authorities, or
/// the system's, with their names.
///
/// # Errors
/// [`ErrorClass::Refused`] when the file can't be read, or there is nothing to verify against.
pub fn https_config(ca: Option<&Path>) -> Result<Arc<ClientConfig>, DbError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = verifier(TlsMode::VerifyFull, ca, Arc::clone(&provider))?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| bad(e.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// The name that the server's certificate must bear.
///
/// # Errors
/// [`ErrorClass::Refused`] when the host's name can't stand in a certificate.
pub(crate) fn server_name(host: &Host) -> Result<ServerName<'static>, DbError> {
    let name = match host {
        Host::Tcp { host, .. } => host.clone(),
        // A socket has no name; its server is this machine.
        Host::Unix(_) => "localhost".into(),
    };
    ServerName::try_from(name).map_err(|_| {
        refused(
            host,
            "TLS needs a host name or an address that a certificate can contain",
        )
    })
}

fn verifier(
    mode: TlsMode,
    ca: Option<&Path>,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, DbError> {
    if mode == TlsMode::NoVerify {
        return Ok(Arc::new(Nothing(provider)));
    }
    let (roots, given) = match ca {
        Some(ca) => {
            let given = certificates("ca", ca)?;
            let mut roots = RootCertStore::empty();
            for certificate in &given {
                roots
                    .add(certificate.clone())
                    .map_err(|e| unusable(format!("ca={}: {e}", ca.display())))?;
            }
            (roots, given)
        }
        None => (system_roots()?, Vec::new()),
    };
    Ok(Arc::new(Trusted {
        roots,
        given,
        is_named: mode == TlsMode::VerifyFull,
        algorithms: provider.signature_verification_algorithms,
    }))
}

fn system_roots() -> Result<RootCertStore, DbError> {
    let mut roots = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(system.certs);
    if roots.is_empty() {
        let why = system.errors.first().map(|e| format!(" ({e})"));
        return Err(bad(format!(
            "this machine has no certificate authorities to verify with{}; set ca=FILE",
            why.unwrap_or_default()
        )));
    }
    Ok(roots)
}

fn certificates(option: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>, DbError> {
    let found: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|e| unreadable(option, path, e))?;
    if found.is_empty() {
        return Err(unusable(format!(
            "{option}={}: no PEM certificate in it",
            path.display()
        )));
    }
    Ok(found)
}

fn unreadable(option: &str, path: &Path, error: rustls::pki_types::pem::Error) -> DbError {
    let reason = match error {
        rustls::pki_types::pem::Error::Io(e) => e.to_string(),
        other => other.to_string(),
    };
    unusable(format!("{option}={}: {reason}", path.display()))
}

/// Why the client's own certificate can't be used.
fn of_own(error: Error, own: Option<&CertificateDer<'_>>) -> String {
    let error = match own {
        Some(own) => version::explained(error, own, &[]),
        None => error,
    };
    let old = match &error {
        Error::InvalidCertificate(why) => version::old_version(why),
        _ => None,
    };
    match old {
        Some(old) => format!(
            "{old}; create it again with an extension, for example openssl x509 -req -extfile FILE"
        ),
        None => error.to_string(),
    }
}

/// What the target itself names can't be used.
fn unusable(message: impl Into<String>) -> DbError {
    DbError::own(ErrorClass::Refused, ErrorKind::TlsFiles, message)
}

fn bad(message: impl Into<String>) -> DbError {
    DbError::new(ErrorClass::Refused, "tls", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn target(query: &str) -> Target {
        Target::parse(&format!("mysql://u:geheim@localhost/db?{query}")).unwrap()
    }

    fn message(query: &str) -> String {
        let error = client_config(&target(query)).unwrap_err();
        assert_eq!(
            (error.class, error.kind),
            (ErrorClass::Refused, ErrorKind::TlsFiles)
        );
        assert!(!error.message.contains("geheim"));
        error.message
    }

    #[test]
    fn plain_text_needs_no_configuration_and_no_verify_no_authority() {
        assert!(client_config(&target("tls=off")).unwrap().is_none());
        assert!(client_config(&target("tls=no-verify")).unwrap().is_some());
    }

    #[test]
    fn a_client_certificate_of_version_1_is_named() {
        let made = rcgen::generate_simple_self_signed(vec!["me".into()]).unwrap();
        let old = version::tests::of_version_1(made.cert.der());
        let error = Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        assert!(of_own(error, Some(&old)).contains("UnknownIssuer"));
        let parsed = rustls::server::ParsedCertificate::try_from(&old);
        let said = of_own(parsed.err().unwrap(), Some(&old));
        for part in ["X.509 version 1", "version 3 is required", "-extfile FILE"] {
            assert!(said.contains(part), "{said}");
        }
    }

    #[test]
    fn errors_name_the_option_and_the_file() {
        assert!(
            message("tls=on&ca=/nonexistent/ca.pem").contains("ca=/nonexistent/ca.pem: No such")
        );
        let mut empty = tempfile::NamedTempFile::new().unwrap();
        writeln!(empty, "no certificate").unwrap();
        let path = empty.path().display();
        assert!(message(&format!("tls=on&ca={path}")).contains("no PEM certificate in it"));
        assert!(message("tls=no-verify&cert=/c.pem").contains("without key"));
        assert!(message("tls=no-verify&key=/k.pem").contains("without cert"));
    }
}
