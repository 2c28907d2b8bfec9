//! URLs without their passwords.

use super::list;

/// A URL with `***` for every password, also when it can't be parsed; other text as it is.
///
/// ```
/// use tidemark_core::redact_url;
/// assert_eq!(redact_url("mysql://u:pw@h/db"), "mysql://u:***@h/db");
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

fn redact_one(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.into();
    };
    // A password may hold anything, a question mark too: what lies before the last @ goes first.
    let hidden = match rest
        .rsplit_once('@')
        .map(|(account, host)| (account.split_once(':'), host))
    {
        Some((Some((user, password)), host)) if !password.is_empty() => {
            format!("{user}:***@{host}")
        }
        _ => rest.to_string(),
    };
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
