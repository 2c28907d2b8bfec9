//! Files of a fuzzer's own.

use std::path::PathBuf;

/// The file of this thread with such an end, in memory where there is such a folder: a fuzzer writes
/// thousands a second.
pub(crate) fn place(end: &str) -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    };
    let thread = format!("{:?}", std::thread::current().id());
    let number: String = thread.chars().filter(char::is_ascii_digit).collect();
    folder.join(format!(
        "tidemark-fuzz-{}-{number}.{end}",
        std::process::id()
    ))
}
