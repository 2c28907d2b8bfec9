//! Folders that a sandbox may have: new ones, and empty ones.

use crate::programs::Account;
use crate::{Error, holder, marker, ownership};
use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What a sandbox puts into its folder; anything else in it is somebody's.
pub(crate) const OWN: [&str; 5] = ["server", "server.log", holder::FOLDER, marker::FILE, PART];
const PART: &str = "tidemark-sandbox.json.part";

/// Where a system keeps what is its own.
const OF_THE_SYSTEM: [&str; 9] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/proc", "/sbin", "/sys", "/var/lib",
];

/// Makes a temporary folder for a sandbox of this name.
pub(crate) fn temporary(name: &str) -> Result<PathBuf, Error> {
    let short: String = name.chars().take(20).collect();
    let folder = tempfile::Builder::new()
        .prefix(&format!("tidemark-{short}-"))
        // The server's account must pass through; what is inside is closed.
        .permissions(Permissions::from_mode(0o711))
        .tempdir()
        .map_err(Error::io("making a temporary folder"))?
        .keep();
    absolute(&folder)
}

/// Takes the folder asked for; whether it was made.
pub(crate) fn asked(folder: &Path) -> Result<(PathBuf, bool), Error> {
    let refused = |reason: String| {
        Err(Error::Folder {
            folder: folder.into(),
            reason,
        })
    };
    match fs::symlink_metadata(folder) {
        Ok(there) if !there.is_dir() => return refused("it is not a folder".into()),
        Ok(_) => {
            let folder = absolute(folder)?;
            of_nobody_else(&folder)?;
            if let Some(reason) = ownership::foreign_folder(&folder) {
                return refused(reason);
            }
            let mut entries = fs::read_dir(&folder)
                .map_err(Error::io(format!("reading {}", folder.display())))?;
            if entries.next().is_some() {
                return refused("it is not empty and was not touched".into());
            }
            return Ok((folder, false));
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return refused(e.to_string()),
    }
    let name = folder.file_name();
    let parent = folder.parent().map(|p| {
        if p.as_os_str().is_empty() {
            Path::new(".")
        } else {
            p
        }
    });
    let (Some(name), Some(parent)) = (name, parent.filter(|p| p.is_dir())) else {
        return refused("its parent folder does not exist".into());
    };
    let folder = absolute(parent)?.join(name);
    of_nobody_else(&folder)?;
    DirBuilder::new()
        .mode(0o711)
        .create(&folder)
        .map_err(Error::io(format!("making {}", folder.display())))?;
    if let Some(reason) = ownership::foreign_folder(&folder) {
        let _ = fs::remove_dir(&folder);
        return refused(reason);
    }
    Ok((folder, true))
}

fn absolute(path: &Path) -> Result<PathBuf, Error> {
    fs::canonicalize(path).map_err(Error::io(format!("looking at {}", path.display())))
}

fn of_nobody_else(folder: &Path) -> Result<(), Error> {
    match OF_THE_SYSTEM.iter().find(|own| folder.starts_with(own)) {
        Some(own) => Err(Error::Folder {
            folder: folder.into(),
            reason: format!("{own} is the system's own"),
        }),
        None => Ok(()),
    }
}

/// Whether the server's account can get there and a socket's path is short enough.
pub(crate) fn usable(folder: &Path, account: Option<Account>) -> Result<(), Error> {
    // unix(7): 108 bytes with the zero at the end.
    const LONGEST: usize = 107;
    let refused = |reason: String| {
        Err(Error::Folder {
            folder: folder.into(),
            reason,
        })
    };
    let socket = folder.join("server/.s.PGSQL.65535");
    if socket.as_os_str().len() > LONGEST {
        return refused("its path is too long for a Unix socket".into());
    }
    let Some(account) = account else {
        return Ok(());
    };
    for above in folder.ancestors() {
        let seen =
            fs::metadata(above).map_err(Error::io(format!("looking at {}", above.display())))?;
        if seen.mode() & 0o001 == 0 && seen.uid() != account.uid {
            let reason = format!(
                "the account that the server runs as (user id {}) can't pass {}",
                account.uid,
                above.display()
            );
            return refused(reason);
        }
    }
    Ok(())
}

/// Removes what a sandbox put into its folder, and the folder if that was made for it and nothing
/// else is in it. What was left: names of files that are somebody's.
pub(crate) fn remove(folder: &Path, made_folder: bool) -> Result<Vec<String>, Error> {
    let failed = |path: &Path| Error::io(format!("removing {}", path.display()));
    for name in OWN {
        let path = folder.join(name);
        // A link is removed, and never followed.
        let removed = match fs::symlink_metadata(&path) {
            Ok(there) if there.is_dir() => fs::remove_dir_all(&path),
            Ok(_) => fs::remove_file(&path),
            Err(_) => continue,
        };
        removed.map_err(failed(&path))?;
    }
    let left: Vec<String> = fs::read_dir(folder)
        .map(|entries| {
            let names = entries.flatten().map(|e| e.file_name());
            names.map(|n| n.to_string_lossy().into_owned()).collect()
        })
        .unwrap_or_default();
    if made_folder && left.is_empty() && folder.exists() {
        fs::remove_dir(folder).map_err(failed(folder))?;
    }
    Ok(left)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_new_and_empty_folders_are_taken() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let (taken, made) = asked(&root.join("new")).unwrap();
        assert_eq!((taken.clone(), made), (root.join("new"), true));
        let (_, made) = asked(&taken).unwrap();
        assert!(!made);
        fs::write(taken.join("diary.txt"), "mine").unwrap();
        let file = root.join("file");
        fs::write(&file, "").unwrap();
        let link = root.join("link");
        std::os::unix::fs::symlink(&taken, &link).unwrap();
        for (folder, reason) in [
            (taken.clone(), "not empty"),
            (file, "it is not a folder"),
            (link, "it is not a folder"),
            (root.join("a/b"), "its parent folder does not exist"),
            ("/var/lib/tidemark-none".into(), "/var/lib"),
            ("/etc/../etc/none".into(), "/etc"),
        ] {
            let text = asked(&folder).unwrap_err().to_string();
            assert!(text.contains(reason), "{text}");
            assert!(text.contains("--dir"), "{text}");
        }
        assert!(!Path::new("/var/lib/tidemark-none").exists());
        for (open, made) in [("shared", true), ("shared/new", false)] {
            let folder = root.join(open);
            if made {
                fs::create_dir(&folder).unwrap();
                fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
            }
            let text = asked(&folder).unwrap_err().to_string();
            assert!(
                text.contains("others can write") || text.contains("anybody"),
                "{text}"
            );
            assert_eq!(folder.exists(), made);
        }
    }

    #[test]
    fn what_is_somebodys_stays() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("box");
        let elsewhere = dir.path().join("elsewhere");
        for made in [&folder, &elsewhere, &folder.join("server")] {
            fs::create_dir(made).unwrap();
        }
        fs::write(folder.join("server/data"), "x").unwrap();
        fs::write(folder.join("notes.txt"), "mine").unwrap();
        fs::write(elsewhere.join("kept"), "mine").unwrap();
        std::os::unix::fs::symlink(&elsewhere, folder.join("server/link")).unwrap();
        assert_eq!(remove(&folder, true).unwrap(), ["notes.txt"]);
        assert!(!folder.join("server").exists());
        assert!(folder.join("notes.txt").exists() && elsewhere.join("kept").exists());
        fs::remove_file(folder.join("notes.txt")).unwrap();
        assert!(remove(&folder, false).unwrap().is_empty());
        assert!(folder.exists(), "it was not made by us");
        assert!(remove(&folder, true).unwrap().is_empty());
        assert!(!folder.exists());
        assert!(remove(&folder, true).unwrap().is_empty(), "gone already");
    }

    #[test]
    fn a_path_too_long_for_a_socket_is_refused_before_anything_starts() {
        let long = PathBuf::from(format!("/tmp/{}", "x".repeat(90)));
        let text = usable(&long, None).unwrap_err().to_string();
        assert!(text.contains("too long"), "{text}");
        usable(Path::new("/tmp"), None).unwrap();
    }
}
