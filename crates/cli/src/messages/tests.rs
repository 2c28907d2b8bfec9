//! Forms are found in messages, and messages have forms.

use super::*;

#[test]
fn messages_are_found_whole_and_by_their_parts() {
    for (english, chinese) in [
        (
            "tidemark: unknown option --tabel-size; did you mean --table-size?\n",
            "tidemark: 未知选项 --tabel-size；是否想用 --table-size？\n",
        ),
        (
            "--threads=0: must be a whole number from 1 to 1000000; for example --threads=1",
            "--threads=0：须为 1 到 1000000 的整数；例如 --threads=1",
        ),
        (
            "session 3: connect: can't connect to h:1: Connection refused (os error 111)",
            "会话 3：connect：无法连接 h:1：连接被拒绝 (os error 111)",
        ),
        (
            "a.md: already exists and was not written by Tidemark in this format; not \
             overwritten; name another file, or add --overwrite to replace it",
            "a.md：已存在，且不是 Tidemark 写的这种格式，未覆盖；请换一个文件名，或加 --overwrite \
             覆盖",
        ),
        (
            "error: unrecognized subcommand 'x'\n\nUsage: tidemark <COMMAND>\n",
            "错误：未知的命令 'x'\n\n用法：tidemark <COMMAND>\n",
        ),
        ("  [possible values: html, md]\n", "  [可用值：html, md]\n"),
        (
            "1045: Access denied for user 'u'@'h' (using password: NO)",
            "1045：用户 'u'@'h' 被拒绝访问（未提供密码）",
        ),
        (
            "28P01: password authentication failed for user \"u\"",
            "28P01：用户 \"u\" 密码认证失败",
        ),
        (
            "pgbench runs on PostgreSQL, YugabyteDB and CockroachDB only; for example a",
            "pgbench 只支持 PostgreSQL、YugabyteDB 和 CockroachDB；例如 a",
        ),
        (
            "client vm is lost: no reply within 3 s; the others continue\n",
            "客户端 vm 失联：3 s 内没有应答；其余客户端继续\n",
        ),
        (
            "table t already exists with 5 rows of this benchmark, which this study did not \
             load; nothing was changed. To drop it and load it again, add --replace",
            "表 t 已存在，有该压测的 5 行，但不是本测试方案加载的；未做任何修改。如需删除后重新加载，请加 --replace",
        ),
        (
            "study.toml:3: thrads: unknown key in [load]; known: threads, rate; did you mean threads?",
            "study.toml:3：thrads：[load] 中没有这个键；可用：threads, rate；是否想用 threads？",
        ),
        (
            "there is no sandbox x; tidemark up mariadb starts one",
            "没有沙箱 x；可用 tidemark up mariadb 启动",
        ),
        (
            "silence (-p) has no effect: errors are counted and reported once, at the end",
            "silence（-p）不起作用：错误只计数，结束时统一报告",
        ),
        (
            "--clients=3: 2 streams can't be shared by 3 clients; use at most as many clients as streams",
            "--clients=3：2 个查询流不够 3 个客户端分；客户端数不得超过查询流数",
        ),
        (
            "the first, middle and last of the records to choose from were looked up in table t, and user5 \
             is missing: it was loaded with other records or keys (keyprefix)",
            "在表 t 中查找了待访问记录的首、中、尾三条，没有 user5：该表是用其他记录数或键加载的（keyprefix）",
        ),
        (
            "--rate=1e-300: must be transactions per second from 0.1 to 10 or 0, from..to:step, or several \
             joined by commas (1e-300 is neither 0 nor from 0.1 to 10); for example --rate=10",
            "--rate=1e-300：须为每秒事务数 0.1 到 10 或 0、from..to:step，或以逗号分隔的多个值（1e-300 \
             既不是 0，也不在 0.1 到 10 之间）；例如 --rate=10",
        ),
        (
            "--config=a.xml: line 5, column 1: the end of <password> is expected here, </password>",
            "--config=a.xml：第 5 行第 1 列：此处应为 <password> 的结束标签 </password>",
        ),
        (
            "--test=powr: must be queries, power; did you mean power?; for example --test=queries",
            "--test=powr：须为 queries, power；是否想用 power？例如 --test=queries",
        ),
        (
            "--connect-rate=x: must be 0.001 to 1000000 sessions per second, or 0 for no limit",
            "--connect-rate=x：须为每秒 0.001 到 1000000 个会话，或 0（不限）",
        ),
        (
            "tag:a: run 7 is excluded: it is failed",
            "tag:a：压测 7 未列入：其状态为失败",
        ),
        (
            "3 values of a time that had one; the first is kept (first: line 9 \"x\")",
            "3 个值的时间重复；保留第一个（首处：行 9 \"x\"）",
        ),
        (
            "doctor: 300 rows were loaded, 299 were found",
            "doctor：加载了 300 行，查到 299 行",
        ),
        (
            "this agent runs no Lua scripts (--scripts=off); start it with --scripts=queries to let them \
             compute and query",
            "本代理不运行 Lua 脚本（--scripts=off）；如需允许脚本计算和查询，请以 --scripts=queries 启动代理",
        ),
        (
            "tls: TLS with h:1 failed: its certificate is self-signed or a CA's own, and it is not trusted: \
             set ca=FILE to that certificate, or sign the server's certificate with a CA and set ca=FILE to \
             the CA; or use tls=no-verify to encrypt without verification",
            "tls：与 h:1 建立 TLS 失败：其证书是自签名的或就是 CA 自身的证书，不受信任：请用 ca=FILE \
             指定该证书，或由 CA 为服务器签发证书并用 ca=FILE 指定该 CA；或用 tls=no-verify 只加密不验证",
        ),
        (
            "session 1: tls: TLS with h:1 failed: its certificate has expired on 1970-01-02 00:00 UTC",
            "会话 1：tls：与 h:1 建立 TLS 失败：其证书已于 1970-01-02 00:00 UTC 过期",
        ),
        (
            "tls: TLS with h:1 failed: cannot encrypt message",
            "tls：与 h:1 建立 TLS 失败：cannot encrypt message",
        ),
        (
            "auth: the server requests the password in clear text, which is sent over TLS only; use tls=on, \
             or scram-sha-256 in the server's pg_hba.conf",
            "auth：服务器要求明文密码，而明文密码只通过 TLS 发送；请用 tls=on，或在服务器的 pg_hba.conf \
             中改用 scram-sha-256",
        ),
        (
            "setting: bufer: the server has no such setting; did you mean buffer?",
            "setting：bufer：服务器没有这个参数；是否想用 buffer？",
        ),
        (
            "table t cannot be created: t already exists and is not a table but a view; nothing was \
             changed. Use another database, or drop it yourself",
            "无法创建表 t：t 已存在，但它不是表，而是视图；未做任何修改。请换用其他数据库，或自行删除",
        ),
        (
            "run abc: failed: it is part of run x",
            "压测 abc：失败：它正在参与压测 x",
        ),
        (
            "client b: its version is 1, and the coordinator's 2; install one version everywhere",
            "客户端 b：其版本为 1，而协调端为 2；请在各处安装同一版本",
        ),
        (
            "--nats nats://h:4222: Connection refused (os error 111); start a server with: nats-server -js; trying \
             again",
            "--nats nats://h:4222：连接被拒绝 (os error 111)；启动服务器：nats-server -js；正在重试",
        ),
        (
            "table t has no primary key with these options, and the server requires one (a=ON); nothing was \
             changed. Set a=OFF, or leave out --secondary or --parts",
            "按这些选项，表 t 没有主键，而服务器要求有主键（a=ON）；未做任何修改。请设置 a=OFF，或去掉 \
             --secondary 或 --parts",
        ),
        (
            "s.toml:2: time = \"1500ms\": a: sysbench's workloads take whole seconds; for example time = \"60s\"",
            "s.toml:2：time = \"1500ms\"：a：sysbench 的负载只接受整数秒；例如 time = \"60s\"",
        ),
        (
            "workloads of factor f: no workload is called x; there are a, b; did you mean a?",
            "factor f 的 workloads：没有名为 x 的负载；可用：a, b；是否想用 a？",
        ),
        (
            "dstat.csv: line 3: \"x\" is no time in the format of [time]; no row has one (dstat.toml)",
            "dstat.csv：第 3 行：\"x\" 不是 [time] 所定格式的时间；各行都没有（dstat.toml）",
        ),
        (
            "http//db1: must begin with http:// or https://; for example http://db1:9100/metrics",
            "http//db1：须以 http:// 或 https:// 开头；例如 http://db1:9100/metrics",
        ),
        (
            "a.xml: line 3, column 9: no tag can be read here; a < in a value is written &lt;",
            "a.xml：第 3 行第 9 列：此处无法读取标签；值中的 < 写作 &lt;",
        ),
        (
            "--file=a.sql: line 1: \\set needs a variable and an expression; for example \\set a random(1, 9)",
            "--file=a.sql：第 1 行：\\set 须有变量和表达式；例如 \\set a random(1, 9)",
        ),
        (
            "`sysbench.rand.x` is not in sysbench: s.lua:3",
            "sysbench 中没有 `sysbench.rand.x`：s.lua:3",
        ),
        (
            "9 pages in m; read one with: man m/tidemark.1\n",
            "m 中有 9 页手册；查看：man m/tidemark.1\n",
        ),
        (
            "--delimiter: must be one character that is no letter, digit or quote; for example a = 1 or b = 2",
            "--delimiter：须为一个字符，且不是字母、数字或引号；例如 a = 1 或 b = 2",
        ),
        // What begins with a word of a form is not of that form.
        ("run it again; see above", "run it again；见上"),
        // Only a part is known: the server's own words stay.
        (
            "1045: Access denied (using password: YES); the server requires TLS: use tls=on",
            "1045: Access denied (using password: YES)；服务器要求 TLS：请用 tls=on",
        ),
    ] {
        assert_eq!(in_chinese(english), chinese);
    }
}

#[test]
fn reasons_of_steps_are_told_with_how_they_ended() {
    let english = "table t has 5 rows that Tidemark did not load; nothing was changed. Use \
                   another database (exit code 5: something of yours is in the way and was not \
                   touched, or --strict refused)";
    assert_eq!(reason(english, Lang::En), english);
    let chinese = "表 t 有 5 行不是 Tidemark 加载的；未做任何修改。请换用其他数据库（退出码 5：有不属于 \
                   Tidemark 的对象（未改动），或被 --strict 拒绝）";
    assert_eq!(reason(english, Lang::Zh), chinese);
    let unknown = "the server's own words (exit code 1: something new)";
    let said = reason(unknown, Lang::Zh);
    assert_eq!(said, "the server's own words（退出码 1：something new）");
}

#[test]
fn what_is_no_message_stays() {
    for text in [
        "",
        "\n",
        "压测 1 已保存，查看：tidemark show last\n",
        "a: b; c: d\n",
        "session variables",
        "  12.5 tx/s\r",
    ] {
        assert_eq!(in_chinese(text), text);
    }
    let long = format!("unknown option --{}", "x".repeat(LONGEST_LINE));
    assert_eq!(in_chinese(&long), long);
    // A server's message may repeat a form without end.
    let deep = "must be ".repeat(250);
    assert!(in_chinese(&deep).contains("须为"));
}

/// Errors of crates that users meet, each part of which has a form.
const ERRORS: &[&str] = &[
    "analysis/src/compare/limit.rs",
    "analysis/src/error.rs",
    "core/src/config_file.rs",
    "core/src/job/read.rs",
    "core/src/job/settings.rs",
    "core/src/objective.rs",
    "core/src/observe.rs",
    "core/src/options.rs",
    "core/src/pacing.rs",
    "core/src/rates.rs",
    "core/src/shard.rs",
    "files/src/read.rs",
    "files/src/write.rs",
    "import/src/series/mod.rs",
    "import/src/text.rs",
    "live/src/metrics/mod.rs",
    "observe/src/topology/mod.rs",
    "oltpbench/src/database.rs",
    "oltpbench/src/error.rs",
    "report/src/error.rs",
    "report/src/tpcc/figures.rs",
    "sandbox/src/error.rs",
    "store/src/error.rs",
    "workloads/src/registry.rs",
];

/// Sources whose sentences are for users: each of four words or more has a form.
const SENTENCES: &[&str] = &[
    "cli/src/clients/agents.rs",
    "cli/src/clients/scripts.rs",
    "cli/src/compat/gotpc/target.rs",
    "cli/src/compat/pgbench/target.rs",
    "cli/src/compat/sysbench/host/parse.rs",
    "cli/src/compat/sysbench/parse.rs",
    "cli/src/compat/sysbench/target.rs",
    "cli/src/compat/tpch/test_plan.rs",
    "cli/src/compat/ycsb/property_reader.rs",
    "cli/src/compat/ycsb/target.rs",
    "cli/src/plan.rs",
    "cli/src/ready.rs",
    "cli/src/study/put_back.rs",
    "cli/src/study/settings.rs",
    "cli/src/study/targets.rs",
    "cli/src/tags.rs",
    "cli/src/usage_hints.rs",
    "cli/src/watch.rs",
    "clients/src/connection.rs",
    "clients/src/found_run.rs",
    "drivers/src/connector.rs",
    "drivers/src/pooler.rs",
    "drivers/src/settings/sqlite_session.rs",
    "drivers/src/sqlite/open.rs",
    "drivers/src/tls/version.rs",
    "import/src/series/heading.rs",
    "sandbox/src/request.rs",
    "study/src/command.rs",
    "study/src/judge.rs",
    "study/src/parse.rs",
    "study/src/syntax.rs",
    "workloads/src/tpcc/settings.rs",
];

/// Errors as a source has them, with a 7 for each value.
fn errors_of(source: &str) -> Vec<String> {
    let literals = source.split("#[error(").skip(1);
    let literals = literals.filter_map(|behind| behind.trim_start().strip_prefix('"'));
    literals.map(said).collect()
}

/// What a literal says, up to its closing quote.
fn said(literal: &str) -> String {
    let (mut text, mut rest) = (String::new(), literal);
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '"' => break,
            '{' => {
                text.push('7');
                rest = rest.split_once('}').unwrap().1;
            }
            '\\' => {
                let escaped = rest.chars().next().unwrap();
                rest = &rest[escaped.len_utf8()..];
                match escaped {
                    // The text goes on behind the next line's indent.
                    '\n' => rest = rest.trim_start(),
                    'n' => text.push('\n'),
                    other => text.push(other),
                }
            }
            c => text.push(c),
        }
    }
    text
}

fn english_words(text: &str) -> usize {
    let is_word = |w: &&str| w.len() > 2 && w.chars().all(|c| c.is_ascii_lowercase());
    text.split_whitespace().filter(is_word).count()
}

/// Each line of these texts of sources that has so many words of English has a form; how many there were.
fn have_forms(files: &[&str], texts_of: fn(&str) -> Vec<String>, words: usize) -> usize {
    let mut found = 0;
    for file in files {
        let path = format!("{}/../{file}", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(path).unwrap();
        for text in texts_of(&source) {
            for line in text.lines().filter(|line| english_words(line) >= words) {
                let chinese = in_chinese(line);
                assert!(is_known(&chinese), "{file}: {line}: {chinese}");
                found += 1;
            }
        }
    }
    found
}

#[test]
fn errors_that_users_meet_have_forms() {
    let found = have_forms(ERRORS, errors_of, 2);
    assert!(found > 50, "{found}");
}

/// The strings of a source without its comments and tests, with a 7 for each value.
fn strings_of(source: &str) -> Vec<String> {
    const QUOTE: &str = "\u{1}";
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    // Neither a character nor what a string has in it begins or ends a string.
    let code = code.replace("'\"'", "' '").replace("\\\"", QUOTE);
    let strings = code.split('"').skip(1).step_by(2);
    strings
        .map(|text| said(&text.replace(QUOTE, "\\\"")))
        .collect()
}

#[test]
fn sentences_that_users_meet_have_forms() {
    let found = have_forms(SENTENCES, strings_of, 4);
    assert!(found > 100, "{found}");
}

/// Whether each part of a message is Chinese, or has no words.
fn is_known(chinese: &str) -> bool {
    let mut parts = chinese.split('；').flat_map(|part| part.split(PART));
    parts.all(|part| part.contains(is_han) || english_words(part) == 0)
}

#[test]
fn errors_of_transcripts_have_forms() {
    let folder = format!("{}/tests/cmd", env!("CARGO_MANIFEST_DIR"));
    let mut found = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "trycmd") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        // What is left out of a transcript is no message.
        let said = text
            .lines()
            .filter(|line| line.starts_with(MARK) && !line.contains("..."));
        for line in said.filter(|line| english_words(line) > 1) {
            let chinese = in_chinese(line);
            assert!(is_known(&chinese), "{}: {chinese}", path.display());
            found += 1;
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn each_form_is_found_by_itself() {
    for (english, chinese) in MESSAGES {
        let filled = |text: &str| text.replace('{', "<").replace('}', ">");
        let with_number = |text: &str| {
            let text = text.replace("{number}", "7");
            text.replace("{column_number}", "8")
        };
        let (english, chinese) = (with_number(english), with_number(chinese));
        assert_eq!(in_chinese(&filled(&english)), filled(&chinese));
    }
}
