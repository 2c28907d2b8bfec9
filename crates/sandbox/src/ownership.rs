//! Whether what lies in a folder was put there by this account: nobody else's word is taken for where
//! a server runs, what its password is and which process to end.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Marks and process files are far smaller.
const LONGEST: u64 = 64 * 1024;
/// Write permission of the group and of others (chmod(2)).
const WRITABLE: u32 = 0o022;
const WRITABLE_BY_ALL: u32 = 0o002;
/// Only a file's owner renames and removes it (chmod(2)).
const STICKY: u32 = 0o1000;

/// This process's effective user.
fn own_uid() -> Option<u32> {
    fs::metadata("/proc/self").ok().map(|own| own.uid())
}

/// Why `seen` may be another account's work, if it may.
fn foreign(seen: &Metadata) -> Option<String> {
    let Some(own) = own_uid() else {
        return Some("who this process runs as is not known".into());
    };
    if seen.uid() != own {
        let theirs = seen.uid();
        return Some(format!("it belongs to user id {theirs}, not to {own}"));
    }
    (seen.mode() & WRITABLE != 0).then(|| {
        let mode = seen.mode() & 0o7777;
        format!("others can write to it (mode {mode:04o})")
    })
}

/// Why this folder may hold another account's work, if it may. A link is none of ours.
pub(crate) fn foreign_folder(folder: &Path) -> Option<String> {
    let seen = match fs::symlink_metadata(folder) {
        Ok(seen) if seen.is_dir() => seen,
        Ok(seen) if seen.is_symlink() => return Some("it is a link".into()),
        Ok(_) => return Some("it is not a folder".into()),
        Err(e) => return Some(e.to_string()),
    };
    foreign(&seen).or_else(|| {
        // Who may rename a folder above puts another in its place between two looks.
        let open = folder.ancestors().skip(1).find(|above| {
            fs::metadata(above)
                .is_ok_and(|m| m.mode() & (WRITABLE_BY_ALL | STICKY) == WRITABLE_BY_ALL)
        });
        open.map(|above| format!("anybody can replace what is in {}", above.display()))
    })
}

/// The text of a regular file that this account owns and nobody else can write; why it is none, else.
pub(crate) fn text(path: &Path) -> Result<String, String> {
    let (mut file, seen) = opened(path)?;
    if let Some(reason) = foreign(&seen) {
        return Err(reason);
    }
    // A hard link to a file of ours, made by somebody else elsewhere.
    if seen.nlink() != 1 {
        return Err("it has another name, too".into());
    }
    read(&mut file)
}

/// The text of a regular file, whoever owns it: a server writes under an account of its own.
pub(crate) fn text_of_server(path: &Path) -> Option<String> {
    let (mut file, _) = opened(path).ok()?;
    read(&mut file).ok()
}

/// Opens a regular file without following a link and without waiting for a pipe's other end.
fn opened(path: &Path) -> Result<(File, Metadata), String> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
        .map_err(|e| match e.raw_os_error() {
            Some(libc::ELOOP) => "it is a link".into(),
            _ => e.to_string(),
        })?;
    let seen = file.metadata().map_err(|e| e.to_string())?;
    match seen.is_file() {
        true => Ok((file, seen)),
        false => Err("it is not a regular file".into()),
    }
}

fn read(file: &mut File) -> Result<String, String> {
    let mut text = String::new();
    let read = file.take(LONGEST + 1).read_to_string(&mut text);
    match read {
        Ok(bytes) if bytes as u64 <= LONGEST => Ok(text),
        Ok(_) => Err(format!("it is larger than {LONGEST} bytes")),
        Err(e) => Err(e.to_string()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::process::Command;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn only_a_plain_file_of_this_account_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "ours").unwrap();
        mode(&file, 0o600);
        assert_eq!(text(&file).unwrap(), "ours");
        for others in [0o620, 0o602, 0o666] {
            mode(&file, others);
            let reason = text(&file).unwrap_err();
            assert!(
                reason.contains("others can write to it (mode 06"),
                "{reason}"
            );
        }
        mode(&file, 0o644);
        let link = dir.path().join("link");
        symlink(&file, &link).unwrap();
        assert_eq!(text(&link).unwrap_err(), "it is a link");
        assert_eq!(text_of_server(&link), None);
        fs::hard_link(&file, dir.path().join("hard")).unwrap();
        assert_eq!(text(&file).unwrap_err(), "it has another name, too");
        let pipe = dir.path().join("pipe");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(text(&pipe).unwrap_err(), "it is not a regular file");
        assert_eq!(text_of_server(&pipe), None);
        assert_eq!(
            text(Path::new("/dev/zero")).unwrap_err(),
            "it is not a regular file"
        );
        let long = dir.path().join("long");
        fs::write(&long, vec![b'x'; LONGEST as usize + 1]).unwrap();
        mode(&long, 0o600);
        assert_eq!(
            text(&long).unwrap_err(),
            format!("it is larger than {LONGEST} bytes")
        );
        if own_uid() == Some(0) {
            fs::write(pipe.with_extension("x"), "theirs").unwrap();
            chown(pipe.with_extension("x"), Some(65534), None).unwrap();
            let reason = text(&pipe.with_extension("x")).unwrap_err();
            assert_eq!(reason, "it belongs to user id 65534, not to 0");
        }
    }

    #[test]
    fn only_a_folder_that_nobody_else_can_write_or_replace_is_ours() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a");
        fs::create_dir(&folder).unwrap();
        mode(&folder, 0o711);
        assert_eq!(foreign_folder(&folder), None);
        for others in [0o731, 0o713] {
            mode(&folder, others);
            assert!(
                foreign_folder(&folder)
                    .unwrap()
                    .contains("others can write")
            );
        }
        mode(&folder, 0o755);
        let link = dir.path().join("link");
        symlink(&folder, &link).unwrap();
        assert_eq!(foreign_folder(&link).unwrap(), "it is a link");
        mode(dir.path(), 0o777);
        assert!(
            foreign_folder(&folder)
                .unwrap()
                .contains("anybody can replace")
        );
        mode(dir.path(), 0o1777);
        assert_eq!(foreign_folder(&folder), None, "as in /tmp");
        if own_uid() == Some(0) {
            chown(&folder, Some(65534), None).unwrap();
            assert!(foreign_folder(&folder).unwrap().contains("user id 65534"));
        }
    }
}
