//! What is said about files that are wrong: the line, the key, the value, what is allowed.

use super::common::wrong;

/// A right study but for what stands in place of `{…}`.
fn with(top: &str, rest: &str) -> String {
    format!(
        "name = \"s\"\n{top}\n[[target]]\nname = \"a\"\nurl = \"mysql://u@h/db\"\n\
         [[workload]]\nname = \"oltp_read_only\"\n{rest}\n"
    )
}

#[test]
fn each_problem_is_told_with_its_line() {
    for (text, said) in [
        (
            with("repeats = 0", ""),
            "f:2: repeats = 0: must be a whole number from 1 to 1000; for example repeats = 3",
        ),
        (
            with("repeats = 2.5", ""),
            "f:2: repeats = 2.5: must be a whole number",
        ),
        (
            with("repeat = 2", ""),
            "f:2: repeat: unknown key in the top of the file; known: name, repeats",
        ),
        (with("repeat = 2", ""), "did you mean repeats?"),
        (
            with("order = \"shufled\"", ""),
            "f:2: order = \"shufled\": must be given or shuffled, did you mean shuffled?",
        ),
        (
            with("time = \"10 parsecs\"", ""),
            "f:2: time = \"10 parsecs\": must be a time with us, ms, s, m or h",
        ),
        (
            with("time = 0", ""),
            "f:2: time = 0: a run needs a time above 0; for example time = \"60s\"",
        ),
        (
            with("", "time = \"0s\""),
            "f:8: time = \"0s\": a run needs a time above 0",
        ),
        (
            with("time = \"1500ms\"", ""),
            "f:2: time = \"1500ms\": oltp_read_only: sysbench's workloads take whole seconds; for \
             example time = \"60s\"",
        ),
        (
            with("", "warmup = \"1500ms\""),
            "f:8: warmup = \"1500ms\": oltp_read_only: sysbench's workloads take whole seconds; for \
             example warmup = \"10s\"",
        ),
        (
            with("objective = \"p99 > 1\"", ""),
            "f:2: objective = \"p99 > 1\": p99 > 1:",
        ),
        (
            with("price = { total = 1 }", ""),
            "f:2: [price] needs currency; for example currency = \"USD\"",
        ),
        (
            with("price = { total = 1, currency = \"E U R\" }", ""),
            "f:2: currency = \"E U R\": must be a word of up to 12 bytes without digits; for \
             example currency = \"USD\"",
        ),
        (with("name = \"t\"", ""), "f:2: no TOML: duplicate key"),
        (with("x = ", ""), "f:2: no TOML:"),
        (
            with("[load]\nthreads = 1\n[load]\nthreads = 2", ""),
            "f:4: [load] appears twice: write its keys under one of them",
        ),
        (
            with("", "optoins = { a = 1 }"),
            "f:8: optoins: unknown key in [[workload]]; known: name, label, family, options",
        ),
        (with("", "optoins = { a = 1 }"), "did you mean options?"),
        (
            with("", "options = { tabel-size = 1 }"),
            "f:8: oltp_read_only: unknown option --tabel-size=1",
        ),
        (
            with("", "options = { threads = 1 }"),
            "f:8: option threads: use [load], for example threads = [8, 16]",
        ),
        (
            with("", "options = { mysql-password = \"geheim\" }"),
            "f:8: option mysql-password: set it in a [[target]]",
        ),
        (
            with("", "options = { out = \"a.json\" }"),
            "f:8: option out: results are stored; tidemark report writes them",
        ),
        (
            with("", "options = { price = \"5 USD\" }"),
            "f:8: option price: use price of the study",
        ),
        (
            with("", "session = { \"a b\" = 1 }"),
            "f:8: setting a b: names have only letters",
        ),
        (
            with("", "load = { threads = [1, 1] }"),
            "f:8: threads = [1, 1]: values must be unique",
        ),
        (
            with("", "load = { threads = [] }"),
            "f:8: threads = []: must be a whole number from 1, or a list",
        ),
        (
            with("", "load = { threads = 1, terminals = 2 }"),
            "mean the same",
        ),
        (
            with("", "[[workload]]\nname = \"oltp_read_only\""),
            "f:8: [[workload]] label \"oltp_read_only\" appears twice",
        ),
        (
            with("", "[[workload]]\nname = \"oltp_raed_write\""),
            "f:9: name = \"oltp_raed_write\": unknown workload, did you mean oltp_read_write?",
        ),
        (
            with("", "[[workload]]\nname = \"tpcc\"\nfamily = \"tpch\""),
            "f:9: name = \"tpcc\": tpch has no workload of this name",
        ),
        (
            with("", "[[workload]]\nname = \"tpch\"\nload = { rates = [5] }"),
            "TPC-H has no rates",
        ),
        (
            with(
                "",
                "[[target]]\nname = \"b\"\nurl = \"mysq://u:geheim@h/db\"",
            ),
            "f:10: url = \"mysq://u:***@h/db\": unknown scheme mysq",
        ),
        (
            with("", "[[target]]\nname = \"b/c\"\nurl = \"sqlite:x\""),
            "f:9: name = \"b/c\": must be a text without /",
        ),
        (
            with("", "[[target]]\nname = \"b\""),
            "f:8: [[target]] needs url; for example url =",
        ),
        (
            with(
                "",
                "[[target]]\nname = \"b\"\nurl = \"mysql://u:geheim@h/d\"\npassword = \"geheim\"",
            ),
            "f:11: password = ***: the URL already has a password",
        ),
        (
            with(
                "",
                "[[target]]\nname = \"b\"\nurl = \"mysql://u@h/d\"\nadmin-password = \"geheim\"",
            ),
            "f:11: admin-password = ***: it belongs to admin, which is missing; for example \
             admin-password = \"env:ADMIN_PASSWORD\"",
        ),
        (
            with(
                "",
                "[[target]]\nname = \"b\"\nurl = \"mysql://u@h/d\"\n\
                 admin = \"mysql://a:geheim@h/d\"\nadmin-password = \"geheim\"",
            ),
            "f:12: admin-password = ***: admin already has a password",
        ),
        (
            with(
                "",
                "[[target]]\nname = \"b\"\nurl = \"mysql://u@h/d\"\n\
                 admin = \"mysql://a@h/d\"\nadmin-password = \"env: \"",
            ),
            "f:12: admin-password = ***: env: needs a variable's name; for example",
        ),
        (
            with(
                "",
                "[[target]]\nname = \"b\"\nurl = \"mysql://u@h/d\"\npassword = 7",
            ),
            "f:11: password = ***: must be env: and a variable's name, or a text",
        ),
        (
            with(
                "",
                "[[target]]\nname = \"b\"\nurl = \"mysql://u@h/d\"\npasswort = \"geheim\"",
            ),
            "passwort: unknown key in [[target]]; known: name, url, admin, admin-password",
        ),
        (
            with(
                "",
                "[[factor]]\nname = \"threads\"\nvalues = [{ label = 1 }]",
            ),
            "f:9: name = \"threads\": must be a text without / and not target",
        ),
        (
            with("", "[[factor]]\nname = \"x\""),
            "f:8: [[factor]] needs values",
        ),
        (
            with("", "[[factor]]\nname = \"x\"\nvalues = []"),
            "f:10: values = []: must be a list of tables",
        ),
        (
            with(
                "",
                "[[factor]]\nname = \"x\"\nvalues = [\n{ label = 1 },\n{ lable = 2 }]",
            ),
            "f:12: lable: unknown key in values of a [[factor]]; known: label",
        ),
        (
            with(
                "",
                "[[factor]]\nname = \"x\"\nvalues = [{ label = 1 }, { label = 1 }]",
            ),
            "labels must be unique",
        ),
        (
            with(
                "",
                "[[factor]]\nname = \"x\"\nworkloads = [\"oltp_read_onyl\"]\nvalues = [{ label = 1 }]",
            ),
            "no workload is called oltp_read_onyl; there are oltp_read_only; did you mean oltp_read_only?",
        ),
        (
            with(
                "",
                "[[factor]]\nname = \"x\"\nvalues = [{ label = 1, target = \"up:mariadb\" }]",
            ),
            "factor x and [[target]] both set",
        ),
        (
            with(
                "",
                "[[workload]]\nname = \"tpch\"\n[[workload]]\nname = \"tpcc\"",
            ),
            "f:10: tpcc: TPC-C and TPC-H have tables of the same names",
        ),
        (
            with(
                "repeats = 1000",
                &format!(
                    "load = {{ threads = [{}] }}",
                    (1..=101)
                        .map(|n| n.to_string())
                        .collect::<Vec<_>>()
                        .join(",")
                ),
            ),
            "f:1: the matrix has 101000 runs; at most 100000",
        ),
        (
            with("", "[[target]]\nname = \"b\"\nurl = \"u:geheim@h/db\""),
            "url = \"u:***@h/db\": not a URL",
        ),
        (
            with("", "[[target]]\nname = \"b\"\nurl = \"mysql://u:geheim\""),
            "url = \"mysql://u:***\": invalid port after ':'",
        ),
        (with("time = \"u:geheim@h\"", ""), "time = \"u:***@h\""),
        ("name = \"s\"\n".into(), "f:1: no [[workload]]"),
        ("name = \"s\"\n".into(), "f:1: no [[target]]"),
        (
            "".into(),
            "f:1: the top of the file needs name; for example name = \"thread sweep\"",
        ),
    ] {
        let told = wrong(&text);
        assert!(told.contains(said), "{text}\n\n{told}\n\nlacks: {said}");
        assert!(!told.contains("geheim"), "{told}");
    }
}

#[test]
fn a_time_of_nothing_is_told_once_whatever_measures_by_it() {
    let told = wrong(&with(
        "time = 0",
        "[[workload]]\nname = \"oltp_read_write\"",
    ));
    assert_eq!(told.lines().count(), 1, "{told}");
}

/// The keys under the second one are no problems of their own.
#[test]
fn a_header_that_stands_twice_is_told_once() {
    let target = "[target]\nname = \"a\"\nurl = \"sqlite:a.db\"\n";
    let workload = "[[workload]]\nname = \"oltp_read_only\"\n";
    let told = wrong(&format!(
        "name = \"s\"\n{target}{target} {target}{workload}"
    ));
    let said = "f:5: [target] appears twice: use tables that begin with [[target]], with two \
                brackets each; for example [[target]] name = \"a\", url = \"…\"";
    assert_eq!(told, said);
    // Beside right ones, too; and what else is wrong is told.
    let told = wrong(&format!(
        "name = \"s\"\n[[target]]\nname = \"b\"\n{target}{workload}time = 1\ntime = 2\n"
    ));
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 2, "{told}");
    assert!(
        lines[0].starts_with("f:4: [target] appears twice: "),
        "{told}"
    );
    assert_eq!(lines[1], "f:10: no TOML: duplicate key");
}

#[test]
fn all_problems_are_told_at_once_by_line() {
    let told = wrong(&with("repeats = 0\norder = 1", "optoins = 1"));
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(
        lines[0].starts_with("f:2: ")
            && lines[1].starts_with("f:3: ")
            && lines[2].starts_with("f:9: ")
    );
}

#[test]
fn of_two_wrong_options_each_is_told_with_its_own_line() {
    let told = wrong(&with(
        "",
        "[[factor]]\nname = \"x\"\nvalues = [\n{ label = 1, options = { tabel-a = 1 } },\n{ label = 2, options = { tabel-b = 1 } },\n]",
    ));
    assert!(
        told.contains("f:11: oltp_read_only: unknown option --tabel-a=1"),
        "{told}"
    );
    assert!(
        told.contains("f:12: oltp_read_only: unknown option --tabel-b=1"),
        "{told}"
    );
}

#[test]
fn what_holds_for_several_workloads_is_told_once_where_it_stands() {
    let two = "[[workload]]\nname = \"oltp_write_only\"\n[[workload]]\nname = \"tpcc\"\n";
    let own = "[[workload]]\nname = \"oltp_insert\"\ntime = \"2s\"\n";
    for (top, rest, said) in [
        (
            "time = \"1500ms\"",
            format!("{two}{own}"),
            "f:2: time = \"1500ms\": oltp_read_only, oltp_write_only: sysbench's workloads take \
             whole seconds; for example time = \"60s\"",
        ),
        (
            "",
            format!("{two}[load]\nthreads = [1, 2]\nrates = [5, 9000000]"),
            "f:12: oltp_read_only, oltp_write_only, tpcc: --rate=9000000: must be less",
        ),
    ] {
        assert_eq!(wrong(&with(top, &rest)), said);
    }
    // A workload's own load has the workload's line.
    let told = wrong(&with("", "load = { rates = [9000000] }"));
    assert_eq!(told, "f:8: oltp_read_only: --rate=9000000: must be less");
}
