//! Several URLs that name one target: which hosts take writes, and which only reads.

use super::advice::list_like;
use super::{Target, TargetError, redact_target};
use crate::Protocol;
use std::path::PathBuf;

/// Schemes of targets with an account.
pub(super) const SCHEMES: &[&str] = &[
    "mysql",
    "mariadb",
    "tidb",
    "postgres",
    "postgresql",
    "yugabyte",
    "cockroach",
];

/// Cuts at each comma that a URL's scheme follows; other commas part hosts.
fn split(urls: &str) -> Vec<&str> {
    split_where(urls, begins_url)
}

/// Cuts at each comma that a scheme of ours follows.
pub(super) fn split_at_schemes(urls: &str) -> Vec<&str> {
    split_where(urls, |text| {
        let follows = |scheme: &&str| text.strip_prefix(*scheme);
        let mut rests = SCHEMES.iter().filter_map(follows);
        rests.any(|rest| rest.starts_with("://"))
    })
}

fn split_where(urls: &str, begins_url: impl Fn(&str) -> bool) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in urls.match_indices(',') {
        if begins_url(&urls[at + 1..]) {
            parts.push(&urls[start..at]);
            start = at + 1;
        }
    }
    parts.push(&urls[start..]);
    parts
}

/// RFC 3986, 3.1: a letter, then letters, digits, `+`, `-`, `.`.
fn begins_url(text: &str) -> bool {
    let scheme = text
        .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.'))
        .unwrap_or(text.len());
    // A host may be called sqlite, too, and is then followed by its port.
    let sqlite = text.strip_prefix("sqlite:");
    let is_file = sqlite.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && (text[scheme..].starts_with("://") || is_file)
}

pub(super) fn parse(urls: &str) -> Result<Target, TargetError> {
    let parts = split(urls);
    let fail = |reason: String| TargetError {
        given: redact_target(urls),
        reason,
        example: list_like(urls),
    };
    if let [one] = parts[..] {
        return Target::parse_one(one);
    }
    let mut all: Option<Target> = None;
    for (n, part) in parts.iter().enumerate() {
        let next = Target::parse_one(part).map_err(|error| {
            // It may be the beginning of a password: it is not repeated.
            let behind = parts[n + 1..].iter().any(|part| part.contains('@'));
            match behind && !part.contains('@') {
                true => fail(
                    "one of these is not a URL, or a comma in the user or password must be \
                     written %2C"
                        .into(),
                ),
                false => error,
            }
        })?;
        if next.protocol == Protocol::Sqlite {
            return Err(fail("an SQLite file has no replicas".into()));
        }
        match &mut all {
            None => all = Some(next),
            Some(all) => join(all, next).map_err(&fail)?,
        }
    }
    all.ok_or_else(|| fail("no URL given".into()))
}

/// Adds the hosts of `next`. Sessions of one target differ in nothing but the host.
fn join(all: &mut Target, next: Target) -> Result<(), String> {
    let differ = |what: &str, one: &dyn std::fmt::Display, other: &dyn std::fmt::Display| {
        Err(format!(
            "the URLs of one target must name the same {what}, these name {one} and {other}"
        ))
    };
    if all.protocol != next.protocol {
        return differ("protocol", &all.protocol, &next.protocol);
    }
    if all.user != next.user {
        return differ("user", &quoted(&all.user), &quoted(&next.user));
    }
    if all.database != next.database {
        return differ("database", &quoted(&all.database), &quoted(&next.database));
    }
    if all.tls != next.tls {
        return differ("tls", &all.tls, &next.tls);
    }
    for (what, one, other) in [
        ("ca", &all.ca, &next.ca),
        ("cert", &all.cert, &next.cert),
        ("key", &all.key, &next.key),
    ] {
        if one != other {
            return differ(what, &shown(one.as_ref()), &shown(other.as_ref()));
        }
    }
    if all.password.is_empty() {
        all.password = next.password;
    } else if !next.password.is_empty() && all.password != next.password {
        return Err("the URLs of one target must have the same password, these differ".into());
    }
    all.hosts.extend(next.hosts);
    all.readers.extend(next.readers);
    Ok(())
}

fn quoted(text: &str) -> String {
    if text.is_empty() {
        "none".into()
    } else {
        text.into()
    }
}

fn shown(path: Option<&PathBuf>) -> String {
    path.map_or_else(|| "none".into(), |p| p.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Host, redact_url};

    #[test]
    fn sockets_beside_hosts_are_shown_as_what_they_are() {
        let urls = "mysql://u@h1,h2/db,mysql://u@/db?socket=/a,mysql://u@/db?socket=/b&role=read";
        let target = Target::parse(urls).unwrap();
        assert_eq!((target.hosts.len(), target.readers.len()), (3, 1));
        assert_eq!(Target::parse(&target.to_string()).unwrap(), target);
    }

    #[test]
    fn a_host_may_be_called_sqlite() {
        let target = Target::parse("mysql://u@h1,sqlite/db").unwrap();
        assert_eq!(names(&target.hosts), ["h1:3306", "sqlite:3306"]);
        assert_eq!(Target::parse(&target.to_string()).unwrap(), target);
        let error = Target::parse("mysql://u@h1/db,sqlite:bench.db").unwrap_err();
        assert!(error.reason.contains("has no replicas"), "{error}");
    }

    #[test]
    fn a_password_that_looks_like_a_next_url_is_not_shown() {
        for url in [
            "mysql://u:geheim,mysql://x@h/db",
            "mysql://u:geheim/,mysql://x@h/db",
        ] {
            let error = Target::parse(url).unwrap_err().to_string();
            assert!(!error.contains("geheim"), "{error}");
            assert!(error.contains("%2C"), "{error}");
        }
    }

    fn names(hosts: &[Host]) -> Vec<String> {
        hosts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn roles_part_the_hosts() {
        let urls =
            "mysql://u:p@w1,w2:3307/db,mysql://u:p@r1,r2/db?role=read,mariadb://u@w3/db?role=write";
        let t = Target::parse(urls).unwrap();
        assert_eq!(names(&t.hosts), ["w1:3306", "w2:3307", "w3:3306"]);
        assert_eq!(names(&t.readers), ["r1:3306", "r2:3306"]);
        assert_eq!(t.password.reveal(), "p");
        assert_eq!(
            t.to_string(),
            "mysql://u:***@w1:3306,w2:3307,w3:3306/db,mysql://u:***@r1:3306,r2:3306/db?role=read"
        );
        let again = Target::parse(&t.to_string()).unwrap();
        assert_eq!((again.hosts, again.readers), (t.hosts, t.readers));
    }

    #[test]
    fn one_url_may_only_read() {
        let t = Target::parse("postgres://u@r/db?role=read&tls=on").unwrap();
        assert!(t.is_read_only() && t.hosts.is_empty());
        assert_eq!(
            t.to_string(),
            "postgres://u@r:5432/db?tls=verify-full&role=read"
        );
        assert!(!Target::parse("postgres://u@r/db").unwrap().is_read_only());
        assert!(!Target::parse("sqlite:a,b.db").unwrap().is_read_only());
    }

    #[test]
    fn urls_that_disagree_are_refused_by_what_differs() {
        for (urls, what) in [
            ("mysql://u@a/d,postgres://u@b/d", "same protocol"),
            ("mysql://u@a/d,mysql://v@b/d", "same user"),
            ("mysql://u@a/d,mysql://u@b/e?role=read", "same database"),
            (
                "mysql://u@a/d,mysql://u@b/d?tls=on",
                "these name off and verify-full",
            ),
            (
                "mysql://u@a/d?ca=/a,mysql://u@b/d",
                "same ca, these name /a and none",
            ),
            ("mysql://u:geheim@a/d,mysql://u:anders@b/d", "same password"),
            ("mysql://u:geheim@a/d,sqlite:x.db", "has no replicas"),
            (
                "mysql://u:geheim@a/d,mysqk://u:geheim@b/d",
                "unknown scheme mysqk",
            ),
            (
                "mysql://u@a/d?role=reed",
                "role=reed: must be any, read, write",
            ),
        ] {
            let e = Target::parse(urls).unwrap_err().to_string();
            assert!(e.contains(what), "{e}");
            assert!(e.contains("for example"), "{e}");
            assert!(!e.contains("geheim") && !e.contains("anders"), "{e}");
        }
    }

    #[test]
    fn passwords_of_lists_are_hidden() {
        let both = "mysql://u:geheim@a/d,mysql://u:geheim@b,c/d?role=read";
        let shown = "mysql://u:***@a/d,mysql://u:***@b,c/d?role=read";
        assert_eq!(redact_url(both), shown);
        // What only looks like a list is one URL with an odd password.
        for odd in [
            "--target=mysql://u:geheim@a/d,mysql://b/d",
            "mysql://u:ge,ss://heim@h/db",
            "mysql://u:geheim,mysql://u@h/db",
        ] {
            let shown = redact_url(odd);
            assert!(!shown.contains("heim"), "{shown}");
        }
    }
}
