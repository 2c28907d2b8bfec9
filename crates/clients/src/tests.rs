//! What tests share.

/// A job, as `--print-job` writes it.
pub(crate) const JOB: &str = r#"{
    "version": 1,
    "target": {"url": "mysql://u@127.0.0.1:1/d"},
    "workload": {"name": "oltp_read_only"},
    "tool": {"name": "sysbench"}
}"#;

#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;
