//! Encrypting for the server's RSA key, as `caching_sha2_password` wants it without TLS: RSAES-OAEP
//! with SHA-1 (RFC 8017, 7.1), computed by `mysql_common`.
//!
//! The key comes from whoever answers, so its structure is checked here before anything computes
//! with it.

use mysql_common::crypto::rsa::{GetRandom, Pkcs1OaepPadding, PublicKey};
use num_bigint::BigUint;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;
use tidemark_core::{DbError, ErrorClass};

/// Largest modulus taken, in bytes: a larger one would keep the processor busy for the server.
const LARGEST_MODULUS: usize = 1024;
/// Smallest modulus taken, in bytes: it must hold a padded password, and weaker ones are broken.
const SMALLEST_MODULUS: usize = 128;
/// Bytes that OAEP with SHA-1 needs of the modulus (RFC 8017, 7.1.1, step 1b).
const PADDING: usize = 42;

/// Encrypts `secret` for the key in PEM form.
///
/// # Errors
/// `protocol` when it is no RSA key of 1024 to 8192 bits; [`ErrorClass::Refused`] when the secret is
/// too long for it.
pub(super) fn encrypt(secret: &[u8], pem: &[u8]) -> Result<Vec<u8>, DbError> {
    let key = SubjectPublicKeyInfoDer::from_pem_slice(pem)
        .ok()
        .and_then(|der| public_key(&der))
        .ok_or_else(|| {
            DbError::protocol("the server's public key is no RSA key of 1024 to 8192 bits")
        })?;
    let refused = |why: String| DbError::new(ErrorClass::Refused, "auth", why);
    if secret.len() + PADDING > key.num_octets() {
        return Err(refused(
            "the password is too long for the server's RSA key; use TLS".into(),
        ));
    }
    key.encrypt_block(secret, Pkcs1OaepPadding::new(GetRandom))
        .map_err(|e| refused(format!("encrypting the password: {e}")))
}

/// SubjectPublicKeyInfo (RFC 5280, 4.1) with an RSAPublicKey (RFC 8017, A.1.1) in it.
fn public_key(mut der: &[u8]) -> Option<PublicKey> {
    const INTEGER: u8 = 0x02;
    const BIT_STRING: u8 = 0x03;
    const SEQUENCE: u8 = 0x30;
    let mut info = take_value(&mut der, SEQUENCE)?;
    let _algorithm = take_value(&mut info, SEQUENCE)?;
    // The first octet counts unused bits.
    let mut bits = take_value(&mut info, BIT_STRING)?.strip_prefix(&[0])?;
    let mut numbers = take_value(&mut bits, SEQUENCE)?;
    let modulus = without_zeros(take_value(&mut numbers, INTEGER)?);
    let exponent = without_zeros(take_value(&mut numbers, INTEGER)?);
    let full = modulus.first().is_some_and(|top| top & 0x80 != 0);
    let sizes = (SMALLEST_MODULUS..=LARGEST_MODULUS).contains(&modulus.len())
        && (1..=8).contains(&exponent.len());
    (full && sizes).then(|| {
        PublicKey::new(
            BigUint::from_bytes_be(modulus),
            BigUint::from_bytes_be(exponent),
        )
    })
}

/// Takes one DER value with this tag off the front (X.690, 8.1).
fn take_value<'a>(der: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let (&[found, short], mut rest) = der.split_first_chunk::<2>()?;
    let len = match short {
        0..=0x7F => usize::from(short),
        0x81 | 0x82 => {
            let (long, after) = rest.split_at_checked(usize::from(short & 0x0F))?;
            rest = after;
            long.iter().fold(0, |n, &b| n << 8 | usize::from(b))
        }
        _ => return None,
    };
    let (value, after) = rest.split_at_checked(len)?;
    *der = after;
    (found == tag).then_some(value)
}

fn without_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|&&b| b == 0).count();
    &number[zeros..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PEM: &[u8] = include_bytes!("../../tests/data/mysql/rsa-public.pem");

    fn der() -> Vec<u8> {
        SubjectPublicKeyInfoDer::from_pem_slice(PEM)
            .unwrap()
            .to_vec()
    }

    #[test]
    fn a_key_is_read_and_takes_a_password_of_its_length() {
        assert_eq!(public_key(&der()).unwrap().num_octets(), 256);
        assert_eq!(encrypt(&[b'x'; 256 - PADDING], PEM).unwrap().len(), 256);
        let error = encrypt(&[b'x'; 257 - PADDING], PEM).unwrap_err();
        assert!(error.message.contains("too long"), "{error}");
        assert!(!error.message.contains("xx"));
    }

    #[test]
    fn a_key_cut_off_anywhere_is_none() {
        let der = der();
        for len in 0..der.len() {
            assert!(public_key(&der[..len]).is_none(), "{len}");
        }
    }

    proptest! {
        #[test]
        fn damaged_keys_encrypt_or_are_refused(at in 0usize..294, byte in any::<u8>()) {
            let mut der = der();
            der[at] = byte;
            if let Some(key) = public_key(&der) {
                let secret = [b'x'; SMALLEST_MODULUS - PADDING];
                prop_assert!(key.encrypt_block(secret, Pkcs1OaepPadding::new(GetRandom)).is_ok());
            }
        }

        #[test]
        fn nonsense_is_no_key(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(public_key(&bytes).is_none());
            let _ = encrypt(b"x", &bytes);
        }
    }
}
