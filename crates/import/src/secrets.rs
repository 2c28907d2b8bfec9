//! Lines of documents as they may be told: without the passwords in them.

mod hammerdb;
mod tpcc_mysql;

use crate::command::{base_name, program};
use std::net::Ipv4Addr;
use tidemark_core::{is_password_name, redact_text, redact_value};

const HIDDEN: &str = "***";
/// What may stand around a word.
const MARKS: [char; 7] = ['`', '"', '\'', '(', '[', '|', '$'];
/// What ends a command.
const ENDS: [&str; 5] = ["|", "||", "&", "&&", ";"];
/// What passwords are called where a colon stands behind.
const CALLED: [&str; 2] = ["密码", "口令"];
/// Characters of the word that such a name ends.
const LONGEST_NAME: usize = 30;
/// What stands between words beside blanks.
const BETWEEN: [char; 7] = [':', '：', ',', '，', ';', '；', '、'];

/// What `-p` is to the program whose words are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Letter {
    /// No program was named: a sentence, or a command begins.
    Unknown,
    /// No program was named, and flags come first: a command goes on. A password, which may stand apart,
    /// unless it is seen to be something else.
    GoesOn,
    /// A password, right behind it.
    Glued,
    /// A password, which may stand apart.
    Apart,
    /// The same, or a property: `-p name=value`.
    Mixed,
    /// Something else.
    Other,
}

impl Letter {
    /// Whether the password may be the next word.
    fn may_stand_apart(self) -> bool {
        matches!(self, Letter::GoesOn | Letter::Apart | Letter::Mixed)
    }
}

/// A line of a document with `***` for every password: of URLs and accounts, assignments, flags, and of
/// `-p`, unless the line's program is known to mean something else by it; of HammerDB's dictionary and of
/// tpcc-mysql's old command line, too.
///
/// ```
/// use tidemark_import::without_secrets;
/// assert_eq!(without_secrets("mysql -uroot -pgeheim db"), "mysql -uroot -p*** db");
/// ```
pub fn without_secrets(text: &str) -> String {
    let text = tpcc_mysql::without_passwords(redact_text(text));
    let begins = [called(&text), hammerdb::password(&text)];
    match begins.into_iter().flatten().min() {
        Some(value) => in_words(&text[..value]) + HIDDEN,
        None => in_words(&text),
    }
}

/// The same for passwords that a word tells, or the word before.
fn in_words(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut letter = match begins_with_flag(text) {
        true if has_other_port(text) => Letter::Apart,
        true => Letter::GoesOn,
        false => Letter::Unknown,
    };
    let mut is_next = false;
    let mut rest = text;
    while !rest.is_empty() {
        let (blank, from) = rest.split_at(rest.len() - rest.trim_start().len());
        let (word, behind) = from.split_at(end_of_word(from, is_next));
        shown.push_str(blank);
        shown.push_str(&told(word, &mut letter, &mut is_next));
        rest = behind;
    }
    shown
}

/// Where the first value begins that stands behind a password's name and a colon. It ends with the line: a
/// password may have blanks.
fn called(text: &str) -> Option<usize> {
    let mut colons = text.match_indices([':', '：']);
    colons.find_map(|(at, colon)| {
        let value = text[at + colon.len()..].trim_start();
        let is_told = !value.is_empty() && !is_hidden_in_quotes(value);
        let begins = text.len() - value.len();
        (is_told && is_called(&text[..at]) && !is_of_an_error(&text[..at], value)).then_some(begins)
    })
}

/// Whether it is `(using password: YES)`, which tells none.
fn is_of_an_error(before: &str, value: &str) -> bool {
    const USING: &str = "using password";
    // `NOpe` is one.
    let ends = |c: char| c.is_whitespace() || c == ')';
    let is_said = ["YES", "NO"].iter().any(|said| {
        let behind = value.strip_prefix(said);
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(ends))
    });
    let begin = before.len().checked_sub(USING.len());
    let end = begin.and_then(|begin| before.get(begin..));
    is_said && end.is_some_and(|end| end.eq_ignore_ascii_case(USING))
}

/// Whether the last word of a text is what a password is called.
fn is_called(text: &str) -> bool {
    let plain = text.trim_end_matches(|c: char| c.is_whitespace() || MARKS.contains(&c));
    let mut words = plain.rsplit(|c: char| c.is_whitespace() || BETWEEN.contains(&c));
    let word = words.next().unwrap_or_default();
    let is_name = is_password_name(word) || CALLED.iter().any(|called| word.ends_with(called));
    is_name && word.chars().count() <= LONGEST_NAME
}

/// Whether a value in quotes was hidden already: what follows is no part of it.
fn is_hidden_in_quotes(value: &str) -> bool {
    ["\"***\"", "'***'"]
        .iter()
        .any(|hidden| value.starts_with(hidden))
}

/// Where a word ends; a password in quotes may have blanks.
fn end_of_word(text: &str, is_password: bool) -> usize {
    let glued = text.strip_prefix("-p");
    let value = glued.unwrap_or(text);
    let value = value.strip_prefix('=').unwrap_or(value);
    let before = text.len() - value.len();
    let is_password = is_password || glued.is_some();
    let quoted = value.chars().next();
    let quoted = quoted.filter(|c| is_password && matches!(c, '"' | '\''));
    let closed = quoted.and_then(|quote| Some(before + 2 + value[1..].find(quote)?));
    let from = closed.unwrap_or(0);
    let more = text[from..].find(char::is_whitespace);
    more.map_or(text.len(), |more| from + more)
}

/// A word as it may be told.
fn told(word: &str, letter: &mut Letter, is_next: &mut bool) -> String {
    if ENDS.contains(&word) {
        (*letter, *is_next) = (Letter::Unknown, false);
        return word.into();
    }
    let plain = word.trim_start_matches(MARKS);
    let before = &word[..word.len() - plain.len()];
    let is_property = |at: Option<usize>| *letter == Letter::Mixed && at.is_some_and(|at| at > 0);
    let is_shown = *letter == Letter::GoesOn && is_no_password(word);
    if std::mem::take(is_next) && !plain.is_empty() && !is_property(plain.find('=')) && !is_shown {
        return HIDDEN.into();
    }
    if let Some(glued) = plain.strip_prefix("-p") {
        if glued.is_empty() {
            *is_next = letter.may_stand_apart();
            return word.into();
        }
        return match is_property(glued.find('=')) || *letter == Letter::Other {
            true => word.into(),
            false => format!("{before}-p{HIDDEN}"),
        };
    }
    // `--driver mysql` and `run mysql` start no client of MySQL.
    if let Some(of) = letter_of(plain)
        && !(of == Letter::Glued && letter.may_stand_apart())
    {
        *letter = of;
    }
    match plain.contains("://") {
        true => word.into(),
        false => format!("{before}{}", redact_value(plain)),
    }
}

/// Whether the first word of a text is a flag; the prompt of a shell for lines that go on may stand before.
fn begins_with_flag(text: &str) -> bool {
    let plain = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '>' | '`'));
    let flag = plain.strip_prefix('-');
    flag.is_some_and(|flag| flag.starts_with(|c: char| c == '-' || c.is_ascii_alphabetic()))
}

/// Whether flags name a port by `-P` or an account by `-U`, as go-tpc's do: `-p` is no port then.
fn has_other_port(text: &str) -> bool {
    let mut words = text.split_whitespace();
    words.any(|word| word == "-U")
        || text
            .split_once("-P ")
            .is_some_and(|(_, port)| port.trim_start().starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a word behind `-p` is seen to be something else than a password: ports or what they are mapped to,
/// a property, a variable, the next flag, where output goes, the sign that a line goes on.
fn is_no_password(word: &str) -> bool {
    let is_port = |part: &str| part.parse::<u16>().is_ok() || part.parse::<Ipv4Addr>().is_ok();
    let bare = word.trim_end_matches(MARKS);
    let ports = bare.trim_end_matches("/tcp").trim_end_matches("/udp");
    let plain = bare.trim_start_matches(MARKS);
    let is_property = plain.split_once('=').is_some_and(|(name, value)| {
        let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        // What is encoded in base64 may end so.
        !name.is_empty() && name.chars().all(of_name) && !value.trim_matches('=').is_empty()
    });
    let of_variable = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let variable = bare.trim_start_matches('"').strip_prefix('$');
    let variable = variable.map(|name| name.trim_start_matches('{').trim_end_matches('}'));
    let redirected = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
    ports.split(':').all(is_port)
        || is_property
        || variable.is_some_and(|name| !name.is_empty() && name.chars().all(of_variable))
        || begins_with_flag(word)
        || redirected.starts_with(['<', '>'])
        || word == "\\"
}

/// What `-p` is to a program, if a word names one.
fn letter_of(word: &str) -> Option<Letter> {
    let word = word.trim_end_matches(MARKS);
    let name = base_name(word);
    if name.starts_with("mysql") || name.starts_with("mariadb") {
        return Some(Letter::Glued);
    }
    match name {
        "tidemark" => return Some(Letter::Mixed),
        "sshpass" | "tiup" | "tpcc_load" => return Some(Letter::Apart),
        _ => {}
    }
    program(word).map(|tool| match tool.has_password_letter {
        true => Letter::Apart,
        false => Letter::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::tools::TOOLS;

    #[test]
    fn no_line_is_told_with_its_password() {
        for (line, shown) in [
            (
                "$ sysbench --mysql-password=geheim oltp_read_only run",
                "$ sysbench --mysql-password=*** oltp_read_only run",
            ),
            (
                "  --mysql-password='ge heim' \\",
                "  --mysql-password='***' \\",
            ),
            ("mysql -uroot -pgeheim -e 'x'", "mysql -uroot -p*** -e 'x'"),
            ("`mysqladmin -p'ge heim' ping`", "`mysqladmin -p*** ping`"),
            ("mysql -p shop", "mysql -p shop"),
            ("sh -c 'mysql -pgeheim x'", "sh -c 'mysql -p*** x'"),
            ("go-tpc -p 'ge heim' tpcc run", "go-tpc -p *** tpcc run"),
            ("  -uroot -p123456 \\", "  -uroot -p*** \\"),
            ("  -u root -p geheim \\", "  -u root -p *** \\"),
            (
                "> -d mysql -p 'ge heim' tpcc run",
                "> -d mysql -p *** tpcc run",
            ),
            (
                "  -U root -p 123456 -P 4000 \\",
                "  -U root -p *** -P 4000 \\",
            ),
            ("  -U root -p '4000' \\", "  -U root -p *** \\"),
            ("  -U root -p Z2VoZWlt== \\", "  -U root -p *** \\"),
            (
                "  --rm -it db && go-tpc -p 4000 run",
                "  --rm -it db && go-tpc -p *** run",
            ),
            ("go-tpc tpcc -p geheim run", "go-tpc tpcc -p *** run"),
            (
                "tiup bench tpcc -p geheim run",
                "tiup bench tpcc -p *** run",
            ),
            ("tidemark tpcc -pgeheim run", "tidemark tpcc -p*** run"),
            (
                "go-tpc -d mysql -p geheim run",
                "go-tpc -d mysql -p *** run",
            ),
            ("go-tpc -p ge=heim tpcc run", "go-tpc -p *** tpcc run"),
            ("sshpass -p geheim ssh h", "sshpass -p *** ssh h"),
            (
                "./tpcc_load -h127.0.0.1 -d mysql -u root -p \"ge heim\" -w 10",
                "./tpcc_load -h127.0.0.1 -d mysql -u root -p *** -w 10",
            ),
            (
                "PGPASSWORD=geheim pgbench -p5432 -c 8",
                "PGPASSWORD=*** pgbench -p5432 -c 8",
            ),
            ("mysql://u:geheim@h/db is it", "mysql://u:***@h/db is it"),
            ("dsn: u:geheim@h:4000/db", "dsn: u:***@h:4000/db"),
            ("  password: geheim", "  password: ***"),
            ("- 数据库密码：geheim", "- 数据库密码：***"),
            ("账号：root 密码：geheim", "账号：root 密码：***"),
            ("using password: NOgeheim", "using password: ***"),
            ("Using password: YES-geheim", "Using password: ***"),
            ("user: root, password: geheim", "user: root, password: ***"),
            (
                "db1 (user root, password: geheim)",
                "db1 (user root, password: ***",
            ),
            (
                "  -U root -p 8888 -P 4000 \\",
                "  -U root -p *** -P 4000 \\",
            ),
            (
                "10:15:32 [INFO] tables are loaded by mysql -pgeheim, password: geheim",
                "10:15:32 [INFO] tables are loaded by mysql -p*** password: ***",
            ),
        ] {
            assert_eq!(without_secrets(line), shown);
            assert_eq!(without_secrets(shown), shown);
        }
    }

    #[test]
    fn what_is_no_password_is_told() {
        for line in [
            "",
            "| 并发 | TPS | p99 |",
            "  p99: 12.5 ms (8 threads)",
            "Access denied for user 'u'@'h' (using password: YES)",
            "10:15:32: Access denied for user 'u'@'h' (using password: YES): 1045",
            "time: 10:15:32, port: 3306, password:",
            r#"{"user": "u", "password": "***", "threads": 8}"#,
            "mkdir -p results && pgbench -p 5432",
            "  -h 10.0.0.1 -p 5432 -c 8 -T 60 \\",
            "  --name db -p 3306:3306 -p 127.0.0.1:33060:33060/tcp \\",
            "  -P workloads/workloada -p recordcount=1000 -p jdbc.url=x \\",
            "  -h ${PGHOST} -p $PGPORT -p \"${PGPORT}\" \\",
            "  -u root -p -h db > dump.sql",
            "  -u root -p > dump.sql 2>&1",
            "  -u root -p \\",
            "  -c 8 && mkdir -p results",
            "  -c 8 postgres pgbench -p db",
            "- mkdir -p results",
            "- mysql -u root -p shop",
            "-5.2 % and what -p is",
            "[ 10s ] thds: 8 tps: 100.00 qps: 2000.00 (r/w/o: 1400/400/200)",
        ] {
            assert_eq!(without_secrets(line), line);
        }
    }

    #[test]
    fn properties_are_told_and_passwords_among_them_are_not() {
        let words = "run mysql -P workloada -p recordcount=1000";
        let with_properties = TOOLS.iter().filter(|t| t.flag("-p") == Some("property"));
        let mut programs: Vec<&str> = with_properties.flat_map(|t| t.programs).copied().collect();
        assert!(programs.len() > 1, "{programs:?}");
        // Its commands that are another tool's take that tool's properties.
        programs.push("tidemark bench");
        for program in programs {
            let line = format!("{program} {words}");
            assert_eq!(without_secrets(&line), line);
            let secret = format!("{line} -p mysql.password=geheim");
            assert!(!without_secrets(&secret).contains("geheim"), "{program}");
        }
    }
}
