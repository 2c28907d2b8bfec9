//! What this host does to a run: the client's, and the database's where that is local.

use super::basics::KnownTarget;
use super::told::{Area, CheckLevel, Teller};
use crate::diagnose::client_cpu::may_use;
use crate::diagnose::ping::pings;
use crate::texts::doctor_host as texts;
use std::time::Duration;
use tidemark_core::{Host, Protocol};
use tidemark_diagnosis::thresholds::{DISTANT_MS, OTHERS_CORES, OTHERS_SHARE};
use tidemark_drivers::Connector;
use tidemark_observe::HostCondition;
use tidemark_report::Lang;
use tidemark_runtime::raise_open_files;

/// Clock sources that are read without a system call (Linux: `arch/*/entry/vdso`).
const FAST_CLOCKS: [&str; 4] = [
    "tsc",
    "kvm-clock",
    "arch_sys_counter",
    "hyperv_clocksource_tsc_page",
];
/// Percent of ten seconds in which tasks waited for memory, above which a cache is too large.
const MEMORY_STALL: f64 = 1.0;
/// Share of memory that must be available.
const MEMORY_LEFT: f64 = 0.05;
/// Sessions that the files must be enough for; of a thousand a benchmark is no rarity.
const SESSIONS: u64 = 1000;
/// Files that are open beside the sessions' sockets, with some room.
const OTHER_FILES: u64 = 64;
/// Fewer ports are gone within a minute at two hundred new sessions a second.
const PORTS: u64 = 12_000;
/// Seconds for which a closed connection keeps its port (Linux: `TCP_TIMEWAIT_LEN`).
const TIME_WAIT_S: u64 = 60;
/// Shares of stolen time to be known, and that spoil a run: neighbours then show in each second.
const STOLEN: [f64; 2] = [0.01, 0.05];
/// So many round trips are timed, in this time at most.
const PINGS: usize = 200;
const LONGEST_PINGS: Duration = Duration::from_secs(5);
/// How far the 99th percentile may be from the median, as its multiple and in milliseconds.
const JITTER: f64 = 5.0;
const JITTER_MS: f64 = 1.0;

/// What is found of one thing.
type HostFinding = (&'static str, CheckLevel, String);

/// Tells of each thing that would spoil a run.
pub fn examine(
    condition: &HostCondition,
    connector: &Connector,
    known: &KnownTarget,
    teller: &Teller,
) {
    let tell =
        |(check, level, says): HostFinding| teller.tell(Area::Conditions, level, check, &says);
    let lang = teller.lang;
    of_host(condition, lang).into_iter().for_each(tell);
    tell(open_files(raise_open_files(), lang));
    let mut hosts = connector.hosts().iter();
    let is_tcp = hosts.any(|(host, _)| matches!(host, Host::Tcp { .. }));
    if let Some(count) = condition.ports.filter(|_| is_tcp) {
        tell(ports(count, lang));
    }
    let all = condition.cores.max(1);
    tell(quota(may_use(all), all, lang));
    tell(build(lang));
    if known.on_client == Some(false) {
        tell((
            "database-host",
            CheckLevel::Note,
            texts::remote(lang).into(),
        ));
    }
    if connector.target().protocol != Protocol::Sqlite {
        match pings(connector.clone(), PINGS, LONGEST_PINGS) {
            Ok((times, _)) => tell(round_trip(&times, lang)),
            Err(error) => {
                let says = texts::no_round_trip(lang, error);
                tell(("round-trip", CheckLevel::Note, says));
            }
        }
    }
}

/// What the kernel tells.
fn of_host(host: &HostCondition, lang: Lang) -> Vec<HostFinding> {
    let mut found = vec![governor(&host.governors, lang)];
    found.extend(
        host.clock_source
            .as_deref()
            .map(|name| match FAST_CLOCKS.contains(&name) {
                true => ("clock-source", CheckLevel::Ok, texts::clock_ok(lang, name)),
                false => (
                    "clock-source",
                    CheckLevel::Warning,
                    texts::clock(lang, name),
                ),
            }),
    );
    found.extend(host.swapped_pages.map(|pages| {
        let (level, says) = match (pages, host.swap_used.unwrap_or(0)) {
            (0, 0) => (CheckLevel::Ok, texts::swap_ok(lang).into()),
            (0, used) => (CheckLevel::Note, texts::swap_used(lang, size(used))),
            (pages, _) => (CheckLevel::Warning, texts::swapping(lang, pages)),
        };
        ("swap", level, says)
    }));
    found.extend(host.others_cores.map(|cores| {
        let all = host.cores;
        let is_busy = cores > OTHERS_CORES.max(OTHERS_SHARE * all as f64);
        let cores = format_args!("{cores:.2}");
        match is_busy {
            true => (
                "other-load",
                CheckLevel::Warning,
                texts::busy(lang, cores, all),
            ),
            false => (
                "other-load",
                CheckLevel::Ok,
                texts::busy_ok(lang, cores, all),
            ),
        }
    }));
    found.extend(
        host.memory
            .map(|(all, free)| memory(all, free, host.memory_stall, lang)),
    );
    found.extend(host.stolen.map(|share| {
        let percent = format!("{:.1}", share * 100.0);
        let level = match STOLEN {
            [_, spoils] if share >= spoils => CheckLevel::Warning,
            [known, _] if share >= known => CheckLevel::Note,
            _ => CheckLevel::Ok,
        };
        let says = match level {
            CheckLevel::Ok => texts::steal_ok(lang, percent),
            _ => texts::steal(lang, percent),
        };
        ("steal", level, says)
    }));
    found
}

fn governor(governors: &[String], lang: Lang) -> HostFinding {
    let (level, says) = match governors {
        [] => (CheckLevel::Note, texts::governor_unknown(lang).into()),
        [one] if one == "performance" => (CheckLevel::Ok, texts::governor_ok(lang).into()),
        others => (
            CheckLevel::Warning,
            texts::governor(lang, others.join(", ")),
        ),
    };
    ("cpu-governor", level, says)
}

fn memory(all: u64, free: u64, stall: Option<f64>, lang: Lang) -> HostFinding {
    let is_short = (free as f64) < all as f64 * MEMORY_LEFT;
    let stalls = stall.is_some_and(|percent| percent >= MEMORY_STALL);
    let mut says = texts::memory(lang, size(free), size(all));
    if let Some(percent) = stall {
        says += &texts::memory_stall(lang, format_args!("{percent:.1}"));
    }
    match is_short || stalls {
        true => {
            says += texts::memory_short(lang);
            ("memory", CheckLevel::Warning, says)
        }
        false => ("memory", CheckLevel::Ok, says),
    }
}

fn open_files(limit: Option<u64>, lang: Lang) -> HostFinding {
    let Some(limit) = limit else {
        return (
            "open-files",
            CheckLevel::Ok,
            texts::files_unlimited(lang).into(),
        );
    };
    let sessions = limit.saturating_sub(OTHER_FILES);
    match sessions < SESSIONS {
        true => (
            "open-files",
            CheckLevel::Warning,
            texts::files(lang, limit, sessions),
        ),
        false => (
            "open-files",
            CheckLevel::Ok,
            texts::files_ok(lang, limit, sessions),
        ),
    }
}

fn ports(count: u64, lang: Lang) -> HostFinding {
    match count < PORTS {
        true => {
            let says = texts::ports(lang, count, TIME_WAIT_S, count / TIME_WAIT_S);
            ("ports", CheckLevel::Warning, says)
        }
        false => ("ports", CheckLevel::Ok, texts::ports_ok(lang, count)),
    }
}

fn quota(may_use: f64, all: usize, lang: Lang) -> HostFinding {
    match may_use < all as f64 {
        true => {
            let says = texts::quota(lang, format_args!("{may_use:.2}"), all);
            ("cpu-quota", CheckLevel::Warning, says)
        }
        false => ("cpu-quota", CheckLevel::Ok, texts::quota_ok(lang).into()),
    }
}

/// How Tidemark itself was built.
fn build(lang: Lang) -> HostFinding {
    let (level, says) = match (cfg!(debug_assertions), env!("TIDEMARK_VERSION")) {
        (true, _) => (CheckLevel::Warning, texts::debug_build(lang)),
        (_, version) if version.ends_with("+quick") => (CheckLevel::Note, texts::quick_build(lang)),
        _ => (CheckLevel::Ok, texts::build_ok(lang)),
    };
    ("client-build", level, says.into())
}

/// Of times in order.
fn round_trip(times: &[Duration], lang: Lang) -> HostFinding {
    let ms = |share: f64| {
        let at = (share * times.len() as f64).ceil() as usize;
        let time = times.get(at.saturating_sub(1)).copied();
        time.unwrap_or_default().as_secs_f64() * 1000.0
    };
    let (median, p99, max) = (ms(0.5), ms(0.99), ms(1.0));
    let shown = [median, p99, max].map(|ms| format!("{ms:.2}"));
    let [m, p, x] = &shown;
    let mut says = texts::round_trip(lang, m, p, x, times.len());
    let level = if p99 > (median * JITTER).max(median + JITTER_MS) {
        says += texts::jitter(lang);
        CheckLevel::Warning
    } else if median >= DISTANT_MS {
        says += texts::distant(lang);
        CheckLevel::Note
    } else {
        CheckLevel::Ok
    };
    ("round-trip", level, says)
}

fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = UNITS.iter().find(|(_, unit)| bytes >= *unit);
    let (name, unit) = unit.copied().unwrap_or(("B", 1));
    format!("{:.1} {name}", bytes as f64 / unit as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level_of(found: &[HostFinding], check: &str) -> Option<CheckLevel> {
        let mut all = found.iter();
        all.find(|(name, ..)| *name == check)
            .map(|(_, level, _)| *level)
    }

    fn well() -> HostCondition {
        HostCondition {
            governors: vec!["performance".into()],
            clock_source: Some("tsc".into()),
            cores: 8,
            others_cores: Some(0.5),
            stolen: Some(0.0),
            swap_used: Some(0),
            swapped_pages: Some(0),
            memory: Some((100 << 30, 50 << 30)),
            memory_stall: Some(0.0),
            ports: Some(28_232),
        }
    }

    type Change = fn(&mut HostCondition);

    #[test]
    fn each_thing_that_spoils_a_run_is_a_warning_and_the_nearest_that_does_not_is_none() {
        let found = of_host(&well(), Lang::En);
        assert!(
            found.iter().all(|(_, level, _)| *level == CheckLevel::Ok),
            "{found:?}"
        );
        let cases: &[(&str, CheckLevel, Change)] = &[
            ("cpu-governor", CheckLevel::Note, |h| h.governors.clear()),
            ("cpu-governor", CheckLevel::Warning, |h| {
                h.governors.push("powersave".into())
            }),
            ("clock-source", CheckLevel::Warning, |h| {
                h.clock_source = Some("hpet".into())
            }),
            ("clock-source", CheckLevel::Ok, |h| {
                h.clock_source = Some("kvm-clock".into())
            }),
            ("swap", CheckLevel::Note, |h| h.swap_used = Some(1 << 20)),
            ("swap", CheckLevel::Warning, |h| h.swapped_pages = Some(1)),
            ("other-load", CheckLevel::Ok, |h| h.others_cores = Some(0.8)),
            ("other-load", CheckLevel::Warning, |h| {
                h.others_cores = Some(0.81)
            }),
            ("memory", CheckLevel::Warning, |h| h.memory = Some((100, 4))),
            ("memory", CheckLevel::Warning, |h| {
                h.memory_stall = Some(1.0)
            }),
            ("memory", CheckLevel::Ok, |h| h.memory_stall = Some(0.99)),
            ("steal", CheckLevel::Note, |h| h.stolen = Some(0.02)),
            ("steal", CheckLevel::Warning, |h| h.stolen = Some(0.05)),
        ];
        for (check, level, change) in cases {
            let mut host = well();
            change(&mut host);
            let found = of_host(&host, Lang::En);
            assert_eq!(level_of(&found, check), Some(*level), "{check}: {found:?}");
        }
    }

    #[test]
    fn limits_of_the_process_are_judged() {
        let lang = Lang::En;
        assert_eq!(open_files(Some(1063), lang).1, CheckLevel::Warning);
        assert_eq!(open_files(Some(1064), lang).1, CheckLevel::Ok);
        assert_eq!(open_files(None, lang).1, CheckLevel::Ok);
        assert_eq!(ports(11_999, lang).1, CheckLevel::Warning);
        assert!(ports(6000, lang).2.contains("100 sessions per second"));
        assert_eq!(ports(28_232, lang).1, CheckLevel::Ok);
        assert_eq!(quota(1.5, 8, lang).1, CheckLevel::Warning);
        assert_eq!(quota(8.0, 8, lang).1, CheckLevel::Ok);
    }

    #[test]
    fn a_round_trip_is_far_or_uneven_or_neither() {
        let times = |most: f64, last: f64| -> Vec<Duration> {
            let mut all = vec![Duration::from_secs_f64(most / 1000.0); 196];
            all.extend([Duration::from_secs_f64(last / 1000.0); 4]);
            all
        };
        let of = |most, last| round_trip(&times(most, last), Lang::En);
        assert_eq!(of(0.05, 0.9).1, CheckLevel::Ok);
        assert_eq!(of(0.05, 1.2).1, CheckLevel::Warning);
        assert_eq!(of(0.5, 1.4).1, CheckLevel::Note);
        assert_eq!(of(2.0, 9.0).1, CheckLevel::Note);
        assert_eq!(of(2.0, 11.0).1, CheckLevel::Warning);
        assert!(of(2.0, 11.0).2.contains("median 2.00 ms, p99 11.00 ms"));
    }
}
