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
        return match has_account(given) {
            true => redact_one(given),
            false => given.into(),
        };
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
    let hidden = match is_url {
        true => redact_url(given),
        // u:pw@h/db, mysql:u:pw@h, u:pw@tcp(h)/db.
        false => without_password(given),
    };
    in_unknown_keys(&behind_slashes(&assignments(&hidden)))
}

/// A target with `***` for the values of keys that are not known to be harmless: what was written
/// there may be a password by another name.
fn in_unknown_keys(given: &str) -> String {
    let Some((place, query)) = given.split_once('?') else {
        return given.into();
    };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((key, value)) if !value.is_empty() && !is_harmless(key) => format!("{key}=***"),
        _ => pair.to_string(),
    });
    format!("{place}?{}", pairs.collect::<Vec<_>>().join("&"))
}

/// Whether a file's URL has an account, which no file has: the path may begin with a password.
/// `sqlite:./u:x@h` names a file that is called so.
pub(super) fn has_account(url: &str) -> bool {
    let path = url.strip_prefix("sqlite://").unwrap_or_default();
    let account = path.rsplit_once('@').map_or("", |(account, _)| account);
    account.contains(':') && !path.starts_with(['/', '.'])
}

/// What else parts a user from a password, `u/pw@h`, and a password that ends the text behind a
/// slash, `mysql//u:pw`.
fn behind_slashes(given: &str) -> String {
    let start = given.find("://").map_or(0, |at| at + 3);
    let place = &given[start..];
    if let Some((account, _)) = place.rsplit_once('@') {
        return match account.find('/') {
            Some(at) if !account.contains(':') => {
                format!("{}/***{}", &given[..start + at], &place[account.len()..])
            }
            _ => given.into(),
        };
    }
    let end = place.find('?').unwrap_or(place.len());
    let mut from = 0;
    while let Some(colon) = place[from..end].find(':').map(|at| from + at + 1) {
        let word = place[colon..end]
            .split(['/', ',', ':'])
            .next()
            .unwrap_or_default();
        let is_address = place[..colon].contains('[');
        let is_port = word.is_empty() || word.parse::<u16>().is_ok_and(|p| p > 0);
        if !is_address && !is_port && word != "***" {
            return format!("{}***", &given[..start + colon]);
        }
        from = colon;
    }
    given.into()
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
            Some((key, _)) if is_secret(key) => format!("{key}=***"),
            _ => pair.to_string(),
        });
        format!("?{}", pairs.collect::<Vec<_>>().join("&"))
    });
    format!("{scheme}://{place}{}", query.unwrap_or_default())
}

/// Keys of URLs whose values are secrets by their names.
fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let parts = ["pass", "pwd", "secret", "token", "auth"];
    parts.iter().any(|part| key.contains(part))
}

/// Keys of URLs, ours and other tools', whose values are no secrets.
fn is_harmless(key: &str) -> bool {
    const HARMLESS: [&str; 28] = [
        "socket",
        "tls",
        "ca",
        "cert",
        "key",
        "host",
        "hostaddr",
        "role",
        "port",
        "user",
        "dbname",
        "database",
        "sslmode",
        "sslrootcert",
        "sslcert",
        "sslkey",
        "ssl",
        "usessl",
        "connect_timeout",
        "application_name",
        "options",
        "charset",
        "collation",
        "timeout",
        "target_session_attrs",
        "gssencmode",
        "channel_binding",
        "keepalives",
    ];
    HARMLESS.contains(&key.to_ascii_lowercase().as_str())
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
            ("mysql//u:geheim", "mysql//u:***"),
            ("u/geheim@h", "u/***@h"),
            ("oracle://u/geheim@h:1521/x", "oracle://u/***@h:1521/x"),
            (
                "postgres://u@h/db?secret=geheim",
                "postgres://u@h/db?secret=***",
            ),
            (
                "postgres://u@h/db?auth=geheim&tls=on",
                "postgres://u@h/db?auth=***&tls=on",
            ),
            ("sqlite://u:geheim@h/db", "sqlite://u:***@h/db"),
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
            "sqlite:///data/a:b@c.db",
            "postgres://u@h:5432,i:5433/db?application_name=x&options=-c%20a",
            "bench.db",
            "",
        ] {
            assert_eq!(redact_target(given), given);
        }
    }

    proptest! {
        /// Whichever sign is missing, doubled or another one: a password behind a user goes.
        #[test]
        fn no_form_of_a_target_shows_a_password(
            scheme in "(mysql|postgres|oracle|sqlserver|jdbc:mysql)?",
            sign in "(://|:/|//|:|:///)?",
            between in "[:/]",
            before in "[a-z!$*%]{0,4}", after in "[a-z!$*%]{0,4}",
            host in "(@h|@h:1521|@\\[::1\\]:1|@tcp\\(h:1\\))",
            end in "(/db|/db\\?tls=on|:x|)",
            query in "(secret|auth|token|pw|apikey)",
        ) {
            let password = format!("{before}GEHEIM{after}");
            for given in [
                format!("{scheme}{sign}u{between}{password}{host}{end}"),
                format!("{scheme}{sign}u:{password}"),
                format!("{scheme}://u@h/db?{query}={password}"),
                format!("{scheme}://u@h/db?tls=on&{query}={password}&ca=/x"),
            ] {
                let shown = redact_target(&given);
                prop_assert!(!shown.contains("GEHEIM"), "{given}: {shown}");
            }
        }

        #[test]
        fn once_is_enough(given in "(\\PC|[:/@,?&=\\[\\]]|mysql://|password=){0,20}") {
            let once = redact_target(&given);
            prop_assert_eq!(redact_target(&once), once.clone());
            let url = redact_url(&given);
            prop_assert_eq!(redact_url(&url), url.clone());
        }
    }
}
