//! Texts of any kind without the passwords in them.

use super::redact_url;

/// What names of passwords end with.
const NAMES: [&str; 4] = ["password", "passwd", "passphrase", "pwd"];
/// What stands before the password of an account in SQL: `IDENTIFIED BY`, `IDENTIFIED WITH plugin BY`.
const IDENTIFIED: &str = "identified";
/// So far behind it `BY` is looked for.
const LONGEST_PLUGIN: usize = 60;
/// What stands before an account and its password in SQL: `SET PASSWORD FOR account = '…'`.
const PASSWORD_FOR: &str = "set password for ";
/// So far behind it `=` is looked for.
const LONGEST_SQL_ACCOUNT: usize = 200;

/// Readings of one text.
pub(super) const MOST_PASSES: usize = 8;

/// So far behind its scheme a URL's account is looked for, where it has blanks.
const LONGEST_ACCOUNT: usize = 500;

/// Whether a name is one of a password: `mysql-password`, `pg.password`, `MYSQL_PWD`.
pub fn is_password_name(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    NAMES.iter().any(|ending| name.ends_with(ending))
}

/// Whether a variable of the environment may hold a password: those of clients, and whatever is called a
/// token, a secret or a key.
pub fn is_secret_variable(name: &str) -> bool {
    let is_folder = ["PWD", "OLDPWD"].contains(&name);
    let upper = name.to_ascii_uppercase();
    let ends = ["PWD", "TOKEN", "SECRET", "KEY"];
    !is_folder
        && (is_password_name(name)
            // The command line with the passwords that were on it.
            || name == "TIDEMARK_ARGUMENTS"
            || ends.iter().any(|end| upper.ends_with(end)))
}

/// A text, such as an error message or a note, with `***` for every password in it: of URLs, and of
/// assignments (`--mysql-password=…`, `PGPASSWORD=…`, `password = '…'`, `"password": "…"`,
/// `<password>…`, `--password …`), and of accounts in SQL (`PASSWORD '…'`, `IDENTIFIED BY '…'`). All else
/// stays as it is.
///
/// ```
/// use tidemark_core::redact_text;
/// assert_eq!(
///     redact_text("can't reach mysql://u:pw@h/db with password=pw : refused"),
///     "can't reach mysql://u:***@h/db with password=*** : refused"
/// );
/// assert_eq!(redact_text("denied (using password: YES)"), "denied (using password: YES)");
/// ```
pub fn redact_text(text: &str) -> String {
    // Imported results have millions of lines, nearly all without either.
    if !text.contains("://") && !may_name(text) {
        return text.into();
    }
    let mut shown = assignments(&urls(text));
    // What is hidden may let a text be read otherwise: a text that is shown is one that stays so.
    for _ in 1..MOST_PASSES {
        let again = assignments(&urls(&shown));
        if again == shown {
            break;
        }
        shown = again;
    }
    shown
}

/// Whether a name of [`NAMES`], or [`IDENTIFIED`], may stand in a text: they begin with these letters.
fn may_name(text: &str) -> bool {
    let begins = |at: usize, letters: &[u8]| {
        let found = text.as_bytes().get(at..at + letters.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(letters))
    };
    memchr::memchr2_iter(b'p', b'P', text.as_bytes())
        .any(|at| begins(at, b"pass") || begins(at, b"pwd"))
        || memchr::memchr2_iter(b'i', b'I', text.as_bytes())
            .any(|at| begins(at, IDENTIFIED.as_bytes()))
}

/// A text with `***` for the passwords of the URLs in it, and of nothing else.
pub fn redact_urls(text: &str) -> String {
    urls(text)
}

/// Every URL, each to the end of its word, with its password hidden.
fn urls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let scheme = rest[..at].trim_end_matches(of_scheme).len();
        let word = &rest[at + 3..][..end_of_url(&rest[at + 3..])];
        // A sentence's signs are no port of its last host's.
        let end = at
            + 3
            + word
                .trim_end_matches([':', ';', ',', '.', ')', '\'', '"'])
                .len();
        out.push_str(&rest[..scheme]);
        out.push_str(&redact_url(&rest[scheme..end]));
        rest = &rest[end..];
    }
    out + rest
}

/// Where a URL ends whose scheme stands before: at the next blank, or, where that would cut an
/// account with a blank in its password, behind the host that follows it on the line.
fn end_of_url(rest: &str) -> usize {
    let blank = |text: &str| text.find(char::is_whitespace).unwrap_or(text.len());
    let word = blank(rest);
    let authority = rest[..word].split(['/', '?', '#']).next();
    let begun = authority.and_then(|a| a.split_once(':')).map(|(_, b)| b);
    // What is hidden already has no end to look for.
    let is_port = |b: &str| b.bytes().all(|c| c.is_ascii_digit()) || b.starts_with("***");
    if rest[..word].contains('@') || rest.starts_with('[') || begun.is_none_or(is_port) {
        return word;
    }
    let near = &rest[..rest.floor_char_boundary(LONGEST_ACCOUNT)];
    let line = near.find('\n').unwrap_or(near.len());
    match rest[..line].rfind('@') {
        Some(at) => at + blank(&rest[at..]),
        None => word,
    }
}

/// What is assigned to a password's name, hidden.
pub(super) fn assignments(text: &str) -> String {
    // Letters beyond ASCII stay as they are, so that both have the same length.
    let lower = text.to_ascii_lowercase();
    let ends = |name: &'static str| lower.match_indices(name).map(|(at, name)| at + name.len());
    let names = NAMES.into_iter().flat_map(ends);
    let of_accounts = ends_of_identified_by(&lower).chain(ends_of_password_for(&lower));
    let mut names: Vec<usize> = names.chain(of_accounts).collect();
    names.sort_unstable();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for end in names {
        // A name within a value goes with it.
        if end >= at
            && let Some((from, to)) = value_after(text, end)
        {
            out.push_str(&text[at..from]);
            out.push_str("***");
            at = to;
        }
    }
    out.push_str(&text[at..]);
    out
}

/// Where each `identified by` ends in a text of small letters.
fn ends_of_identified_by(lower: &str) -> impl Iterator<Item = usize> {
    const BY: &str = " by";
    lower
        .match_indices(IDENTIFIED)
        .filter_map(move |(at, word)| {
            let from = at + word.len();
            let near = &lower[from..];
            let near = &near[..near.floor_char_boundary(LONGEST_PLUGIN)];
            let follows = |at: usize| near[at + BY.len()..].starts_with([' ', '\'', '"']);
            let by = near
                .match_indices(BY)
                .map(|(at, _)| at)
                .find(|at| follows(*at))?;
            let between = near[..by].trim();
            let is_account = between.is_empty() || between.starts_with("with ");
            is_account.then_some(from + by + BY.len())
        })
}

/// Where the account of each `set password for` ends in a text of small letters, if a quoted value is
/// assigned to it.
fn ends_of_password_for(lower: &str) -> impl Iterator<Item = usize> {
    lower
        .match_indices(PASSWORD_FOR)
        .filter_map(move |(at, words)| {
            let from = at + words.len();
            let near = &lower[from..];
            let near = &near[..near.floor_char_boundary(LONGEST_SQL_ACCOUNT)];
            let sign = near.find('=')?;
            let value = near[sign + 1..].trim_start();
            value.starts_with(['\'', '"']).then_some(from + sign)
        })
}

/// Where the value stands that is assigned to a name which ends here.
fn value_after(text: &str, end: usize) -> Option<(usize, usize)> {
    let rest = &text[end..];
    let skip = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
    // A quote ends the name in `"password": …`, and begins the value in `BY'…'`.
    let is_by = {
        let before = &text.as_bytes()[end.saturating_sub(3)..end];
        before.eq_ignore_ascii_case(b" by")
    };
    let quoted = !is_by && rest.starts_with(['"', '\'', '`']);
    let bare = &rest[usize::from(quoted)..];
    let sign = skip(bare);
    let from = match bare[sign..].chars().next()? {
        '=' => sign + 1,
        ':' if quoted => sign + 1,
        '>' if sign == 0 && !quoted && is_element(&text[..end]) => 1,
        // `PASSWORD('…')` of SQL.
        '(' if sign == 0 && !quoted && bare[1..].trim_start().starts_with(['\'', '"']) => 1,
        // In SQL the value follows in quotes.
        '"' | '\'' | '`' if (sign > 0 || is_by) && !quoted => sign,
        // A flag and its value, as words of their own.
        _ if sign > 0 && !quoted && is_flag(&text[..end]) && !bare[sign..].starts_with('-') => sign,
        _ => return None,
    } + usize::from(quoted);
    let from = end + from + skip(&rest[from..]);
    let value = &text[from..];
    // A query's next pair follows in the same word.
    let (from, length, next) = match value.chars().next()? {
        quote @ ('"' | '\'' | '`') => (from + 1, closing(&value[1..], quote), ""),
        _ if text[end..from].contains('>') => (from, value.find('<').unwrap_or(value.len()), ""),
        _ => {
            let word = value.find(char::is_whitespace).unwrap_or(value.len());
            (from, word, if is_query(&text[..end]) { "&" } else { "" })
        }
    };
    let value = &text[from..from + length];
    let more = value.strip_prefix("***");
    let is_hidden = more.is_some_and(|m| m.is_empty() || (!next.is_empty() && m.starts_with(next)));
    // What is encoded in base64 may end with letters like these and its padding.
    let nothing = value.bytes().all(|c| c == b'=');
    (!is_hidden && !nothing).then_some((from, from + length))
}

/// Whether the last word of a text is a flag.
fn is_flag(text: &str) -> bool {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    word.starts_with("--")
}

/// A text that ends with a name, without it.
fn before_name(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
}

/// Whether a text ends with the name of an element that was opened.
fn is_element(text: &str) -> bool {
    before_name(text).ends_with('<')
}

/// Whether a text ends with a name in a URL's query.
fn is_query(text: &str) -> bool {
    before_name(text).ends_with(['?', '&'])
}

/// Where the quoted text ends; a quote behind a backslash, or doubled, belongs to it.
fn closing(inner: &str, quote: char) -> usize {
    let mut characters = inner.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        if c == '\\' {
            characters.next();
        } else if c == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
            return at;
        }
    }
    inner.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn variables_of_passwords_are_told_from_folders() {
        for secret in [
            "MYSQL_PWD",
            "PGPASSWORD",
            "MY_PASSWORD",
            "TIDEMARK_ARGUMENTS",
            "TIDEMARK_OBSERVE_TOKEN",
        ] {
            assert!(is_secret_variable(secret), "{secret}");
        }
        for open in ["PWD", "OLDPWD", "HOME", "PGUSER"] {
            assert!(!is_secret_variable(open), "{open}");
        }
    }

    #[test]
    fn passwords_are_hidden_wherever_they_stand() {
        for (text, shown) in [
            (
                "2 hosts: mysql://u:geheim@h/db, postgres://v:geheim@i:5/db?x=1 failed",
                "2 hosts: mysql://u:***@h/db, postgres://v:***@i:5/db?x=1 failed",
            ),
            ("mysql://u:geh eim@h/db: gone", "mysql://u:***@h/db: gone"),
            ("mysql://u:geheim", "mysql://u:***"),
            ("mysql://u:***: an @ is %40", "mysql://u:***: an @ is %40"),
            (
                "postgres://h/db?user=u&password=geheim&tls=on",
                "postgres://h/db?user=u&password=***&tls=on",
            ),
            (
                "--mysql-password=geheim --time=1",
                "--mysql-password=*** --time=1",
            ),
            (
                "with --pgsql_password geheim run",
                "with --pgsql_password *** run",
            ),
            ("MYSQL_PWD=geheim tidemark", "MYSQL_PWD=*** tidemark"),
            ("-p mysql.password = geheim", "-p mysql.password = ***"),
            (
                "host=h Password='geh''eim \\' x' db",
                "host=h Password='***' db",
            ),
            (
                r#"{"password": "geheim", "a": 1}"#,
                r#"{"password": "***", "a": 1}"#,
            ),
            ("<password>geh eim</password>", "<password>***</password>"),
            (
                "SET PASSWORD FOR u = PASSWORD('geheim')",
                "SET PASSWORD FOR u = PASSWORD('***')",
            ),
            (
                "CREATE USER 'u'@'%' IDENTIFIED BY 'geh eim', v Identified with p BY \"geheim\"",
                "CREATE USER 'u'@'%' IDENTIFIED BY '***', v Identified with p BY \"***\"",
            ),
            (
                "identified by'geheim'; Identified WITH p BY'geheim'",
                "identified by'***'; Identified WITH p BY'***'",
            ),
            (
                "SET PASSWORD FOR 'u'@'h'='geh eim'; set password for u = \"geheim\";",
                "SET PASSWORD FOR 'u'@'h'='***'; set password for u = \"***\";",
            ),
            (
                "CREATE ROLE u LOGIN PASSWORD 'geheim' CREATEDB",
                "CREATE ROLE u LOGIN PASSWORD '***' CREATEDB",
            ),
            (
                "identified by password '*2470C0C06DEE'",
                "identified by password '***'",
            ),
        ] {
            assert_eq!(redact_text(text), shown);
            assert_eq!(redact_text(shown), shown);
        }
    }

    #[test]
    fn what_is_shown_stays_so_however_it_is_read() {
        for text in ["://password\"://--pwd @", "A--pwd ://:--pwd --pwd '\n'@"] {
            let shown = redact_text(text);
            assert_eq!(redact_text(&shown), shown);
        }
    }

    #[test]
    fn what_is_no_password_stays() {
        for text in [
            "Access denied for user 'u'@'h' (using password: YES)",
            "password_encryption=scram-sha-256, old_passwords=0",
            "see https://wiki:8080/x and mail me@example.org, them@example.org",
            "mysql://u@h:3306: gone (see https://wiki:8080), or 'mysql://h:1'.",
            "see https://[::1]:80/x and mail me@example.org",
            "http://h/a?b=c#d@e",
            "the password is in the vault; length(password) > 8, password>8",
            "a cause was identified by 3 of 4 runs, another one by 'tpcc'",
            "pwd",
            "HISTFAAAAEx4nJNpmSzMwMDAxAABzFCaEUoz2X+AsQBpwd==",
            "密码 password：没有",
            "*** a=b ://",
        ] {
            assert_eq!(redact_text(text), text);
        }
    }

    #[test]
    fn names_of_passwords_are_known_by_their_ends() {
        for name in [
            "password",
            "mysql-password",
            "pg.Password",
            "MYSQL_PWD",
            "ssl_passphrase",
        ] {
            assert!(is_password_name(name), "{name}");
        }
        for name in ["password_encryption", "passwords", "user", ""] {
            assert!(!is_password_name(name), "{name}");
        }
    }

    #[test]
    fn every_name_of_a_password_begins_as_is_looked_for() {
        for name in NAMES {
            assert!(may_name(name), "{name}");
            assert!(may_name(&format!("x{}=", name.to_uppercase())), "{name}");
        }
        assert!(may_name("GRANT ALL ON d.* TO u Identified BY 'x'"));
        assert!(!may_name("tps: 1000.00 qps: 20000.00 P, I identify"));
    }

    proptest! {
        #[test]
        fn any_text_is_taken_and_once_is_enough(text in "(\\PC|[\\n:/@=\"'*>]|password|://|--pwd |pwd '|identified by '|identified by'|set password for |=){0,40}") {
            let once = redact_text(&text);
            prop_assert_eq!(redact_text(&once), once.clone());
            if text == once {
                prop_assert_eq!(assignments(&urls(&text)), text);
            }
        }
    }
}
