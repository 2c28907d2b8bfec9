//! TLS as both wire protocols use it: which certificates are trusted, and how failures read.
//!
//! [`TlsMode::VerifyFull`] is rustls's own verification (RFC 5280 path, RFC 6125 name);
//! [`TlsMode::VerifyCa`] is the same path without the name; [`TlsMode::NoVerify`] encrypts for
//! whoever answers and must be asked for by name.

use crate::connector::refused;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore};
use std::io;
use std::path::Path;
use std::sync::Arc;
use tidemark_core::{DbError, ErrorClass, Host, Target, TlsMode};

/// The client's TLS configuration; `None` when the target asks for none. Files are read once, here.
///
/// # Errors
/// [`ErrorClass::Refused`], code `tls`, when a PEM file can't be read or holds nothing usable, when
/// a certificate is given without its key, or when there is nothing to verify against.
pub(crate) fn client_config(target: &Target) -> Result<Option<Arc<ClientConfig>>, DbError> {
    if target.tls == TlsMode::Disabled {
        return Ok(None);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|e| bad(e.to_string()))?;
    let trusting = match target.tls {
        TlsMode::VerifyFull => builder.with_root_certificates(roots(target)?),
        TlsMode::VerifyCa => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(ChainOnly {
                roots: roots(target)?,
                algorithms: provider.signature_verification_algorithms,
            })),
        _ => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Nothing(provider))),
    };
    let config = match (&target.cert, &target.key) {
        (None, None) => trusting.with_no_client_auth(),
        (Some(cert), Some(key)) => {
            let chain = certificates("cert", cert)?;
            let key_der =
                PrivateKeyDer::from_pem_file(key).map_err(|e| unreadable("key", key, e))?;
            trusting
                .with_client_auth_cert(chain, key_der)
                .map_err(|e| {
                    bad(format!(
                        "cert={} with key={}: {e}",
                        cert.display(),
                        key.display()
                    ))
                })?
        }
        (Some(_), None) => return Err(bad("cert is given without key; give both")),
        (None, Some(_)) => return Err(bad("key is given without cert; give both")),
    };
    Ok(Some(Arc::new(config)))
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
            "TLS needs a host name or an address that a certificate can bear",
        )
    })
}

/// Why a handshake with `host` failed, with what may be done about it.
pub(crate) fn failed(host: &Host, error: &io::Error) -> DbError {
    let reason = error
        .get_ref()
        .and_then(|e| e.downcast_ref::<rustls::Error>());
    let advice = match reason {
        // A signature is bad when the authority has the same name as the right one.
        Some(rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        )) => {
            ": its certificate is signed by no trusted authority; name the authority with ca=FILE"
        }
        Some(rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => {
            ": its certificate is for another host; use the name in it, or tls=verify-ca to \
             verify the authority and not the name"
        }
        _ => "",
    };
    DbError::new(
        ErrorClass::Refused,
        "tls",
        format!("TLS with {host} failed{advice} ({error})"),
    )
}

/// The server at `host` can't encrypt, and the target asks for it.
pub(crate) fn not_offered(host: &Host) -> DbError {
    DbError::new(
        ErrorClass::Refused,
        "tls",
        format!(
            "TLS refused: {host} offers no TLS; turn it on there, or use tls=off for plain text"
        ),
    )
}

fn roots(target: &Target) -> Result<RootCertStore, DbError> {
    let mut roots = RootCertStore::empty();
    if let Some(ca) = &target.ca {
        for certificate in certificates("ca", ca)? {
            roots
                .add(certificate)
                .map_err(|e| bad(format!("ca={}: {e}", ca.display())))?;
        }
        return Ok(roots);
    }
    let system = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(system.certs);
    if roots.is_empty() {
        let why = system.errors.first().map(|e| format!(" ({e})"));
        return Err(bad(format!(
            "this machine has no certificate authorities to verify with{}; name one with ca=FILE",
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
        return Err(bad(format!(
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
    bad(format!("{option}={}: {reason}", path.display()))
}

fn bad(message: impl Into<String>) -> DbError {
    DbError::new(ErrorClass::Refused, "tls", message)
}

/// Verifies the chain to an authority, and not whom the certificate is for.
#[derive(Debug)]
struct ChainOnly {
    roots: RootCertStore,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for ChainOnly {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        verify_server_cert_signed_by_trust_anchor(
            &ParsedCertificate::try_from(end_entity)?,
            &self.roots,
            intermediates,
            now,
            self.algorithms.all,
        )?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Verifies nothing. Signatures aren't checked either: a signature by a key that nobody vouches for
/// proves nothing, and servers' self-made version 1 certificates can't be parsed for it.
#[derive(Debug)]
struct Nothing(Arc<CryptoProvider>);

impl ServerCertVerifier for Nothing {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
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
            (error.class, error.code.as_str()),
            (ErrorClass::Refused, "tls")
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
