//! Finding the process of a server that runs on this host.

use std::fs;
use std::path::Path;
use tidemark_core::Host;

/// What servers' programs are called; `comm` has fifteen characters of it (proc(5)).
const PROGRAMS: [&str; 4] = ["mariadbd", "mysqld", "postgres", "postmaster"];

/// The root of a server's processes, found by a process or thread that the server says serves a session.
/// One in a container has other numbers, and is not found so.
pub(super) fn by_task(task: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{task}/status")).ok()?;
    let number = |name: &str| -> Option<u32> {
        let line = status.lines().find_map(|l| l.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    let process = number("Tgid:")?;
    let program = program(process)?;
    match program.starts_with("post") {
        // A backend's parent is the postmaster.
        true => number("PPid:").filter(|parent| self::program(*parent).is_some()),
        false => Some(process),
    }
}

/// The same by the socket that it listens at.
///
/// # Errors
/// None: without the right to see other processes' files nothing is found.
pub(super) fn by_socket(host: &Host) -> Option<u32> {
    let inodes: Vec<u64> = match host {
        Host::Tcp { port, .. } => ["/proc/net/tcp", "/proc/net/tcp6"]
            .iter()
            .filter_map(|file| fs::read_to_string(file).ok())
            .flat_map(|text| listening(&text, *port))
            .collect(),
        Host::Unix(path) => {
            let text = fs::read_to_string("/proc/net/unix").ok()?;
            bound(&text, path).into_iter().collect()
        }
    };
    let sockets: Vec<String> = inodes
        .iter()
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    if sockets.is_empty() {
        return None;
    }
    let holders = processes().filter(|process| program(*process).is_some());
    // The root of a server's processes is the oldest that has its socket.
    holders.filter(|process| has_one(*process, &sockets)).min()
}

/// A server's program; of others `None`.
fn program(process: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    let name = name.trim();
    PROGRAMS.contains(&name).then(|| name.to_string())
}

/// Every process of this host.
pub(super) fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn has_one(process: u32, sockets: &[String]) -> bool {
    let Ok(files) = fs::read_dir(format!("/proc/{process}/fd")) else {
        return false;
    };
    files
        .flatten()
        .filter_map(|file| fs::read_link(file.path()).ok())
        .any(|link| sockets.iter().any(|s| link == Path::new(s)))
}

/// Inodes of the sockets that listen at a port (proc_net_tcp: local address, state 0A, inode).
fn listening(text: &str, port: u16) -> Vec<u64> {
    let wanted = format!(":{port:04X}");
    let lines = text.lines().skip(1).filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let local = words.nth(1)?;
        let state = words.nth(1)?;
        let inode = words.nth(5)?;
        (local.ends_with(&wanted) && state == "0A").then(|| inode.parse().ok())?
    });
    lines.collect()
}

/// The inode of the socket that listens at a path.
fn bound(text: &str, path: &Path) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        // Flag 10000 is __SO_ACCEPTCON: it listens.
        let listens = words.nth(3)? == "00010000";
        let inode = words.nth(2)?.parse().ok()?;
        (listens && Path::new(words.next()?) == path).then_some(inode)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_sockets_are_found_by_port_and_path() {
        let tcp = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                   0: 0100007F:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000   103        0 4711 1 0\n   \
                   1: 0100007F:0CEA 0100007F:9999 01 00000000:00000000 00:00000000 00000000   103        0 4712 1 0\n";
        assert_eq!(listening(tcp, 3306), [4711]);
        assert!(listening(tcp, 3307).is_empty());
        let unix = "Num       RefCount Protocol Flags    Type St Inode Path\n\
                    0: 00000002 00000000 00010000 0001 01 77 /run/db.sock\n\
                    0: 00000003 00000000 00000000 0001 03 78 /run/db.sock\n";
        assert_eq!(bound(unix, Path::new("/run/db.sock")), Some(77));
        assert_eq!(bound(unix, Path::new("/run/other")), None);
    }

    #[test]
    fn what_is_no_server_is_none() {
        assert_eq!(by_task(std::process::id()), None);
        assert_eq!(by_task(u32::MAX), None);
    }
}
