//! What servers and targets are called where several stand beside each other: as short as tells them apart.

use super::digest::RunDigest;
use std::collections::BTreeSet;
use tidemark_core::Engine;

/// How much of its server and of its place a target's label has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    /// `MariaDB 10.11.19`
    Release,
    /// `MariaDB 10.11.19-MariaDB-0+deb12u1`
    Version,
    /// `MariaDB 10.11.19 db1:3306/sbtest`
    ReleaseAndPlace,
    /// `MariaDB 10.11.19-MariaDB-0+deb12u1 db1:3306/sbtest`
    All,
}

const BY_LENGTH: [Detail; 3] = [Detail::Release, Detail::Version, Detail::ReleaseAndPlace];

/// How the targets of a document are labelled: all in the same detail.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServerLabels {
    of_targets: Detail,
    of_servers: Detail,
}

impl ServerLabels {
    /// The least detail that has a label for each target, and for each server.
    pub(super) fn of(runs: &[RunDigest]) -> Self {
        let count = |detail: Detail| {
            let labels: BTreeSet<String> = runs.iter().map(|run| label(run, detail)).collect();
            labels.len()
        };
        let least = |of: Detail| {
            let all = count(of);
            let mut shorter = BY_LENGTH.into_iter().filter(|detail| *detail < of);
            shorter.find(|detail| count(*detail) == all).unwrap_or(of)
        };
        Self {
            of_targets: least(Detail::All),
            of_servers: least(Detail::Version),
        }
    }

    /// A run's target.
    pub(super) fn target(&self, run: &RunDigest) -> String {
        label(run, self.of_targets)
    }

    /// A run's server; `None` where it is not known.
    pub(super) fn server(&self, run: &RunDigest) -> Option<String> {
        run.server.as_ref().map(|_| label(run, self.of_servers))
    }
}

fn label(run: &RunDigest, detail: Detail) -> String {
    let place = place_of(&run.target);
    let Some((engine, version)) = run.server_version() else {
        return match &run.imported {
            // Its line would make a series of each run of a document.
            Some(source) => source.file.clone(),
            None => place,
        };
    };
    match detail {
        Detail::Release => format!("{engine} {}", release(engine, version)),
        Detail::Version => format!("{engine} {version}"),
        Detail::ReleaseAndPlace => format!("{engine} {} {place}", release(engine, version)),
        Detail::All => format!("{engine} {version} {place}"),
    }
}

/// A version without what a build or a distribution adds. Versions of databases that speak the protocol
/// of another name that one first, and stay whole.
fn release(engine: Engine, version: &str) -> &str {
    let is_own = [Engine::Mysql, Engine::Mariadb, Engine::Postgres].contains(&engine);
    match version.split([' ', '-']).next() {
        Some(release) if is_own && !release.is_empty() => release,
        _ => version,
    }
}

/// A URL without what everybody knows: scheme, account, parameters.
fn place_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    rest.split(['?', '#']).next().unwrap_or(rest).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_no_account() {
        assert_eq!(place_of("mysql://u:***@h:3306/db?tls=on"), "h:3306/db");
        assert_eq!(place_of("sqlite:a.db"), "sqlite:a.db");
    }

    #[test]
    fn a_release_is_a_version_without_its_build() {
        for (engine, version, short) in [
            (Engine::Mariadb, "10.11.19-MariaDB-0+deb12u1", "10.11.19"),
            (Engine::Mysql, "8.0.36-28", "8.0.36"),
            (Engine::Postgres, "15.18 (Debian 15.18-0+deb12u1)", "15.18"),
            (Engine::Postgres, "18beta1", "18beta1"),
            (Engine::Tidb, "8.0.11-TiDB-v7.5.0", "8.0.11-TiDB-v7.5.0"),
            (
                Engine::Yugabyte,
                "11.2-YB-2.18.0.1-b0",
                "11.2-YB-2.18.0.1-b0",
            ),
        ] {
            assert_eq!(release(engine, version), short);
        }
    }
}
