//! The hosts of a cluster and what runs on them: by TiUP's file, and by what the database says of its
//! members.

mod configuration;
mod defaults;
mod document;
mod file;
mod members;

pub use file::read_topology;
pub use members::with_members;

/// Why a file tells no topology. No value of the file is in its message.
#[derive(Debug, thiserror::Error)]
pub enum TopologyError {
    /// It can't be read.
    #[error(transparent)]
    Read(#[from] tidemark_files::ReadError),
    /// It is no YAML.
    #[error("line {line}: {why}")]
    NoYaml {
        /// Where.
        line: usize,
        /// In the parser's words.
        why: String,
    },
    /// A key or its value is wrong.
    #[error("{path} (line {line}): {why}")]
    Value {
        /// The key with those above it.
        path: String,
        /// Where it stands.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// There is no host in it.
    #[error("no hosts; for example tikv_servers: [{{host: 10.0.1.1}}]")]
    Empty,
}

/// Host and port as one word.
fn joined(host: &str, port: u16) -> String {
    match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}
