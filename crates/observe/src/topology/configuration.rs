//! What members of a cluster have configured otherwise than by default, as the database says.

use super::defaults::default_of;
use super::file::shown;
use crate::server::ServerFlags;
use std::collections::BTreeMap;
use tidemark_core::record::ComponentSetting;
use tidemark_drivers::RowSet;

/// So many settings are kept.
const MOST: usize = 200;

/// Settings, among those whose default is known, that are not at it: one for all members of a kind where
/// these agree, else one for each. What the file sets stands there already.
pub(super) fn tuned(rows: &RowSet, of_file: &[ComponentSetting]) -> Vec<ComponentSetting> {
    let mut by_name: BTreeMap<(String, String), Vec<(String, String)>> = BTreeMap::new();
    for row in 0..rows.len() {
        let [Some(component), Some(instance), Some(name), Some(value)] =
            [0, 1, 2, 3].map(|at| rows.text(row, at))
        else {
            continue;
        };
        let is_set = |of: &ComponentSetting| of.component == component && of.name == name;
        if default_of(&component, &name).is_some() && !of_file.iter().any(is_set) {
            let of_name = by_name.entry((component, name)).or_default();
            of_name.push((instance, value));
        }
    }
    let mut tuned = Vec::new();
    for ((component, name), values) in by_name {
        let default = default_of(&component, &name).unwrap_or_default();
        let agree = values.windows(2).all(|two| two[0].1 == two[1].1);
        let known = ComponentSetting {
            component,
            name,
            default: Some(default.into()),
            ..ComponentSetting::default()
        };
        let not_at_it = values
            .into_iter()
            .filter(|(_, value)| !is_same(value, default));
        tuned.extend(for_all_or_each(&known, not_at_it, agree));
    }
    tuned.truncate(MOST);
    tuned
}

/// Flags that somebody set on YugabyteDB's servers; nobody says their defaults. Of the servers so many are
/// known of a component, `None` where nobody knows: one that did not answer may have another value.
pub(super) fn set(
    servers: &[ServerFlags],
    known: impl Fn(&str) -> Option<usize>,
) -> Vec<ComponentSetting> {
    let mut by_name: BTreeMap<(&str, &str), Vec<(String, String)>> = BTreeMap::new();
    let mut members: BTreeMap<&str, usize> = BTreeMap::new();
    for server in servers {
        *members.entry(server.component).or_default() += 1;
        for (name, value) in &server.flags {
            let of_name = by_name.entry((server.component, name)).or_default();
            of_name.push((server.instance.clone(), value.clone()));
        }
    }
    let mut set = Vec::new();
    for ((component, name), values) in by_name {
        let all = members.get(component).copied().unwrap_or_default();
        let have_all = known(component).is_none_or(|known| known == all);
        let agree =
            have_all && values.len() == all && values.windows(2).all(|two| two[0].1 == two[1].1);
        let known = ComponentSetting {
            component: component.into(),
            name: name.into(),
            ..ComponentSetting::default()
        };
        set.extend(for_all_or_each(&known, values.into_iter(), agree));
    }
    set.truncate(MOST);
    set
}

/// One setting for all members where they agree, else one for each.
fn for_all_or_each(
    known: &ComponentSetting,
    values: impl Iterator<Item = (String, String)>,
    agree: bool,
) -> impl Iterator<Item = ComponentSetting> {
    let most = if agree { 1 } else { usize::MAX };
    values
        .take(most)
        .map(move |(instance, value)| ComponentSetting {
            instance: (!agree).then_some(instance),
            value: shown(&known.name, &value),
            ..known.clone()
        })
}

/// Whether a value is a default, however each is written: components write `10GiB` and `1m0s`, the manual
/// `10GB` and `1m`.
fn is_same(value: &str, default: &str) -> bool {
    let [value, default] = [value, default].map(|text| text.trim().to_ascii_lowercase());
    let of = |read: fn(&str) -> Option<f64>| read(&value).zip(read(&default));
    let same = |(one, other): (f64, f64)| one == other;
    value == default || of(bytes).is_some_and(same) || of(seconds).is_some_and(same)
}

/// Numbers with their units: `1h30m` is 1 `h` and 30 `m`.
fn parts(text: &str) -> Option<Vec<(f64, &str)>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (digits, after) = rest.split_at(number);
        let unit = after
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        parts.push((digits.parse().ok()?, unit));
        rest = after;
    }
    (!parts.is_empty()).then_some(parts)
}

/// A size in bytes; TiKV's units are all powers of 1,024.
fn bytes(text: &str) -> Option<f64> {
    let [(number, unit)] = parts(text)?[..] else {
        return None;
    };
    let power = match unit {
        "b" => 0,
        "kb" | "kib" => 1,
        "mb" | "mib" => 2,
        "gb" | "gib" => 3,
        "tb" | "tib" => 4,
        _ => return None,
    };
    Some(number * 1024_f64.powi(power))
}

/// A time in seconds.
fn seconds(text: &str) -> Option<f64> {
    let part = |(number, unit): &(f64, &str)| {
        let of_unit = match *unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        Some(number * of_unit)
    };
    parts(text)?.iter().map(part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tidemark_drivers::Cell;

    /// Rows made by hand after the manual: the database is not at hand.
    fn made(rows: &[[&str; 4]]) -> RowSet {
        let mut set = RowSet::new();
        set.reset(4);
        for cell in rows.iter().flatten() {
            set.push(Cell::Bytes(cell.as_bytes()));
        }
        set
    }

    #[test]
    fn what_is_not_at_its_default_is_told_for_all_or_for_each() {
        let rows = made(&[
            ["tikv", "10.0.1.2:20160", "raftstore.apply-pool-size", "3"],
            ["tikv", "10.0.1.3:20160", "raftstore.apply-pool-size", "3"],
            ["tikv", "10.0.1.2:20160", "server.grpc-concurrency", "5"],
            ["tikv", "10.0.1.3:20160", "server.grpc-concurrency", "8"],
            ["tikv", "10.0.1.2:20160", "storage.reserve-space", "5GiB"],
            ["tikv", "10.0.1.2:20160", "nobody.knows-its-default", "7"],
            ["tidb", "10.0.1.1:4000", "token-limit", "2000"],
            [
                "pd",
                "10.0.1.1:2379",
                "schedule.split-merge-interval",
                "1h0m0s",
            ],
            ["pd", "10.0.1.1:2379", "replication.max-replicas", "5"],
        ]);
        let of_file = [ComponentSetting {
            component: "tidb".into(),
            name: "token-limit".into(),
            value: "2000".into(),
            ..ComponentSetting::default()
        }];
        let told: Vec<_> = tuned(&rows, &of_file)
            .into_iter()
            .map(|s| (s.name, s.instance, s.value, s.default))
            .collect();
        let of = |name: &str, instance: Option<&str>, value: &str, default: &str| {
            let [name, value] = [name, value].map(String::from);
            (name, instance.map(Into::into), value, Some(default.into()))
        };
        assert_eq!(
            told,
            [
                of("replication.max-replicas", None, "5", "3"),
                of("raftstore.apply-pool-size", None, "3", "2"),
                of("server.grpc-concurrency", Some("10.0.1.3:20160"), "8", "5"),
            ]
        );
    }

    #[test]
    fn flags_are_told_for_all_or_for_each_and_hide_secrets() {
        let of = |component, instance: &str, flags: &[(&str, &str)]| ServerFlags {
            component,
            instance: instance.into(),
            flags: flags
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .collect(),
        };
        let shards = ("ysql_num_shards_per_tserver", "2");
        let hba = ("ysql_hba_conf_csv", "host all all ldap ldapbindpasswd=x");
        let servers = [
            of("YB-TServer", "10.0.0.1:9000", &[shards, hba]),
            of("YB-TServer", "10.0.0.2:9000", &[shards]),
            of("YB-Master", "10.0.0.1:7000", &[shards]),
        ];
        let tablet_servers = |count| move |of: &str| (of == "YB-TServer").then_some(count);
        let told = set(&servers, tablet_servers(2));
        // One more did not answer.
        let each = set(&servers, tablet_servers(3));
        assert!(each.len() == 4 && each[0].instance.is_none(), "{each:?}");
        assert!(each[1..].iter().all(|s| s.instance.is_some()), "{each:?}");
        let told: Vec<_> = told
            .iter()
            .map(|s| (&*s.component, s.instance.as_deref(), &*s.name, &*s.value))
            .collect();
        assert_eq!(
            told,
            [
                ("YB-Master", None, shards.0, "2"),
                // It stands on one of two.
                ("YB-TServer", Some("10.0.0.1:9000"), hba.0, "***"),
                ("YB-TServer", None, shards.0, "2"),
            ]
        );
    }

    #[test]
    fn values_are_compared_however_they_are_written() {
        for (value, default) in [
            ("10GiB", "10GB"),
            ("1024MiB", "1GB"),
            ("TRUE", "true"),
            ("1m30s", "90s"),
            ("1000ms", "1s"),
        ] {
            assert!(is_same(value, default), "{value} {default}");
        }
        for (value, default) in [
            ("10MiB", "10GB"),
            ("28GiB", "0.45 × RAM"),
            ("1s", "1"),
            ("", "1"),
            ("5", "50"),
        ] {
            assert!(!is_same(value, default), "{value} {default}");
        }
    }

    proptest! {
        #[test]
        fn any_value_is_compared(value in "\\PC{0,20}", default in "[0-9a-z. ×]{0,12}") {
            let _either = is_same(&value, &default);
        }
    }
}
