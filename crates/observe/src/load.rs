//! What the machine that makes the load has to do, from one look to the next.

use crate::usage::{Usage, usage};
use std::time::Instant;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};
use tidemark_core::record::ClientUsage;

/// What the client host and the process had to do between two looks; what the system does not tell
/// is zero.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClientLoad {
    /// Share of the machine's processors that was busy, 0 to 1, with whatever ran there.
    pub cpu_busy: f64,
    /// Processors that this process kept busy with its work, as `0.7` or `1.9`.
    pub process_cpus: f64,
    /// Processors that it kept busy beside that to stay awake for arrivals.
    pub awake_cpus: f64,
    /// Runnable tasks on average over the last minute.
    pub load_average: f64,
    /// Memory in use, in bytes.
    pub memory_used_bytes: u64,
}

/// Looks at the machine every now and then. Each look reads two or three small files.
#[derive(Debug)]
pub struct HostSampler {
    /// `None` where the system tells nothing.
    system: Option<System>,
    usage: Usage,
    at: Instant,
}

impl Default for HostSampler {
    fn default() -> Self {
        Self::new()
    }
}

impl HostSampler {
    /// Begins: loads count from here.
    pub fn new() -> Self {
        let system = System::new_with_specifics(
            RefreshKind::nothing()
                .with_cpu(CpuRefreshKind::nothing().with_usage())
                .with_memory(MemoryRefreshKind::nothing().with_ram()),
        );
        Self {
            system: system.ok(),
            usage: usage(),
            at: Instant::now(),
        }
    }

    /// What the process has used since the last look, and how busy its host was meanwhile.
    pub fn usage(&mut self) -> ClientUsage {
        let (before, since) = (self.usage, self.at);
        let load = self.sample();
        ClientUsage {
            seconds: Some((self.at - since).as_secs_f64()),
            host_busy: self.system.is_some().then_some(load.cpu_busy),
            ..self.usage.since(&before)
        }
    }

    /// What there was to do since the last look; a fifth of a second between two makes sense.
    pub fn sample(&mut self) -> ClientLoad {
        let (used, now) = (usage(), Instant::now());
        let spent = used.since(&self.usage);
        let seconds = (now - self.at).as_secs_f64().max(1e-3);
        (self.usage, self.at) = (used, now);
        let mut load = ClientLoad {
            process_cpus: spent.work_s() / seconds,
            awake_cpus: spent.cpu_awake_s / seconds,
            load_average: System::load_average().map_or(0.0, |average| average.one),
            ..ClientLoad::default()
        };
        if let Some(system) = &mut self.system {
            system.refresh_cpu_usage();
            system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
            load.cpu_busy = f64::from(system.global_cpu_usage() / 100.0).clamp(0.0, 1.0);
            load.memory_used_bytes = system.used_memory();
        }
        load
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_busy_thread_is_seen_in_the_process_and_on_the_machine() {
        let mut sampler = HostSampler::new();
        let start = Instant::now();
        let mut x = 1u64;
        while start.elapsed() < Duration::from_millis(400) {
            x = std::hint::black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
        let load = sampler.sample();
        // The machine may be busy with other things, and other tests of this process run beside.
        assert!(
            load.process_cpus > 0.0 && load.process_cpus < 1024.0,
            "{load:?}"
        );
        assert!(load.cpu_busy > 0.0 && load.cpu_busy <= 1.0, "{load:?}");
        assert!(load.memory_used_bytes > 16 << 20, "{load:?}");
    }
}
