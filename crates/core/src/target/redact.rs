//! URLs without their passwords.

use super::list;
use super::redact_text::{MOST_PASSES, assignments};

/// A URL with `***` for every password, also when it can't be parsed; other text as it is.
///
/// ```
/// use tidemark_core::redact_url;
/// assert_eq!(redact_url("mysql://u:pw@h/db"), "mysql://u:***@h/db");
/// assert_eq!(redact_url("mysql://u:pw"), "mysql://u:***");
/// assert_eq!(redact_url("postgres://h/db?user=u&password=pw"), "postgres://h/db?user=u&password=***");
/// ```
pub fn redact_url(url: &str) -> String {
    // A password may look like the start of a next URL; only what has an account is taken for one.
    let parts = list::split_at_schemes(url);
    if parts.iter().all(|part| part.contains('@')) {
        let redacted: Vec<String> = parts.into_iter().map(redact_one).collect();
        return redacted.join(",");
    }
    redact_one(url)
}

/// What was given as a target, with `***` for whatever may be a password in it: as [`redact_url`],
/// and in what is no URL everything between its first `:` and its last `@`, or its end where that is
/// no port, and the values of `password=` and the like.
///
/// ```
/// use tidemark_core::redact_target;
/// assert_eq!(redact_target("u:pw@tcp(h)/db"), "u:***@tcp(h)/db");
/// assert_eq!(redact_target("host=h password=pw"), "host=h password=***");
/// assert_eq!(redact_target("sqlite:a.db"), "sqlite:a.db");
/// ```
pub fn redact_target(given: &str) -> String {
    if given.starts_with("sqlite:") {
        return given.into();
    }
    let mut shown = hidden_once(given);
    // What is hidden may let a text be read otherwise, as with any text.
    for _ in 1..MOST_PASSES {
        let again = hidden_once(&shown);
        if again == shown {
            break;
        }
        shown = again;
    }
    shown
}

/// A value of anything, as it may be told: where it has an account with a password, or assigns to
/// one, it may be a target in the wrong place, and is shown as [`redact_target`] does; else as it is.
///
/// ```
/// use tidemark_core::redact_value;
/// assert_eq!(redact_value("u:pw@h/db"), "u:***@h/db");
/// assert_eq!(redact_value("tag:before"), "tag:before");
/// ```
pub fn redact_value(value: &str) -> String {
    let account = value.rsplit_once('@').map(|(account, _)| account);
    let is_account = account.is_some_and(|a| a.contains(':')) || value.contains("://");
    match is_account || assignments(value) != value {
        true => redact_target(value),
        false => value.into(),
    }
}

fn hidden_once(given: &str) -> String {
    let is_url = given
        .split_once("://")
        .is_some_and(|(scheme, _)| is_scheme(scheme));
    assignments(&match is_url {
        true => redact_url(given),
        // u:pw@h/db, mysql:u:pw@h, u:pw@tcp(h)/db.
        false => without_password(given),
    })
}

/// Whether text may stand before `://` (RFC 3986, 3.1).
pub(super) fn is_scheme(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    text.chars().all(inner)
}

fn redact_one(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.into();
    };
    let hidden = without_password(rest);
    let (place, query) = match hidden.split_once('?') {
        Some((place, query)) => (place, Some(query)),
        None => (hidden.as_str(), None),
    };
    let query = query.map(|query| {
        let pairs = query.split('&').map(|pair| match pair.split_once('=') {
            Some((key, _)) if key.to_ascii_lowercase().contains("pass") || key == "pwd" => {
                format!("{key}=***")
            }
            _ => pair.to_string(),
        });
        format!("?{}", pairs.collect::<Vec<_>>().join("&"))
    });
    format!("{scheme}://{place}{}", query.unwrap_or_default())
}

/// What stands behind a scheme, or without one.
fn without_password(rest: &str) -> String {
    // A password may hold anything, a question mark too: what lies before the last @ goes first.
    let Some((account, host)) = rest.rsplit_once('@') else {
        return without_account(rest);
    };
    let host = ports_hidden(host);
    match account.split_once(':') {
        Some((user, password)) if !password.is_empty() => format!("{user}:***@{host}"),
        _ => format!("{account}@{host}"),
    }
}

/// Hosts, database and query without an account before them. What is no port behind a `:` may be the
/// password of a target whose host was forgotten, and goes with all that follows.
fn without_account(rest: &str) -> String {
    match no_port(rest, |port| port.parse::<u16>().is_ok_and(|p| p > 0)) {
        Some(at) => format!("{}***", &rest[..at]),
        None => rest.into(),
    }
}

/// What follows an account: a port that is no number may be a password, behind a user with an `@`.
fn ports_hidden(rest: &str) -> String {
    match no_port(rest, |port| port.bytes().all(|c| c.is_ascii_digit())) {
        Some(at) => {
            let end = rest[at..].find(['/', '?']).map_or(rest.len(), |e| at + e);
            format!("{}***{}", &rest[..at], &rest[end..])
        }
        None => rest.into(),
    }
}

/// Behind which `:` of the hosts there is something else than a port.
fn no_port(rest: &str, is_port: impl Fn(&str) -> bool) -> Option<usize> {
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let mut start = 0;
    for host in authority.split(',') {
        let begun = match host.strip_prefix('[').and_then(|h| h.split_once(']')) {
            Some((address, _)) => address.len() + 2,
            None => 0,
        };
        if let Some(at) = host[begun..].find(':').map(|at| begun + at + 1)
            && !host[at..].is_empty()
            && !is_port(&host[at..])
        {
            return Some(start + at);
        }
        start += host.len() + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_may_be_a_password_is_hidden_in_whatever_was_given_as_a_target() {
        for (given, shown) in [
            ("u:geheim@h/db", "u:***@h/db"),
            ("mysql:u:geheim@h", "mysql:***@h"),
            ("mysql:/u:geheim@h", "mysql:***@h"),
            ("mysql//u:geheim@h", "mysql//u:***@h"),
            ("postgres:geheim@h/db", "postgres:***@h/db"),
            ("u:geheim@tcp(h)/db", "u:***@tcp(h)/db"),
            ("u:geheim", "u:***"),
            ("u:geheim://x@h", "u:***@h"),
            ("host=h password=geheim", "host=h password=***"),
            ("Server=h;Uid=u;Pwd=geheim", "Server=h;Uid=u;Pwd=***"),
            ("mysql://u:geheim", "mysql://u:***"),
            ("mysql://u:geheim/db", "mysql://u:***"),
            ("mysql://u:123456/db", "mysql://u:***"),
            ("mysql://h:1,u:geheim", "mysql://h:1,u:***"),
            ("mysql://u@corp:geheim/db", "mysql://u@corp:***/db"),
            ("jdbc:mysql://u:geheim@h/db", "jdbc:***@h/db"),
            ("mysql://u2:p@s/s:w?o#r%d é&[x]@h/db", "mysql://u2:***@h/db"),
        ] {
            assert_eq!(redact_target(given), shown);
            assert_eq!(redact_target(shown), shown);
        }
    }

    #[test]
    fn what_is_no_password_stays() {
        for given in [
            "mysql://u@h:70000/db",
            "mysql://[::1]:3306/db",
            "mysql://u@[fe80::1]/db?tls=on",
            "mysql://h1:3306,h2/db",
            "localhost:3306/db",
            "sqlite:a:b@c.db",
            "bench.db",
            "",
        ] {
            assert_eq!(redact_target(given), given);
        }
    }

    proptest! {
        #[test]
        fn once_is_enough(given in "(\\PC|[:/@,?&=\\[\\]]|mysql://|password=){0,20}") {
            let once = redact_target(&given);
            prop_assert_eq!(redact_target(&once), once.clone());
            let url = redact_url(&given);
            prop_assert_eq!(redact_url(&url), url.clone());
        }
    }
}
