//! Why there is no TLS, in sentences, with what may be done about it in the words of a target's URL.

use super::verify::is_an_authoritys;
use super::version::{OldVersion, old_version};
use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error};
use std::io;
use tidemark_core::{DbError, ErrorClass, Host};

/// Why a handshake with `host` failed, with what may be done about it.
pub(crate) fn failed(host: &Host, error: &io::Error) -> DbError {
    let reason = error.get_ref().and_then(|e| e.downcast_ref::<Error>());
    let why = match reason {
        Some(Error::InvalidCertificate(why)) => of_certificate(why),
        Some(Error::AlertReceived(alert)) => of_alert(*alert),
        Some(Error::PeerIncompatible(why)) => Some(format!(
            "it offers no TLS 1.2 or 1.3, or no secure cipher ({why:?})"
        )),
        _ => None,
    };
    let why = why.unwrap_or_else(|| error.to_string());
    DbError::new(
        ErrorClass::Refused,
        "tls",
        format!("TLS with {host} failed: {why}"),
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

fn of_certificate(why: &CertificateError) -> Option<String> {
    use CertificateError as Why;
    if let Some(old) = old_version(why) {
        return Some(of_version(old));
    }
    Some(match why {
        _ if is_an_authoritys(why) => "its certificate is self-signed or a CA's own, and it is \
                                       not trusted: set ca=FILE to that certificate, or sign the \
                                       server's certificate with a CA and set ca=FILE to the CA; \
                                       or use tls=no-verify to encrypt without verification"
            .into(),
        // A signature is bad when the authority has the same name as the right one.
        Why::UnknownIssuer | Why::BadSignature => {
            "its certificate is not signed by a trusted CA; set ca=FILE to the CA, or use \
             tls=no-verify to encrypt without verification"
                .into()
        }
        Why::NotValidForNameContext { presented, .. } => for_another(presented),
        Why::NotValidForName => for_another(&[]),
        Why::ExpiredContext { not_after, .. } => {
            format!("its certificate has expired on {}", day(not_after))
        }
        Why::Expired => "its certificate has expired".into(),
        Why::NotValidYetContext { not_before, .. } => format!(
            "its certificate is valid from {} on; is this machine's clock right?",
            day(not_before)
        ),
        Why::NotValidYet => "its certificate is not valid yet".into(),
        Why::Revoked => "its certificate was revoked".into(),
        Why::InvalidPurpose | Why::InvalidPurposeContext { .. } => {
            "its certificate is for other purposes than a server's (extended key usage)".into()
        }
        Why::BadEncoding | Why::Other(_) => format!(
            "its certificate cannot be verified ({why}); create another one (X.509 version 3), \
             or use tls=no-verify to encrypt without verification"
        ),
        _ => return None,
    })
}

/// A certificate without extensions is in the way.
fn of_version(old: OldVersion) -> String {
    let instead = match old.is_authoritys {
        false => {
            "create it again with an extension, for example openssl x509 -req -extfile FILE with \
             subjectAltName in FILE"
        }
        true => "set ca=FILE to that CA certificate, or create it again with basicConstraints",
    };
    format!("{old}; {instead}; or use tls=no-verify to encrypt without verification")
}

/// The names are rustls's: `DnsName("localhost")`, `IpAddress(127.0.0.1)`.
fn for_another(names: &[String]) -> String {
    let bare = |name: &String| match name.split_once('(').zip(name.rfind(')')) {
        Some(((kind, _), end)) => name[kind.len() + 1..end].trim_matches('"').to_string(),
        None => name.clone(),
    };
    let bare: Vec<String> = names.iter().map(bare).collect();
    let whose = match bare.is_empty() {
        true => "; create one for this host (subjectAltName)".into(),
        false => format!(" ({}); use the name in it", bare.join(", ")),
    };
    format!(
        "its certificate is for another host{whose}, or tls=verify-ca to verify the CA but not \
         the name"
    )
}

fn day(time: &UnixTime) -> String {
    let second = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(second).map_or_else(
        |_| format!("second {second} of Unix time"),
        |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    )
}

/// What the server says of the client.
fn of_alert(alert: AlertDescription) -> Option<String> {
    use AlertDescription as Alert;
    Some(match alert {
        Alert::CertificateRequired => "it requires a client certificate; set cert=FILE and \
                                       key=FILE"
            .into(),
        Alert::UnknownCA | Alert::BadCertificate | Alert::CertificateUnknown => {
            format!("it does not trust the certificate of cert=FILE ({alert:?})")
        }
        Alert::CertificateExpired => "the certificate of cert=FILE has expired".into(),
        Alert::ProtocolVersion | Alert::HandshakeFailure | Alert::InsufficientSecurity => {
            format!("it accepts neither TLS 1.2 nor 1.3, or no secure cipher ({alert:?})")
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Duration;

    fn said(error: Error) -> String {
        let host = Host::Tcp {
            host: "h".into(),
            port: 1,
        };
        failed(&host, &io::Error::new(io::ErrorKind::InvalidData, error)).message
    }

    #[test]
    fn every_refusal_is_a_sentence_that_says_what_to_do() {
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let of = |why: CertificateError| said(Error::InvalidCertificate(why));
        let another = of(CertificateError::NotValidForNameContext {
            expected: "h".try_into().unwrap(),
            presented: vec!["DnsName(\"localhost\")".into(), "IpAddress(::1)".into()],
        });
        assert!(
            another.contains("for another host (localhost, ::1); use the name in it"),
            "{another}"
        );
        let expired = of(CertificateError::ExpiredContext {
            time: at(2),
            not_after: at(86_400),
        });
        assert!(
            expired.ends_with("has expired on 1970-01-02 00:00 UTC"),
            "{expired}"
        );
        let unknown = of(CertificateError::UnknownIssuer);
        assert!(
            unknown.contains("set ca=FILE") && unknown.contains("tls=no-verify"),
            "{unknown}"
        );
        let asked = said(Error::AlertReceived(AlertDescription::CertificateRequired));
        assert!(asked.contains("cert=FILE and key=FILE"), "{asked}");
        for message in [another, expired, unknown, asked] {
            assert!(
                !message.contains("Context") && !message.contains("invalid"),
                "{message}"
            );
        }
        for is_authoritys in [false, true] {
            let old = OldVersion {
                version: 1,
                is_authoritys,
            };
            let old = of(CertificateError::Other(rustls::OtherError(Arc::new(old))));
            for part in [
                "has X.509 version 1, and version 3",
                "again with",
                "tls=no-verify",
            ] {
                assert!(old.contains(part), "{part}: {old}");
            }
            assert_eq!(old.contains("set ca=FILE"), is_authoritys, "{old}");
        }
        let other = said(Error::EncryptError);
        assert_eq!(other, "TLS with h:1 failed: cannot encrypt message");
    }
}
