//! A certificate authority and a server certificate for one test server.

use crate::Error;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use tidemark_sandbox::Account;

/// PEM files of a server that speaks TLS.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The authority that signed the server's certificate.
    pub ca: PathBuf,
    /// The server's certificate, for `localhost` and 127.0.0.1.
    pub cert: PathBuf,
    /// The server's key.
    pub key: PathBuf,
}

impl TlsFiles {
    /// Makes an authority and a certificate signed by it, as files in `folder`.
    pub(crate) fn create(folder: &Path, account: Option<Account>) -> Result<TlsFiles, Error> {
        let (ca, cert, key) = generate().map_err(|e| Error::failed("making a certificate", e))?;
        let files = TlsFiles {
            ca: folder.join("ca.pem"),
            cert: folder.join("server-cert.pem"),
            key: folder.join("server-key.pem"),
        };
        for (path, text, mode) in [
            (&files.ca, &ca, 0o644),
            (&files.cert, &cert, 0o644),
            // PostgreSQL refuses a key that others can read.
            (&files.key, &key, 0o600),
        ] {
            let doing = || Error::io(format!("writing {}", path.display()));
            fs::write(path, text).map_err(doing())?;
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(doing())?;
            if let Some(Account { uid, gid }) = account {
                chown(path, Some(uid), Some(gid)).map_err(doing())?;
            }
        }
        Ok(files)
    }
}

/// PEM texts of authority, server certificate and server key.
fn generate() -> Result<(String, String, String), rcgen::Error> {
    let ca_key = KeyPair::generate()?;
    let mut ca = CertificateParams::new(Vec::new())?;
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    ca.distinguished_name
        .push(DnType::CommonName, "Tidemark test authority");
    let ca_pem = ca.self_signed(&ca_key)?.pem();

    let key = KeyPair::generate()?;
    let mut cert = CertificateParams::new(vec!["localhost".into(), "127.0.0.1".into()])?;
    cert.distinguished_name
        .push(DnType::CommonName, "Tidemark test server");
    let cert_pem = cert.signed_by(&key, &Issuer::new(ca, ca_key))?.pem();
    Ok((ca_pem, cert_pem, key.serialize_pem()))
}
