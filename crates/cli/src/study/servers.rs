//! Which servers a study loads, so that no two studies load one at the same time.

use super::private;
use std::collections::BTreeSet;
use std::path::Path;
use tidemark_core::{Host, Protocol, Target};
use tidemark_sandbox::SandboxRequest;
use tidemark_store::StudyRow;
use tidemark_study::{StudyTarget, parse};

/// The servers of a study that is executed in `folder`, each by what it is called however a URL
/// names it. Private servers of the study's own are nobody else's.
pub fn servers(places: &[StudyTarget], folder: &Path) -> BTreeSet<String> {
    let of_place = |place: &StudyTarget| of_url(&place.url, folder);
    places.iter().flat_map(of_place).collect()
}

/// One of these servers that another execution loads.
pub fn shared_with(own: &BTreeSet<String>, other: &StudyRow) -> Option<String> {
    // Another Tidemark may have begun it: an option that is refused here has its server all the same.
    let places = parse(&other.file).ok()?.places();
    let theirs = servers(&places, Path::new(&other.folder));
    own.intersection(&theirs).next().cloned()
}

fn of_url(url: &str, folder: &Path) -> Vec<String> {
    if private::is_meant(url) {
        let name = SandboxRequest::parse(url)
            .ok()
            .and_then(|request| request.name);
        return name
            .map(|name| format!("sandbox {name}"))
            .into_iter()
            .collect();
    }
    let Ok(target) = Target::parse(url) else {
        return Vec::new();
    };
    if target.protocol == Protocol::Sqlite {
        return vec![folder.join(&target.database).display().to_string()];
    }
    let hosts = target.hosts.iter().chain(&target.readers);
    hosts.map(called).collect()
}

/// This machine has several names.
fn called(host: &Host) -> String {
    match host {
        Host::Tcp { host, port } => {
            let host = host.to_ascii_lowercase();
            let is_here = matches!(host.as_str(), "localhost" | "::1");
            let host = if is_here { "127.0.0.1".into() } else { host };
            Host::Tcp { host, port: *port }.to_string()
        }
        socket => socket.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_the_same_by_each_of_its_names() {
        let of = |url: &str| of_url(url, Path::new("/there"));
        assert_eq!(
            of("mysql://a@LOCALHOST:3306/x"),
            of("mysql://b:***@127.0.0.1:3306/y")
        );
        assert_ne!(
            of("mysql://a@127.0.0.1:3306/x"),
            of("mysql://a@127.0.0.1:3307/x")
        );
        assert_eq!(of("sqlite:a.db"), ["/there/a.db"]);
        assert_eq!(of("sqlite:/there/a.db"), of("sqlite:a.db"));
        assert_eq!(of("postgres://a@h1:5432,h2:5432/x").len(), 2);
        assert_eq!(of("up:mariadb"), [""; 0]);
        assert_eq!(of("up:mariadb?name=mine"), ["sandbox mine"]);
    }

    #[test]
    fn a_study_of_another_version_keeps_its_servers() {
        let begun = StudyRow {
            id: "1".into(),
            name: "s".into(),
            path: "/there/s.toml".into(),
            file: "name = \"s\"\ntime = 1\n[[target]]\nname = \"t\"\nurl = \"mysql://u@h:1/x\"\n\
                [[workload]]\nname = \"oltp_point_select\"\noptions = { table-size = \"vast\" }\n"
                .into(),
            folder: "/there".into(),
            begun_ms: 0,
            ended_ms: None,
            state: tidemark_store::StudyState::Running,
            hostname: "h".into(),
            pid: None,
        };
        let refused = super::super::file::understand(begun.file.clone(), "s.toml");
        assert!(refused.is_err(), "it is no study that this version takes");
        let own = BTreeSet::from(["h:1".to_string()]);
        assert_eq!(shared_with(&own, &begun).as_deref(), Some("h:1"));
    }
}
