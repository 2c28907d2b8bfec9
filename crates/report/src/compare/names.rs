//! What else was different, in words: the names are English where programs read them.

use crate::texts::{Lang, differences, fill};

/// A difference's name in a language; as it is where there is no other.
pub(crate) fn difference_name(what: &str, lang: Lang) -> String {
    let (en, t) = match lang {
        Lang::En => return what.into(),
        Lang::Zh => (differences::of(Lang::En), differences::of(lang)),
    };
    let known = [
        (en.workload, t.workload),
        (en.state, t.state),
        (en.target, t.target),
        (en.version, t.version),
        (en.sessions, t.sessions),
        (en.sessions_opened, t.sessions_opened),
        (en.executors, t.executors),
        (en.host, t.host),
        (en.kernel, t.kernel),
        (en.cpu, t.cpu),
        (en.cores, t.cores),
        (en.memory, t.memory),
        (en.warmup, t.warmup),
        (en.server, t.server),
        (en.server_version, t.server_version),
        (en.isolation, t.isolation),
        (en.measured, t.measured),
    ];
    if let Some((_, name)) = known.iter().find(|(known, _)| *known == what) {
        return (*name).into();
    }
    let named = [
        (en.option, t.option),
        (en.setting, t.setting),
        (en.rows, t.rows),
    ];
    let name = named.iter().find_map(|(known, template)| {
        let (before, after) = known.split_once("{name}")?;
        let name = what.strip_prefix(before)?.strip_suffix(after)?;
        Some(fill(template, &[("name", name)]))
    });
    name.unwrap_or(what.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_in_chinese() {
        for (what, name) in [
            ("server version", "数据库版本"),
            ("option threads", "选项 threads"),
            ("setting innodb_doublewrite", "参数 innodb_doublewrite"),
            ("rows of sbtest1 before", "sbtest1 压测前行数"),
            ("something new", "something new"),
        ] {
            assert_eq!(difference_name(what, Lang::Zh), name);
            assert_eq!(difference_name(what, Lang::En), what);
        }
    }
}
