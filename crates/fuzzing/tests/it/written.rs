//! Sessions written by hand that authenticate in other ways than the recorded ones; with
//! `TIDEMARK_FUZZ_RECORD=1` they are written into `fuzz/corpus/`.

use super::seeds::write;
use tidemark_core::Protocol;
use tidemark_fuzzing::{CUT, Flags, FuzzScript, NONCE, PACKET, play};

#[test]
fn a_public_key_is_taken() {
    let pem = include_bytes!("../../../drivers/tests/data/mysql/rsa-public.pem");
    assert!(tidemark_drivers::fuzzing::mysql::encrypts(pem));
}

/// A greeting of MySQL 8 ("Protocol::HandshakeV10").
fn greeting(plugin: &str) -> Vec<u8> {
    let mut g = b"\x0a8.4.3\0\x07\0\0\0abcdefgh\0".to_vec();
    g.extend_from_slice(&[0xDF, 0xF7, 45, 2, 0, 0x3F, 0x01, 21]);
    g.extend_from_slice(&[0; 10]);
    g.extend_from_slice(b"12345678ijkl\0");
    g.extend_from_slice(plugin.as_bytes());
    g.push(0);
    g
}

#[test]
fn other_ways_of_authentication_go_their_way() {
    let pem = include_bytes!("../../../drivers/tests/data/mysql/rsa-public.pem");
    let ok: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
    let sha2 = greeting("caching_sha2_password");
    let native = greeting("mysql_native_password");
    let switch = |plugin: &str, nonce: &[u8]| [b"\xFE", plugin.as_bytes(), &[0], nonce].concat();
    let key = [b"\x01", &pem[..]].concat();
    let nonce = b"abcdefgh12345678ijkl\0";
    let scripts: Vec<(&str, Vec<Vec<u8>>, &str)> = vec![
        (
            "sha2-key",
            vec![sha2.clone(), vec![1, 4], key, ok.to_vec()],
            "",
        ),
        (
            "sha2-cached",
            vec![sha2.clone(), [&[1, 3], &PACKET[..], ok].concat()],
            "",
        ),
        (
            "sha2-switch",
            vec![
                native.clone(),
                switch("caching_sha2_password", nonce),
                vec![1, 3],
                ok.to_vec(),
            ],
            "",
        ),
        (
            "ed25519",
            vec![
                native.clone(),
                switch("client_ed25519", &[7; 32]),
                ok.to_vec(),
            ],
            "",
        ),
        (
            "clear",
            vec![native.clone(), switch("mysql_clear_password", b"")],
            "in clear",
        ),
        (
            "unknown",
            vec![native.clone(), switch("auth_gssapi_client", b"")],
            "auth_gssapi_client",
        ),
        ("old", vec![native, vec![0xFE]], "before 4.1"),
        (
            "full",
            vec![b"\xFF\x10\x04#08004Too many connections".to_vec()],
            "Too many connections",
        ),
    ];
    for (name, turns, why) in scripts {
        let data = [&[16 + 8], &turns.join(&CUT[..])[..]].concat();
        let ended = play(Protocol::Mysql, FuzzScript::read(&data));
        match ended.steps {
            Ok(_) => assert_eq!(why, "", "{name}"),
            Err(e) => assert!(!why.is_empty() && e.message.contains(why), "{name}: {e}"),
        }
        write("mysql_session", &format!("written-{name}"), &data);
    }
    let first = [
        b"R\0\0\0\x0br=",
        &NONCE[..],
        b"3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
    ]
    .concat();
    let hours = [&first[..first.len() - 4], b"4294967295"].concat();
    let scripts: Vec<(&str, Vec<&[u8]>, &str)> = vec![
        ("md5", vec![b"R\0\0\0\x05salt", b"R\0\0\0\0"], "closed"),
        ("clear", vec![b"R\0\0\0\x03"], "clear text"),
        (
            "scram",
            vec![
                b"R\0\0\0\x0aSCRAM-SHA-256\0\0",
                &first,
                b"R\0\0\0\x0cv=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
            ],
            "did not prove",
        ),
        (
            "scram-hours",
            vec![b"R\0\0\0\x0aSCRAM-SHA-256\0\0", &hours],
            "4294967295 iterations",
        ),
        ("md5-again", vec![b"R\0\0\0\x05salt"; 20], "does not finish"),
        (
            "behind",
            vec![b"R\0\0\0\0\xF8PKTZI\xF8PKTCSELECT 1\0"],
            "an unexpected message of type",
        ),
        (
            "refused",
            vec![b"ESFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0"],
            "too many clients",
        ),
        (
            "negotiated",
            vec![b"v\0\x03\0\0\0\0\0\0", b"R\0\0\0\0"],
            "closed",
        ),
    ];
    for (name, turns, why) in scripts {
        let data = [&[16 + 8], &turns.join(&CUT[..])[..]].concat();
        let error = play(Protocol::Postgres, FuzzScript::read(&data))
            .steps
            .unwrap_err();
        assert!(error.message.contains(why), "{name}: {error}");
        write("postgres_session", &format!("written-{name}"), &data);
    }
    assert_eq!(FuzzScript::read(&[24]).flags, Flags(24));
}
