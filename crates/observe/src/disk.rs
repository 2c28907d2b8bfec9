//! The disks that hold a server's data: model, kind, scheduler, as sysfs has them, or the node_exporter of
//! a host elsewhere.

use crate::server::{EndpointAccess, exporter_disks};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tidemark_core::record::Disk;
use tidemark_core::{Engine, Observe, Target};
use tidemark_drivers::Session;

/// The node_exporter of a database's host, where the user named one.
#[derive(Debug, Clone)]
pub struct HostExporter {
    /// Its address, as `--observe-host` has it.
    pub url: String,
    /// What it wants to be read.
    pub access: EndpointAccess,
}

/// The disks of the folder that a server says it keeps its data in, as this host has them or its own
/// host's exporter; none where it does not say, or says it of another file system, as one in a container
/// does.
pub async fn data_disks(
    session: &mut Session,
    target: &Target,
    observe: &Observe,
    on_client: Option<bool>,
    exporter: Option<&HostExporter>,
) -> Vec<Disk> {
    let is_here = on_client == Some(true);
    let sql = match session.server().engine {
        _ if *observe == Observe::Off => return Vec::new(),
        Engine::Sqlite => return disks_of(Path::new(&target.database)),
        _ if !is_here && exporter.is_none() => return Vec::new(),
        Engine::Mariadb | Engine::Mysql => "SELECT @@datadir",
        Engine::Postgres => "SELECT current_setting('data_directory')",
        _ => return Vec::new(),
    };
    let said = session.query(sql).await.ok();
    let folder = said.and_then(|rows| rows.text(0, 0));
    match (folder, exporter) {
        (Some(folder), _) if is_here => disks_of(Path::new(&folder)),
        (Some(folder), Some(exporter)) => exporter_disks(exporter, &folder),
        _ => Vec::new(),
    }
}

/// The disks that hold a file or folder.
pub fn disks_of(path: &Path) -> Vec<Disk> {
    let Ok(path) = path.canonicalize() else {
        return Vec::new();
    };
    let Ok(known) = fs::metadata(&path) else {
        return Vec::new();
    };
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mount = mounted(&mounts, &path);
    let number = format!(
        "{}:{}",
        nix::sys::stat::major(known.dev()),
        nix::sys::stat::minor(known.dev())
    );
    let by_number = fs::canonicalize(format!("/sys/dev/block/{number}")).ok();
    // A file system of several disks has a number of its own, and is mounted by one of them.
    let by_name = || {
        let name = mount.as_ref()?.source.strip_prefix("/dev/")?;
        fs::canonicalize(format!("/sys/class/block/{name}")).ok()
    };
    let mut found = Vec::new();
    if let Some(device) = by_number.or_else(by_name) {
        physical(&device, 0, &mut found);
    }
    let file_system = mount.map(|mount| mount.kind).unwrap_or_default();
    let holds = path.display().to_string();
    if found.is_empty() {
        // In memory, on a network, in layers.
        return Vec::from_iter((!file_system.is_empty()).then(|| Disk {
            file_system,
            holds,
            ..Disk::default()
        }));
    }
    let disk = |device: PathBuf| Disk {
        file_system: file_system.clone(),
        holds: holds.clone(),
        ..described(&device)
    };
    found.into_iter().map(disk).collect()
}

/// The disks under a device: what a partition is of, and what a volume is made of.
fn physical(device: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    let whole = match device.join("partition").exists() {
        true => device.parent().unwrap_or(device),
        false => device,
    };
    let under = fs::read_dir(whole.join("slaves")).into_iter().flatten();
    let under: Vec<PathBuf> = under
        .flatten()
        .filter_map(|entry| entry.path().canonicalize().ok())
        .collect();
    if under.is_empty() || depth > 4 {
        if !found.iter().any(|known| known == whole) {
            found.push(whole.into());
        }
        return;
    }
    for device in under {
        physical(&device, depth + 1, found);
    }
}

/// What sysfs tells of a disk (Documentation/ABI/stable/sysfs-block).
fn described(device: &Path) -> Disk {
    let read = |file: &str| {
        let text = fs::read_to_string(device.join(file)).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_string())
    };
    let name = device.file_name().unwrap_or_default();
    let rotational = read("queue/rotational").map(|said| said == "1");
    Disk {
        device: name.to_string_lossy().into_owned(),
        model: read("device/model").unwrap_or_default(),
        rotational,
        scheduler: read("queue/scheduler").map_or_else(String::new, |all| chosen(&all)),
        size_bytes: read("size")
            .and_then(|sectors| sectors.parse::<u64>().ok())
            .map(|sectors| sectors.saturating_mul(512)),
        ..Disk::default()
    }
}

/// Of several schedulers the one in brackets.
fn chosen(schedulers: &str) -> String {
    let words = schedulers.split_whitespace();
    let mut chosen = words.filter_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    chosen.next().unwrap_or(schedulers).to_string()
}

/// How a path's file system is mounted.
struct Mount {
    kind: String,
    source: String,
}

/// The last mount of the longest folder above a path (proc_pid_mountinfo(5)).
fn mounted(mounts: &str, path: &Path) -> Option<Mount> {
    let all = mounts.lines().filter_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let place = before.split(' ').nth(4)?.replace("\\040", " ");
        let mut after = after.split(' ');
        let mount = Mount {
            kind: after.next()?.into(),
            source: after.next()?.into(),
        };
        path.starts_with(&place).then_some((place.len(), mount))
    });
    all.max_by_key(|(length, _)| *length)
        .map(|(_, mount)| mount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_on_the_longest_mount_above_it() {
        let mounts = "27 1 254:0 / / rw - ext4 /dev/vda rw\n\
                      30 27 0:30 / /srv/my\\040data rw,noatime shared:1 - btrfs /dev/sdb1 rw\n\
                      31 27 0:31 / /srv/my rw - tmpfs tmpfs rw\n";
        let on = |path: &str| mounted(mounts, Path::new(path)).map(|m| (m.kind, m.source));
        let is = |kind: &str, source: &str| Some((kind.to_string(), source.to_string()));
        assert_eq!(on("/srv/my data/db"), is("btrfs", "/dev/sdb1"));
        assert_eq!(on("/srv/my/db"), is("tmpfs", "tmpfs"));
        assert_eq!(on("/var/lib"), is("ext4", "/dev/vda"));
        assert_eq!(mounted("", Path::new("/")).map(|m| m.kind), None);
    }

    #[test]
    fn partitions_and_volumes_lead_to_their_disks() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("sda/queue/rotational", "1\n");
        put("sda/queue/scheduler", "none [mq-deadline] bfq\n");
        put("sda/device/model", "SOME DISK   \n");
        put("sda/size", "2048\n");
        put("sda/sda2/partition", "2\n");
        put("nvme0n1/queue/rotational", "0\n");
        put("nvme0n1/queue/scheduler", "[none]\n");
        fs::create_dir_all(root.join("dm-0/slaves")).unwrap();
        for under in ["sda/sda2", "nvme0n1"] {
            let name = under.rsplit('/').next().unwrap();
            std::os::unix::fs::symlink(root.join(under), root.join("dm-0/slaves").join(name))
                .unwrap();
        }
        let mut found = Vec::new();
        physical(&root.join("dm-0"), 0, &mut found);
        found.sort();
        let disks: Vec<Disk> = found.iter().map(|device| described(device)).collect();
        assert_eq!(disks.len(), 2);
        assert_eq!(
            (disks[0].device.as_str(), disks[0].rotational),
            ("nvme0n1", Some(false))
        );
        assert_eq!(disks[0].scheduler, "none");
        assert_eq!(disks[1].model, "SOME DISK");
        assert_eq!(disks[1].scheduler, "mq-deadline");
        assert_eq!(
            (disks[1].rotational, disks[1].size_bytes),
            (Some(true), Some(1 << 20))
        );
    }

    #[test]
    fn this_files_own_place_is_told() {
        let all = disks_of(Path::new(env!("CARGO_MANIFEST_DIR")));
        assert!(all.iter().all(|disk| !disk.holds.is_empty()), "{all:?}");
        assert!(disks_of(Path::new("/no/such/folder")).is_empty());
    }
}
