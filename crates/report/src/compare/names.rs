//! What else was different, in words: the names are English where programs read them.

use crate::texts::{Lang, fill, texts};

texts! {
    workload: "workload", "测试负载";
    state: "state", "状态";
    target: "target", "目标库";
    version: "tidemark version", "Tidemark 版本";
    sessions: "sessions", "会话数";
    sessions_opened: "sessions opened", "已建立的会话数";
    executors: "executor threads", "执行线程数";
    host: "client host", "客户端主机";
    kernel: "client kernel", "客户端内核";
    cpu: "client CPU", "客户端 CPU";
    cores: "client cores", "客户端核数";
    memory: "client memory", "客户端内存";
    warmup: "warm-up (s)", "预热（秒）";
    server: "server", "数据库";
    server_version: "server version", "数据库版本";
    isolation: "isolation", "隔离级别";
    measured: "measured (s)", "测量时长（秒）";
    option: "option {name}", "选项 {name}";
    setting: "setting {name}", "参数 {name}";
    rows: "rows of {name} before", "{name} 压测前行数";
}

/// A difference's name in a language; as it is where there is no other.
pub(crate) fn difference_name(what: &str, lang: Lang) -> String {
    let (en, t) = match lang {
        Lang::En => return what.into(),
        Lang::Zh => (&EN, &ZH),
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
    fn both_languages_say_the_same_values() {
        crate::texts::tests::say_the_same(BOTH);
    }

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
