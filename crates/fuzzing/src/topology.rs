//! Files of a cluster's hosts (`--topology`).

use crate::file::place;
use crate::memory::bounded;
use std::fs;
use std::path::Path;
use tidemark_core::record::Topology;
use tidemark_observe::{TopologyError, read_topology};

/// A value of a byte has its place, its key and its hash.
const A_BYTE: usize = 4096;
/// Values that are copied by name take as much as so many bytes: there is a limit to them.
const COPIED: usize = 16 << 10;
/// Stands for a password in what a fuzzer writes.
const SECRET: &str = "s3cr3t";

pub(crate) fn run(data: &[u8]) {
    let path = place("yaml");
    let lines = data.iter().filter(|b| matches!(b, b'\n' | b'\r')).count() + 1;
    look(&path, data, lines);
    if !data.windows(SECRET.len()).any(|w| w == SECRET.as_bytes()) {
        let with = format!("\ngrafana_servers:\n  - host: 10.0.1.9\n    password: {SECRET}\n");
        let told = look(&path, &[data, with.as_bytes()].concat(), lines + 4);
        assert!(!told.contains(SECRET), "{told}");
    }
    let _ = fs::remove_file(&path);
}

/// Reads it; the record, or what is told.
fn look(path: &Path, data: &[u8], lines: usize) -> String {
    fs::write(path, data).unwrap();
    bounded(data.len() + COPIED, A_BYTE, || match read_topology(path) {
        Ok(topology) => {
            assert!(!topology.hosts.is_empty());
            let text = serde_json::to_string(&topology).unwrap();
            let again: Topology = serde_json::from_str(&text).unwrap();
            assert_eq!(again, topology);
            text
        }
        Err(wrong) => {
            let told = wrong.to_string();
            if let TopologyError::NoYaml { line, .. } | TopologyError::Value { line, .. } = wrong {
                assert!(line <= lines + 1, "{told}");
            }
            told
        }
    })
}
