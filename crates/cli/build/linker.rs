//! What the linker of this build takes: options differ between linkers, and only a try tells which one
//! links in the end.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

/// The compiler, and with what it links.
pub struct Linker {
    /// The compiler's program.
    pub rustc: OsString,
    /// The linker that Cargo was told.
    pub program: Option<OsString>,
    /// The compiler's flags that Cargo was told.
    pub flags: Vec<String>,
}

impl Linker {
    /// Whether an empty program links with these arguments; it is made in a folder.
    pub fn takes(&self, arguments: &[String], folder: &Path) -> bool {
        let source = folder.join("empty.rs");
        if std::fs::write(&source, "//! Nothing.\nfn main() {}\n").is_err() {
            return false;
        }
        let mut command = Command::new(&self.rustc);
        command
            .arg(&source)
            .arg("-o")
            .arg(folder.join("empty"))
            .args(&self.flags);
        if let Some(program) = &self.program {
            command.arg("-C").arg(option("linker=", program));
        }
        for argument in arguments {
            command
                .arg("-C")
                .arg(option("link-arg=", OsStr::new(argument)));
        }
        command
            .stdin(Stdio::null())
            .output()
            .is_ok_and(|output| output.status.success())
    }
}

fn option(name: &str, value: &OsStr) -> OsString {
    let mut option = OsString::from(name);
    option.push(value);
    option
}
