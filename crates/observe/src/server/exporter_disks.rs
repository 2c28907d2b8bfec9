//! The disk under a remote server's data, as node_exporter's collectors `filesystem` and `diskstats` have it.

use super::exposition::lines;
use super::node_exporter::ask;
use crate::disk::HostExporter;
use std::path::Path;
use tidemark_core::record::Disk;

/// The disk that holds a folder of the exporter's host; none where the exporter does not answer in time, or
/// knows no file system there.
pub(crate) fn exporter_disks(exporter: &HostExporter, folder: &str) -> Vec<Disk> {
    let collectors = ["diskstats", "filesystem"];
    let told = ask(&exporter.url, &exporter.access, &collectors).ok();
    let disk = told.and_then(|(_, text)| disk_under(&text, folder));
    Vec::from_iter(disk)
}

/// The disk of the file system that is mounted nearest above a folder.
fn disk_under(text: &str, folder: &str) -> Option<Disk> {
    let mounts = lines(text).filter(|line| line.name == "node_filesystem_size_bytes");
    let (_, device, file_system) = mounts
        .filter_map(|line| {
            let point = line.label("mountpoint")?;
            let is_above = Path::new(folder).starts_with(&point);
            is_above.then_some((point.len(), line.label("device")?, line.label("fstype")?))
        })
        .max_by_key(|(length, ..)| *length)?;
    let mut disk = Disk {
        file_system,
        holds: folder.into(),
        ..Disk::default()
    };
    // A partition's name begins with its disk's; a volume has a name of its own.
    let partition = device.strip_prefix("/dev/").unwrap_or_default();
    let disks = lines(text).filter(|line| line.name == "node_disk_info");
    let found = disks
        .filter_map(|line| Some((line.label("device")?, line)))
        .filter(|(name, _)| is_of(partition, name))
        .max_by_key(|(name, _)| name.len());
    if let Some((name, line)) = found {
        disk.model = line.label("model").unwrap_or_default().trim().into();
        disk.rotational = match line.label("rotational").as_deref() {
            Some("1") => Some(true),
            Some("0") => Some(false),
            _ => None,
        };
        disk.device = name;
    }
    Some(disk)
}

/// Whether a device is a disk or a partition of it: `sda1` of `sda`, `nvme0n1p2` of `nvme0n1`.
fn is_of(partition: &str, disk: &str) -> bool {
    let ends_with_digit = disk.ends_with(|c: char| c.is_ascii_digit());
    let Some(rest) = partition.strip_prefix(disk).filter(|_| !disk.is_empty()) else {
        return false;
    };
    let number = match ends_with_digit {
        true => rest.strip_prefix('p').unwrap_or(rest),
        false => rest,
    };
    let is_number = !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit());
    rest.is_empty() || is_number && (!ends_with_digit || rest.starts_with('p'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Lines as node_exporter 1.9 has them.
    const TEXT: &str = r#"
node_disk_info{device="nvme0n1",major="259",minor="0",model="SAMSUNG MZQL23T8HCLS-00A07 ",path="pci-0000:01:00.0-nvme-1",revision="",rotational="0",serial="S64HNG0",wwn=""} 1
node_disk_info{device="nvme0n10",major="259",minor="9",model="OTHER",rotational="1"} 1
node_disk_info{device="sda",major="8",minor="0",model="ST4000NM",rotational="1"} 1
node_filesystem_size_bytes{device="/dev/sda2",device_error="",fstype="ext4",mountpoint="/"} 1e+11
node_filesystem_size_bytes{device="/dev/nvme0n1p3",device_error="",fstype="xfs",mountpoint="/var/lib/mysql"} 3e+12
node_filesystem_size_bytes{device="/dev/mapper/vg-data",device_error="",fstype="xfs",mountpoint="/data"} 3e+12
node_filesystem_size_bytes{device="tmpfs",device_error="",fstype="tmpfs",mountpoint="/run"} 1e+9
"#;

    #[test]
    fn the_nearest_file_system_leads_to_its_disk() {
        let of = |folder: &str| disk_under(TEXT, folder).unwrap();
        let data = of("/var/lib/mysql/");
        assert_eq!(
            (data.device.as_str(), data.model.as_str(), data.rotational),
            ("nvme0n1", "SAMSUNG MZQL23T8HCLS-00A07", Some(false))
        );
        assert_eq!(
            (data.file_system.as_str(), data.holds.as_str()),
            ("xfs", "/var/lib/mysql/")
        );
        let root = of("/var/lib/mysql-files");
        assert_eq!((root.device.as_str(), root.rotational), ("sda", Some(true)));
        // What a volume is made of is not told.
        let volume = of("/data/pg");
        assert_eq!(
            (volume.device.as_str(), volume.file_system.as_str()),
            ("", "xfs")
        );
        assert_eq!(disk_under("node_load1 1\n", "/data"), None);
    }

    #[test]
    fn partitions_are_of_their_disk_alone() {
        for (partition, disk, wanted) in [
            ("sda1", "sda", true),
            ("sda", "sda", true),
            ("nvme0n1p2", "nvme0n1", true),
            ("nvme0n10p1", "nvme0n1", false),
            ("nvme0n10", "nvme0n1", false),
            ("sdaa1", "sda", false),
            ("md127", "", false),
            ("dm-0", "dm-0", true),
        ] {
            assert_eq!(is_of(partition, disk), wanted, "{partition} {disk}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_disk_or_none(text in "(node_(disk_info|filesystem_size_bytes)\\{[a-z=\"/,0-9]{0,40}\\} 1\n){0,4}", folder in "[/a-z]{0,12}") {
            let _either = disk_under(&text, &folder);
        }
    }
}
