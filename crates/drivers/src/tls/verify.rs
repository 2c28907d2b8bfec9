//! Whom a server's certificate is believed from.

use super::version::{explained, old_version};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, RootCertStore};
use std::sync::Arc;

/// Verifies the chain to an authority, and whom the certificate is for.
///
/// The certificate that the target itself names is its own authority, byte for byte: OpenSSL takes
/// the self-signed one that `openssl req -x509` makes, which is marked as an authority's, where RFC
/// 5280 has another one of a server.
#[derive(Debug)]
pub(super) struct Trusted {
    pub roots: RootCertStore,
    /// What the target names.
    pub given: Vec<CertificateDer<'static>>,
    /// Whether the certificate must be for the host.
    pub is_named: bool,
    pub algorithms: WebPkiSupportedAlgorithms,
}

/// Whether this is how a certificate is refused that is marked as an authority's.
pub(super) fn is_an_authoritys(error: &CertificateError) -> bool {
    // The type of its reason is of a crate below rustls, which is not ours to name.
    matches!(error, CertificateError::Other(why) if why.0.to_string() == "CaUsedAsEndEntity")
}

impl ServerCertVerifier for Trusted {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let named = |error| explained(error, end_entity, intermediates);
        let parsed = ParsedCertificate::try_from(end_entity).map_err(named)?;
        let chained = verify_server_cert_signed_by_trust_anchor(
            &parsed,
            &self.roots,
            intermediates,
            now,
            self.algorithms.all,
        );
        match chained.map_err(named) {
            // All are found after its dates, so one that has expired is refused all the same.
            Err(rustls::Error::InvalidCertificate(why))
                if (is_an_authoritys(&why)
                    || old_version(&why).is_some()
                    || why == CertificateError::UnknownIssuer)
                    && self.given.iter().any(|given| given == end_entity) => {}
            chained => chained?,
        }
        if self.is_named {
            verify_server_name(&parsed, server_name)?;
        }
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
pub(super) struct Nothing(pub Arc<CryptoProvider>);

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
    use super::super::version::{OldVersion, tests::of_version_1};
    use super::*;
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};

    fn params() -> CertificateParams {
        CertificateParams::new(vec!["localhost".into()]).unwrap()
    }

    /// As `openssl req -x509` makes it.
    fn self_signed(change: impl FnOnce(&mut CertificateParams)) -> CertificateDer<'static> {
        let mut params = params();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().clone()
    }

    fn verified(
        server: &CertificateDer<'static>,
        given: &CertificateDer<'static>,
        is_named: bool,
        host: &str,
    ) -> Result<(), CertificateError> {
        verified_with(server, &[], given, is_named, host)
    }

    fn verified_with(
        server: &CertificateDer<'static>,
        beside: &[CertificateDer<'static>],
        given: &CertificateDer<'static>,
        is_named: bool,
        host: &str,
    ) -> Result<(), CertificateError> {
        let mut roots = RootCertStore::empty();
        roots.add(given.clone()).unwrap();
        let provider = rustls::crypto::ring::default_provider();
        let trusted = Trusted {
            roots,
            given: vec![given.clone()],
            is_named,
            algorithms: provider.signature_verification_algorithms,
        };
        let name = ServerName::try_from(host.to_string()).unwrap();
        let done = trusted.verify_server_cert(server, beside, &name, &[], UnixTime::now());
        done.map(|_| ()).map_err(|error| match error {
            rustls::Error::InvalidCertificate(why) => why,
            other => panic!("{other}"),
        })
    }

    #[test]
    fn the_certificate_that_the_target_names_is_trusted_by_itself() {
        let own = self_signed(|_| {});
        assert_eq!(verified(&own, &own, true, "localhost"), Ok(()));
        let for_another = verified(&own, &own, true, "elsewhere").unwrap_err();
        let is_name = matches!(for_another, CertificateError::NotValidForNameContext { .. });
        assert!(is_name, "{for_another}");
        assert_eq!(verified(&own, &own, false, "elsewhere"), Ok(()));
        // Another one of the same name is not the same.
        for is_named in [true, false] {
            let another = verified(&self_signed(|_| {}), &own, is_named, "localhost");
            assert!(is_an_authoritys(&another.unwrap_err()));
        }
    }

    #[test]
    fn one_that_was_signed_by_an_authority_may_be_named_itself() {
        let mut ca = params();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        ca.distinguished_name
            .push(rcgen::DnType::CommonName, "an authority");
        let authority = Issuer::new(ca, KeyPair::generate().unwrap());
        let key = KeyPair::generate().unwrap();
        let server = params().signed_by(&key, &authority).unwrap().der().clone();
        assert_eq!(verified(&server, &server, true, "localhost"), Ok(()));
        let why = verified(&server, &self_signed(|_| {}), true, "localhost");
        assert_eq!(why, Err(CertificateError::UnknownIssuer));
    }

    /// A server's certificate and that of the authority that signed it.
    fn signed() -> (CertificateDer<'static>, CertificateDer<'static>) {
        let mut ca = params();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        ca.distinguished_name
            .push(rcgen::DnType::CommonName, "an authority");
        let ca_key = KeyPair::generate().unwrap();
        let authority = ca.self_signed(&ca_key).unwrap().der().clone();
        let key = KeyPair::generate().unwrap();
        let issuer = Issuer::new(ca, ca_key);
        let server = params().signed_by(&key, &issuer).unwrap();
        (server.der().clone(), authority)
    }

    #[test]
    fn an_authority_of_version_1_is_trusted_where_the_target_names_it() {
        let (server, authority) = signed();
        let old = of_version_1(&authority);
        assert_eq!(verified(&server, &old, true, "localhost"), Ok(()));
        let beside = [old.clone()];
        let elsewhere = self_signed(|_| {});
        for (given, expected) in [(&old, true), (&server, true), (&elsewhere, false)] {
            let done = verified_with(&server, &beside, given, true, "localhost");
            match expected {
                true => assert_eq!(done, Ok(())),
                false => assert_eq!(
                    old_version(&done.unwrap_err()),
                    Some(OldVersion {
                        version: 1,
                        is_authoritys: true
                    })
                ),
            }
        }
    }

    #[test]
    fn a_servers_certificate_of_version_1_is_refused_by_its_version() {
        let (server, authority) = signed();
        let old = of_version_1(&server);
        for given in [&authority, &old] {
            let why = verified(&old, given, false, "localhost").unwrap_err();
            let expected = OldVersion {
                version: 1,
                is_authoritys: false,
            };
            assert_eq!(old_version(&why), Some(expected), "{why}");
        }
    }

    #[test]
    fn what_has_expired_is_not_trusted_because_it_is_named() {
        let old = self_signed(|params| {
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2021, 1, 1);
        });
        let why = verified(&old, &old, true, "localhost").unwrap_err();
        assert!(
            matches!(why, CertificateError::ExpiredContext { .. }),
            "{why}"
        );
    }
}
