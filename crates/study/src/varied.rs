//! What a study varies, in the order of its file, for whoever tells its results.

use crate::file::{Factor, Levels, Study};

/// A factor, the target, the workload or the load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Varied {
    /// What results call it.
    pub name: String,
    /// What it can be, in the order of the file.
    pub values: Vec<String>,
    /// What its values change, as differences of a comparison are called: `setting fsync`,
    /// `option table-size`.
    pub changes: Vec<String>,
}

impl Study {
    /// Everything that it varies: targets, workloads, factors, and the load, as its cells name them.
    pub fn varied(&self) -> Vec<Varied> {
        let plain = |name: &str, values: Vec<String>| Varied {
            name: name.into(),
            values,
            changes: Vec::new(),
        };
        let targets = self.targets.iter().map(|t| t.name.clone());
        let workloads = self.workloads.iter().map(|w| w.label.clone());
        let mut all = vec![
            plain("target", targets.collect()),
            plain("workload", workloads.collect()),
        ];
        all.extend(self.factors.iter().map(of_factor));
        let own = self.workloads.iter().filter_map(|w| w.load.as_ref());
        for levels in std::iter::once(&self.load).chain(own) {
            all.extend(of_levels(levels).map(|(name, values)| plain(name, values)));
        }
        all
    }
}

fn of_levels(levels: &Levels) -> impl Iterator<Item = (&'static str, Vec<String>)> + use<> {
    fn written<T: ToString>(values: &[T]) -> Vec<String> {
        values.iter().map(T::to_string).collect()
    }
    [
        (levels.word, written(&levels.threads)),
        ("rate", written(&levels.rates)),
        ("connections", written(&levels.connections)),
    ]
    .into_iter()
}

fn of_factor(factor: &Factor) -> Varied {
    let mut changes = Vec::new();
    let mut add = |change: String| {
        if !changes.contains(&change) {
            changes.push(change);
        }
    };
    for value in &factor.values {
        // Options of the sysbench family may be written either way.
        let option = |name: &str| format!("option {}", name.replace('_', "-"));
        value.options.iter().for_each(|o| add(option(&o.name)));
        for setting in value.session.iter().chain(&value.set_global) {
            add(format!("setting {}", setting.name));
        }
        if !value.session.is_empty() {
            add("option set-session".into());
        }
        if value.inject_rtt.is_some() {
            add("option inject-rtt".into());
        }
        if value.target.is_some() {
            ["target", "server", "server version"]
                .into_iter()
                .for_each(|what| add(what.into()));
        }
    }
    Varied {
        name: factor.name.clone(),
        values: factor.values.iter().map(|v| v.label.clone()).collect(),
        changes,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    #[test]
    fn what_is_varied_stands_in_the_files_order() {
        let study = crate::parse(
            r#"
name = "order"
[[target]]
name = "Z"
url = "mysql://u@h/db"
[[target]]
name = "A"
url = "mysql://u@g/db"
[[workload]]
name = "oltp_read_only"
[load]
threads = [64, 8]
[[factor]]
name = "durability"
values = [
    { label = "on", set-global = { sync_binlog = 1 } },
    { label = "off", set-global = { sync_binlog = 0 }, options = { table_size = 10 } },
]
"#,
        )
        .unwrap();
        let varied = study.varied();
        let of = |name: &str| varied.iter().find(|v| v.name == name).unwrap();
        assert_eq!(of("target").values, ["Z", "A"]);
        assert_eq!(of("threads").values, ["64", "8"]);
        assert_eq!(of("durability").values, ["on", "off"]);
        assert_eq!(
            of("durability").changes,
            ["setting sync_binlog", "option table-size"]
        );
    }
}
