//! The machine that makes the load.

use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};
use tidemark_core::record::ClientHost;

/// Describes this machine as the process sees it: cores that affinity and CPU quotas leave it, and
/// memory that a control group leaves it. What the system does not tell is empty or zero.
pub fn client_host() -> ClientHost {
    let system = System::new_with_specifics(
        RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram()),
    )
    .ok();
    ClientHost {
        hostname: System::host_name().unwrap_or_default(),
        os: operating_system(),
        kernel: System::kernel_version().unwrap_or_default(),
        cpu_model: cpu_model(system.as_ref()),
        cores: std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        memory_bytes: system.as_ref().map_or(0, memory),
    }
}

/// `Debian GNU/Linux 12`, `macOS 15.1.1`.
fn operating_system() -> String {
    let name = System::name().unwrap_or_default();
    let version = System::os_version().unwrap_or_default();
    let both = format!("{name} {version}").trim().to_string();
    if both.is_empty() {
        std::env::consts::OS.to_string()
    } else {
        both
    }
}

/// The first core's name; some ARM systems name none, then the architecture has to do.
fn cpu_model(system: Option<&System>) -> String {
    let brand = system
        .and_then(|s| s.cpus().first())
        .map_or("", |cpu| cpu.brand().trim());
    if brand.is_empty() {
        System::cpu_arch()
    } else {
        brand.to_string()
    }
}

/// A control group without a limit reports the machine's memory or an absurdly large number.
fn memory(system: &System) -> u64 {
    let machine = system.total_memory();
    match system.cgroup_limits().map_or(0, |l| l.total_memory) {
        0 => machine,
        limit => limit.min(machine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_described() {
        let host = client_host();
        assert!(!host.os.is_empty(), "{host:?}");
        assert!(!host.kernel.is_empty(), "{host:?}");
        assert!(!host.cpu_model.is_empty(), "{host:?}");
        assert!(host.cores >= 1, "{host:?}");
        // Less than 16 MiB or more than 64 TiB means a wrong unit.
        assert!(
            (16 << 20..=64u64 << 40).contains(&host.memory_bytes),
            "{host:?}"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_kernel_agrees_on_release_and_memory() {
        let host = client_host();
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        assert_eq!(host.kernel, release.trim());
        let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap();
        let kib: u64 = meminfo
            .lines()
            .find_map(|l| l.strip_prefix("MemTotal:"))
            .and_then(|v| v.trim().trim_end_matches(" kB").parse().ok())
            .unwrap();
        assert!(host.memory_bytes <= kib * 1024);
    }
}
