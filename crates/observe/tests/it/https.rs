//! Endpoints with TLS and a sign-in, by a server of our own.

use super::kept::{kept, named, sink};
use crate::server::Nodes;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tidemark_core::record::{Gap, GapKind};
use tidemark_observe::{EndpointAccess, Sampling};

const SIGNED_IN: &str = "Authorization: Bearer geheim\r\n";

/// Serves a node's metrics to whoever signs in; its address, and the certificate's file.
fn serve(folder: &tempfile::TempDir) -> (String, PathBuf) {
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".into()]).unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, made.cert.pem()).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(session, stream);
            let mut request = [0; 4096];
            let n = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..n]).into_owned();
            let reply = match request.contains(SIGNED_IN) {
                true => {
                    "HTTP/1.0 200 OK\r\n\r\ntikv_engine_size_bytes{db=\"kv\",type=\"write\"} 4096\n"
                }
                false => "HTTP/1.0 401 Unauthorized\r\n\r\n",
            };
            let _gone = stream.write_all(reply.as_bytes());
            stream.conn.send_close_notify();
            let _gone = stream.flush();
        }
    });
    (address, file)
}

/// What is seen of a node at this URL, and what not.
fn seen(url: &str, access: EndpointAccess) -> (usize, Vec<Gap>) {
    let nodes = Nodes::at(url).with(&access);
    let nodes = nodes.at_intervals_of(Duration::from_millis(300));
    let (sink, chunks) = sink();
    let watch = Sampling::start(vec![Box::new(nodes)], Duration::ZERO, &sink);
    std::thread::sleep(Duration::from_millis(1800));
    let ended = watch.end();
    let series = kept(&chunks);
    let found = named(&series, "server-nodes", "tikv.size").len();
    (found, ended.observed[0].gaps.clone())
}

#[test]
fn a_node_is_read_with_tls_and_a_sign_in() {
    let folder = tempfile::tempdir().unwrap();
    let (address, ca) = serve(&folder);
    let url = format!("https://{address}/metrics");
    let signed_in = EndpointAccess::new(Some(&ca)).with_token("geheim");
    assert_eq!(seen(&url, signed_in.clone()), (1, Vec::new()));
    for (access, wanted) in [
        (
            EndpointAccess::new(Some(&ca)),
            "HTTP status 401; set TIDEMARK_OBSERVE_TOKEN",
        ),
        (
            EndpointAccess::new(Some(&ca)).with_password("u", "p"),
            "HTTP status 401",
        ),
        (
            EndpointAccess::new(Some(std::path::Path::new("/nonexistent.pem"))),
            "--observe-ca: ca=/nonexistent.pem",
        ),
        (
            other_authority(&folder),
            "--observe-ca=FILE names another certificate authority",
        ),
    ] {
        let (series, gaps) = seen(&url, access);
        assert!(
            series == 0 && gaps[0].kind == GapKind::NodeSilent,
            "{gaps:?}"
        );
        assert!(gaps[0].detail.contains(wanted), "{gaps:?}");
    }
    // Its address without TLS.
    let (_, gaps) = seen(&format!("http://{address}/metrics"), signed_in);
    assert_eq!(gaps, [Gap::new(GapKind::NodeTls, address)]);
}

fn other_authority(folder: &tempfile::TempDir) -> EndpointAccess {
    let made = rcgen::generate_simple_self_signed(vec!["other".into()]).unwrap();
    let file = folder.path().join("other.pem");
    std::fs::write(&file, made.cert.pem()).unwrap();
    EndpointAccess::new(Some(&file)).with_token("geheim")
}
