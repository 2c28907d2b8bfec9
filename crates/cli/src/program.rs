//! This program itself, to be started again.

use std::io;
use std::path::PathBuf;

/// What this process executes, also when another file has taken its place since: a build, an update.
#[cfg(target_os = "linux")]
const OWN: &str = "/proc/self/exe";

/// The program to be started.
///
/// # Errors
/// The operating system's, when it can't tell.
pub fn path() -> io::Result<PathBuf> {
    #[cfg(target_os = "linux")]
    if std::path::Path::new(OWN).exists() {
        return Ok(OWN.into());
    }
    std::env::current_exe()
}

/// Lists of processes call a process after the file that was started (prctl(2), `PR_SET_NAME`),
/// which the link's name would tell nobody.
#[cfg(target_os = "linux")]
pub fn name_process() {
    use nix::sys::prctl::{get_name, set_name};
    if get_name().is_ok_and(|name| name.as_bytes() == b"exe") {
        let _kept = set_name(c"tidemark");
    }
}

/// Elsewhere the program is started by its path.
#[cfg(not(target_os = "linux"))]
pub fn name_process() {}
