//! `caching_sha2_password` against a script of the documented exchange: no server at hand offers it.
//! The proofs are checked by computations of the test's own.

use crate::it::mysql::script::{
    Answer, CAPABILITIES, NONCE, OK, Peer, SSL, error, greeting, serve,
};
use crate::it::mysql::support::{connect, run, try_connect};
use num_bigint::BigUint;
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use tidemark_core::ErrorClass;

const PASSWORD: &str = "pässwörd";
const URL_PASSWORD: &str = "p%C3%A4ssw%C3%B6rd";
const SECOND_NONCE: &[u8; 20] = b"ZYXWVUTSRQPONMLKJIHG";
const PUBLIC_KEY: &str = include_str!("../../data/mysql/rsa-public.pem");
const MODULUS: &str = include_str!("../../data/mysql/rsa-modulus.hex");
const PRIVATE_EXPONENT: &str = include_str!("../../data/mysql/rsa-private-exponent.hex");

fn url(port: u16, query: &str) -> String {
    format!("mysql://root:{URL_PASSWORD}@127.0.0.1:{port}/db{query}")
}

/// XOR(SHA256(password), SHA256(SHA256(SHA256(password)), nonce)).
fn proof(nonce: &[u8]) -> Vec<u8> {
    let once = Sha256::digest(PASSWORD);
    let twice = Sha256::digest(once);
    let mask = Sha256::new()
        .chain_update(twice)
        .chain_update(nonce)
        .finalize();
    once.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

/// Greets with the plugin and checks the answer's proof.
fn greet<S: Read + Write>(peer: &mut Peer<S>) {
    peer.send(&[&greeting(CAPABILITIES, "caching_sha2_password")]);
    check_answer(&peer.receive());
}

fn check_answer(payload: &[u8]) {
    assert_eq!(
        Answer::read(payload),
        Answer {
            user: "root".into(),
            proof: proof(NONCE),
            database: "db".into(),
            plugin: "caching_sha2_password".into(),
        }
    );
}

/// Serves statements until the client leaves.
fn statements<S: Read + Write>(peer: &mut Peer<S>) {
    while !peer.query().is_empty() {
        peer.send(&[OK]);
    }
}

/// A session to `url` that executes a statement.
fn works(url: String) {
    run(async move {
        let mut session = connect(&url).await;
        session.simple("SET @a = 1").await.unwrap();
        session.close().await;
    });
}

#[test]
fn a_cached_password_is_proved_and_not_sent() {
    let (port, server) = serve(|mut peer| {
        greet(&mut peer);
        // Both packets in one piece, as servers send them.
        peer.send(&[&[1, 3], OK]);
        statements(&mut peer);
    });
    works(url(port, ""));
    server.join().unwrap();
}

#[test]
fn another_plugin_may_ask_for_it_with_a_nonce_of_its_own() {
    let (port, server) = serve(|mut peer| {
        peer.send(&[&greeting(CAPABILITIES, "mysql_native_password")]);
        assert_eq!(
            Answer::read(&peer.receive()).plugin,
            "mysql_native_password"
        );
        let switch = [b"\xfecaching_sha2_password\0", &SECOND_NONCE[..], b"\0"].concat();
        peer.send(&[&switch]);
        assert_eq!(peer.receive(), proof(SECOND_NONCE));
        full_by_key(&mut peer, SECOND_NONCE);
        statements(&mut peer);
    });
    works(url(port, ""));
    server.join().unwrap();
}

/// Asks for the password, encrypted for the key.
fn full_by_key<S: Read + Write>(peer: &mut Peer<S>, nonce: &[u8]) {
    peer.send(&[&[1, 4]]);
    assert_eq!(peer.receive(), [2], "the key is asked for");
    peer.send(&[&[b"\x01", PUBLIC_KEY.as_bytes()].concat()]);
    let masked = decrypt(&peer.receive());
    let secret: Vec<u8> = masked
        .iter()
        .zip(nonce.iter().cycle())
        .map(|(a, b)| a ^ b)
        .collect();
    assert_eq!(secret, [PASSWORD.as_bytes(), &[0]].concat());
    peer.send(&[OK]);
}

#[test]
fn without_tls_the_password_goes_encrypted_for_the_servers_key() {
    let (port, server) = serve(|mut peer| {
        greet(&mut peer);
        full_by_key(&mut peer, NONCE);
        statements(&mut peer);
    });
    works(url(port, ""));
    server.join().unwrap();
}

#[test]
fn inside_tls_the_password_goes_as_it_is() {
    let key = KeyPair::generate().unwrap();
    let cert = CertificateParams::new(vec!["127.0.0.1".into()])
        .unwrap()
        .self_signed(&key)
        .unwrap();
    let ca = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(ca.path(), cert.pem()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![cert.der().clone()],
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
        )
        .unwrap();
    let (port, server) = serve(move |mut peer| {
        peer.send(&[&greeting(CAPABILITIES | SSL, "caching_sha2_password")]);
        let request = peer.receive();
        assert_eq!(
            request.len(),
            32,
            "an SSLRequest and nothing else in plain text"
        );
        let tls = ServerConnection::new(Arc::new(config)).unwrap();
        let sequence = peer.sequence;
        let mut peer = Peer {
            stream: StreamOwned::new(tls, peer.stream),
            sequence,
        };
        check_answer(&peer.receive());
        peer.send(&[&[1, 4]]);
        assert_eq!(peer.receive(), [PASSWORD.as_bytes(), &[0]].concat());
        peer.send(&[OK]);
        statements(&mut peer);
    });
    works(url(port, &format!("?tls=on&ca={}", ca.path().display())));
    server.join().unwrap();
}

#[test]
fn through_a_unix_socket_the_password_goes_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mysql.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let server = std::thread::spawn(move || {
        let mut peer = Peer::new(listener.accept().unwrap().0);
        greet(&mut peer);
        peer.send(&[&[1, 4]]);
        assert_eq!(peer.receive(), [PASSWORD.as_bytes(), &[0]].concat());
        peer.send(&[OK]);
        statements(&mut peer);
    });
    let socket = path.display();
    works(format!("mysql://root:{URL_PASSWORD}@/db?socket={socket}"));
    server.join().unwrap();
}

#[test]
fn no_password_is_an_empty_proof() {
    let (port, server) = serve(|mut peer| {
        peer.send(&[&greeting(CAPABILITIES, "caching_sha2_password")]);
        assert_eq!(Answer::read(&peer.receive()).proof, b"");
        peer.send(&[OK]);
        statements(&mut peer);
    });
    works(format!("mysql://root@127.0.0.1:{port}/db"));
    server.join().unwrap();
}

#[test]
fn a_refusal_says_so_and_bad_keys_get_nothing() {
    let denied = "Access denied for user 'root'@'localhost' (using password: YES)";
    let (port, server) = serve(move |mut peer| {
        greet(&mut peer);
        peer.send(&[&error(1045, "28000", denied)]);
        peer.expect_end();
    });
    let target = url(port, "");
    let refused = run(async move { try_connect(&target).await.map(drop) }).unwrap_err();
    assert_eq!(
        (refused.class, refused.code.as_str()),
        (ErrorClass::Refused, "1045")
    );
    assert!(refused.message.contains(denied) && !refused.message.contains(PASSWORD));
    server.join().unwrap();

    // No key; a key cut off; a key of a few bits, which anybody can break.
    let cut: String = PUBLIC_KEY
        .lines()
        .filter(|l| !l.starts_with("Cw"))
        .skip(1)
        .collect();
    let tiny = "-----BEGIN PUBLIC KEY-----\nMBswDQYJKoZIhvcNAQEBBQADCgAwBwICDKECARE=\n\
                -----END PUBLIC KEY-----\n";
    for key in ["no key".to_string(), cut, tiny.into()] {
        let (port, server) = serve(move |mut peer| {
            greet(&mut peer);
            peer.send(&[&[1, 4]]);
            assert_eq!(peer.receive(), [2]);
            peer.send(&[&[b"\x01", key.as_bytes()].concat()]);
            peer.expect_end();
        });
        let target = url(port, "");
        let refused = run(async move { try_connect(&target).await.map(drop) }).unwrap_err();
        assert_eq!(
            (refused.class, refused.code.as_str()),
            (ErrorClass::Refused, "protocol")
        );
        assert!(refused.message.contains("no RSA key"), "{refused}");
        server.join().unwrap();
    }
}

/// RSAES-OAEP-DECRYPT (RFC 8017, 7.1.2).
fn decrypt(cipher: &[u8]) -> Vec<u8> {
    let number = |hex: &str| {
        let digits: String = hex.split_whitespace().collect();
        BigUint::parse_bytes(digits.as_bytes(), 16).unwrap()
    };
    let modulus = number(MODULUS);
    assert_eq!(cipher.len(), 256);
    let message = BigUint::from_bytes_be(cipher).modpow(&number(PRIVATE_EXPONENT), &modulus);
    let mut encoded = message.to_bytes_be();
    assert!(encoded.len() <= 255, "the first octet is zero");
    encoded.splice(0..0, vec![0; 255 - encoded.len()]);
    let (masked_seed, masked_block) = encoded.split_at(20);
    let seed = xor(masked_seed, &mgf1(masked_block, 20));
    let block = xor(masked_block, &mgf1(&seed, 235));
    assert_eq!(block[..20], Sha1::digest(b"")[..]);
    let one = 20 + block[20..].iter().position(|&b| b != 0).unwrap();
    assert_eq!(block[one], 1);
    block[one + 1..].to_vec()
}

/// MGF1 with SHA-1 (RFC 8017, B.2.1).
fn mgf1(seed: &[u8], len: usize) -> Vec<u8> {
    let blocks = (0u32..).map(|i| {
        Sha1::new()
            .chain_update(seed)
            .chain_update(i.to_be_bytes())
            .finalize()
    });
    blocks.flatten().take(len).collect()
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}
