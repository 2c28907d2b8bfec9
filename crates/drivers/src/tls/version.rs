//! Certificates of X.509 versions before 3, which rustls takes only as authorities that the target names:
//! without extensions a certificate says neither for whom nor for what it is.

use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, Error, OtherError};
use std::fmt;
use std::sync::Arc;

/// The version with extensions.
const NEWEST: u8 = 3;
/// How rustls's certificate parser calls another one; its type is of a crate below, which is not ours to name.
const REFUSED: &str = "UnsupportedCertVersion";

/// Tags of a certificate's DER (ITU-T X.690, section 8.1.2; RFC 5280, section 4.1).
const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;
/// What holds the version, where it is not 1.
const VERSION: u8 = 0xa0;

/// A certificate that was refused for its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OldVersion {
    /// Its version.
    pub version: u8,
    /// Whether it was sent beside the server's own.
    pub is_authoritys: bool,
}

impl fmt::Display for OldVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.version;
        match self.is_authoritys {
            false => write!(
                f,
                "its certificate has X.509 version {version}, and version {NEWEST} is required"
            ),
            true => write!(
                f,
                "a CA certificate that it sends has X.509 version {version}, and version {NEWEST} \
                 is required of those that are not trusted themselves"
            ),
        }
    }
}

impl std::error::Error for OldVersion {}

/// The old version that an error tells of.
pub(super) fn old_version(error: &CertificateError) -> Option<OldVersion> {
    match error {
        CertificateError::Other(why) => why.0.downcast_ref::<OldVersion>().copied(),
        _ => None,
    }
}

/// The same error; one about a certificate's version says which version of which certificate.
pub(super) fn explained(
    error: Error,
    own: &CertificateDer<'_>,
    authorities: &[CertificateDer<'_>],
) -> Error {
    let is_refused = matches!(&error,
        Error::InvalidCertificate(CertificateError::Other(why)) if why.0.to_string() == REFUSED);
    if !is_refused {
        return error;
    }
    let old = |certificate: &CertificateDer<'_>, is_authoritys| {
        let version = version(certificate).filter(|version| *version != NEWEST)?;
        Some(OldVersion {
            version,
            is_authoritys,
        })
    };
    let found = old(own, false).or_else(|| authorities.iter().find_map(|one| old(one, true)));
    match found {
        Some(found) => {
            Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(found))))
        }
        None => error,
    }
}

/// A certificate's version; `None` of what is no certificate.
fn version(certificate: &[u8]) -> Option<u8> {
    let (SEQUENCE, signed, _) = element(certificate)? else {
        return None;
    };
    let (SEQUENCE, to_be_signed, _) = element(signed)? else {
        return None;
    };
    match element(to_be_signed)? {
        (VERSION, number, _) => match element(number)? {
            (INTEGER, [number], _) => number.checked_add(1),
            _ => None,
        },
        // The serial number: version 1 is not written.
        (INTEGER, ..) => Some(1),
        _ => None,
    }
}

/// The first element of DER: its tag, what is in it, and what follows.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (length, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            let number = |sum: usize, byte: &u8| (sum << 8) | usize::from(*byte);
            (length.iter().fold(0, number), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    const EXTENSIONS: u8 = 0xa3;

    /// A certificate as `openssl x509 -req` makes it without extensions: of version 1. The signature in it is
    /// that of the other.
    pub fn of_version_1(certificate: &CertificateDer<'_>) -> CertificateDer<'static> {
        let (_, signed, _) = element(certificate).unwrap();
        let (_, mut rest, signature) = element(signed).unwrap();
        let mut kept = Vec::new();
        while !rest.is_empty() {
            let (tag, _, next) = element(rest).unwrap();
            if tag != VERSION && tag != EXTENSIONS {
                kept.extend_from_slice(&rest[..rest.len() - next.len()]);
            }
            rest = next;
        }
        let mut whole = sequence(&kept);
        whole.extend_from_slice(signature);
        sequence(&whole).into()
    }

    fn sequence(content: &[u8]) -> Vec<u8> {
        let [high, low] = u16::try_from(content.len()).unwrap().to_be_bytes();
        let mut whole = vec![SEQUENCE];
        match (high, low) {
            (0, 0..=0x7f) => whole.push(low),
            (0, _) => whole.extend([0x81, low]),
            _ => whole.extend([0x82, high, low]),
        }
        whole.extend_from_slice(content);
        whole
    }

    #[test]
    fn versions_are_read() {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
        let newest = made.cert.der();
        assert_eq!(version(newest), Some(3));
        assert_eq!(version(&of_version_1(newest)), Some(1));
        assert_eq!(version(b"no certificate"), None);
        assert_eq!(version(&sequence(&sequence(&[]))), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _any = version(&bytes);
        }
    }
}
