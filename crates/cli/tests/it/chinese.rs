//! What commands print in Chinese: no English word of their own is left. Names, units, SQL, options and
//! commands are the same in both languages.

use super::common::{Said, Workdir};
use std::collections::BTreeSet;
use std::path::Path;

/// Of names that stand in outputs, those that are also words of English texts: of series and their
/// units, of sources, of rules, and keys of study files.
const NAMES: [&str; 10] = [
    "memory", "first", "cores", "delay", "other", "some", "backlog", "outage", "threads", "network",
];

/// Words of the English texts that the Chinese ones lack: names, units and options are in both.
fn english_words() -> BTreeSet<String> {
    let mut english = BTreeSet::new();
    let mut both: BTreeSet<String> = NAMES.map(String::from).into();
    for folder in ["crates/cli", "crates/report", "crates/analysis"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let sections = tidemark_texts::sections(&root.join(folder)).unwrap();
        // Errors repeat what servers and command lines say.
        for section in sections.iter().filter(|s| s.name != "messages") {
            for text in &section.texts {
                english.extend(words(&text.en));
                both.extend(words(&text.zh));
            }
        }
    }
    english.retain(|word| !both.contains(word));
    english
}

/// Words of four letters or more, each between blanks or signs that belong to no name.
fn words(text: &str) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-/.=:{}@|<>".contains(c);
    let tokens = text.split(|c: char| !is_name(c));
    let tokens = tokens.map(|token| token.trim_matches(['.', ':', '-']));
    let words = tokens.filter(|t| t.len() > 3 && t.chars().all(|c| c.is_ascii_lowercase()));
    words.map(String::from).collect()
}

fn in_chinese(dir: &Workdir, args: &[&str]) -> Said {
    let mut command = dir.command(args);
    command.env("TIDEMARK_LANG", "zh");
    command.env("XDG_DATA_HOME", dir.path());
    Said::of(&command.output().unwrap())
}

/// What a command prints is Chinese, has this in it and no English word; the same in English has no
/// Chinese character.
fn is_chinese(dir: &Workdir, args: &[&str], has: &[&str]) -> Said {
    let said = in_chinese(dir, args);
    let text = said.all();
    for part in has {
        assert!(text.contains(part), "{args:?} without {part}: {text}");
    }
    let english = english_words();
    let left: Vec<String> = words(&text)
        .into_iter()
        .filter(|w| english.contains(w))
        .collect();
    assert!(left.is_empty(), "{args:?}: {left:?} in {text}");
    said
}

fn is_english(dir: &Workdir, args: &[&str]) {
    let said = in_chinese(dir, &[args, &["--lang", "en"]].concat());
    let is_han = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    assert!(!said.all().contains(is_han), "{args:?}: {said:?}");
}

/// Both at once.
fn in_both(dir: &Workdir, args: &[&str], has: &[&str]) {
    is_chinese(dir, args, has);
    is_english(dir, args);
}

#[test]
fn there_are_words_to_look_for() {
    let english = english_words();
    assert!(english.len() > 500, "{}", english.len());
    for word in ["another", "warehouses", "started", "loaded"] {
        assert!(english.contains(word), "{word}");
    }
    for name in ["prepare", "tidemark", "report", "innodb"] {
        assert!(!english.contains(name), "{name}");
    }
}

#[test]
fn commands_about_kept_runs_print_chinese() {
    let dir = Workdir::new();
    in_both(&dir, &["workloads"], &["按主键查询一行"]);
    in_both(&dir, &["up"], &["没有沙箱"]);
    in_both(&dir, &["down"], &["没有沙箱"]);
    // A database of its own folder, and two runs.
    let sysbench = |more: &[&str]| {
        let words = [
            "sysbench",
            "oltp_point_select",
            "--target=sqlite:a.db",
            "--table-size=1000",
        ];
        let said = in_chinese(&dir, &[&words, more].concat());
        assert!(said.is_done(), "{said:?}");
        said.all()
    };
    let loaded = sysbench(&["prepare"]);
    assert!(loaded.contains("已加载 1000 行"), "{loaded}");
    assert!(loaded.contains("Creating table 'sbtest1'..."), "{loaded}");
    let kept = sysbench(&["--keep-loaded", "prepare"]);
    assert!(kept.contains("保持不变"), "{kept}");
    for _ in 0..2 {
        let ran = sysbench(&["--time=1", "--report=r.txt", "--overwrite", "run"]);
        assert!(ran.contains("已保存，查看：tidemark show"), "{ran}");
        assert!(ran.contains("报告：r.txt"), "{ran}");
        assert!(ran.contains("SQL statistics:"), "{ran}");
    }
    in_both(&dir, &["show", "last"], &["事务"]);
    in_both(&dir, &["audit", "last"], &["共 1 次压测：无效"]);
    in_both(
        &dir,
        &["doctor", "sqlite:a.db", "--quick"],
        &["通过   建表（预编译）", "全部检查通过"],
    );
    in_both(&dir, &["tag"], &["还没有标签"]);
    in_both(&dir, &["tag", "last"], &["无标签"]);
    in_both(&dir, &["store", "check"], &["完好：2 次压测"]);
    let listed = is_chinese(&dir, &["runs"], &["测试目标", "已完成"]).out;
    is_english(&dir, &["runs"]);
    // Columns stand below their heads, in cells of a terminal.
    let cells = |line: &str, part: &str| {
        let before = line.split(part).next().unwrap();
        let wide = |c: char| if c.is_ascii() { 1 } else { 2 };
        before.chars().map(wide).sum::<usize>()
    };
    let mut lines = listed.lines();
    let head = lines.next().unwrap();
    let row = lines.next().unwrap();
    assert_eq!(
        cells(head, "测试目标"),
        cells(row, "sqlite:a.db"),
        "{listed}"
    );
    assert_eq!(
        cells(head, "负载"),
        cells(row, "oltp_point_select"),
        "{listed}"
    );
    let ids: Vec<&str> = listed.lines().skip(1).map(|l| &l[..36]).collect();
    in_both(&dir, &["compare", ids[1], ids[0]], &["事务"]);
    in_both(
        &dir,
        &["runs", "--tag", "none"],
        &["没有符合条件的压测记录"],
    );
    is_chinese(&dir, &["export", ids[0], "-o", "one.json"], &[]);
    is_chinese(&dir, &["import", "one.json"], &[]);
    is_chinese(&dir, &["delete", "--yes", ids[0]], &["已删除压测记录"]);
    let one = is_chinese(&dir, &["import", "one.json"], &["已导入压测"]);
    assert!(one.is_done(), "{one:?}");
}

/// Command lines that are wrong, and what is said of them.
const WRONG: &[(&str, &[&str])] = &[
    (
        "sysbench oltp_raed_only run",
        &["未知负载 oltp_raed_only；是否想用 oltp_read_only？可用："],
    ),
    (
        "sysbench oltp_insert rnu",
        &["未知命令 rnu；可用：", "是否想用 run？"],
    ),
    ("sysbench oltp_insert", &["未给出命令；可用：", "；例如："]),
    ("sysbench run", &["run 之前缺少脚本名；例如："]),
    (
        "sysbench oltp_insert run extra",
        &["无法识别 extra：选项写作 --name=value"],
    ),
    (
        "sysbench oltp_insert run --tabel-size=10",
        &["未知选项 --tabel-size；是否想用 --table-size？"],
    ),
    (
        "sysbench oltp_insert run --threads=0",
        &["--threads=0：须为 1 到 1000000 的整数；例如 --threads=1"],
    ),
    (
        "sysbench oltp_insert run --skip-trx=maybe",
        &["--skip-trx=maybe：须为 on 或 off"],
    ),
    (
        "sysbench oltp_insert run --rand-type=zipf",
        &["--rand-type=zipf：须为 ", "？例如 --rand-type=special"],
    ),
    (
        "sysbench oltp_insert run --statement-timeout=soon",
        &["--statement-timeout=soon：须为 ", "单位 us、ms、s、m 或 h"],
    ),
    (
        "sysbench oltp_insert run --threads",
        &["--threads 缺少值；例如 "],
    ),
    (
        "sysbench oltp_insert run -t4",
        &["未知选项 -t4：选项以两个短横线开头"],
    ),
    (
        "sysbench oltp_insert run --random-points=3",
        &["oltp_insert 没有 --random-points 选项；参见："],
    ),
    ("sysbench ./mine.lua run", &["没有该文件；内置脚本："]),
    (
        "sysbench oltp_insert run --config-file=absent.cfg",
        &["absent.cfg：无法读取：没有该文件或目录"],
    ),
    (
        "sysbench oltp_insert run --target=mysqk://u@h/db",
        &["测试目标 ", "：未知的 URL 类型 mysqk；可用："],
    ),
    (
        "sysbench oltp_insert run --target=mysql://u@h:70000/db",
        &["端口 70000：须为 1 到 65535；例如 "],
    ),
    (
        "sysbench oltp_insert run --target=mysql://u@h/db?tsl=on",
        &["未知的键 tsl；可用：", "是否想用 tls？"],
    ),
    (
        "sysbench oltp_insert run --target=sqlite:x.db --report=report.pdf",
        &["report.pdf：未知的报告格式；文件名须以 .html"],
    ),
    (
        "sysbench oltp_insert run --target=sqlite:x.db --out=no/such/r.json",
        &["文件夹不存在"],
    ),
    (
        "sysbench oltp_insert run --target=sqlite:x.db --out=/tmp",
        &["--out=/tmp：它是文件夹；请用其中的文件"],
    ),
    (
        "sysbench oltp_insert run --target=sqlite:absent.db",
        &["数据库文件 absent.db 不存在；请先运行 prepare：tidemark"],
    ),
    (
        "sysbench oltp_insert run --target=mysql://u@127.0.0.1:1/db",
        &["无法连接 127.0.0.1:1：连接被拒绝"],
    ),
    (
        "sysbench oltp_insert run --target=postgres://u@h/db?connect_timeout=3",
        &["connect_timeout 是 libpq 的键：请在命令行写 --connect-timeout=10s"],
    ),
    (
        "sysbench oltp_insert run --rate=fast",
        &["--rate=fast：须为每秒事务数 ", "不是速率", "；例如 --rate="],
    ),
    (
        "sysbench oltp_insert run --observe=nonsense",
        &["--observe=\"nonsense\" 不是观测来源；可用 auto、off，或以下来源的列表："],
    ),
    (
        "sysbench cpu cleanup",
        &[
            "cpu 不需要 cleanup；可用：",
            "；例如：tidemark sysbench cpu run",
        ],
    ),
    (
        "sysbench oltp_insert run --range-key-partitioning=1",
        &["某个 sysbench 分支的选项，sysbench 没有；范围分区请用：--partitioning=range"],
    ),
    (
        "oltpbench -c workload.xml",
        &["未给出步骤：请加 --create=true、--clear=true"],
    ),
    (
        "pgbench -i -I dt",
        &[
            "--init-steps=dt：必须有 t、g（或 G）和 p：建表、加载与检查不可分开；例如 --init-steps=dtgvpf",
        ],
    ),
    (
        "pgbench a b",
        &["无法识别 b：只能给出一个数据库名；选项写作 --name=value"],
    ),
    (
        "pgbench --partitions=4",
        &["不支持 --partitions：表按不分区创建；压测可使用 pgbench 创建的分区表"],
    ),
    (
        "tpch run --queries q1,q23",
        &["未知的查询 \"q23\"；请用 q1 到 q22，例如 --queries=q1,q6；是否想用 q22？"],
    ),
    (
        "tpch run --test power --queries q1",
        &["--queries=q1：--test=power 执行全部 22 个查询；请去掉 --queries"],
    ),
    (
        "tpch run --test full --check",
        &["--check 与 --test=full 不能同时使用：RF1 和 RF2 会修改数据"],
    ),
    (
        "tpch run --test throughput --time 1m",
        &["--time 与 --test=throughput 不能同时使用：每个查询流"],
    ),
    (
        "tpcc --warehouses 2 --parts 3 prepare",
        &["--parts=3 超过 --warehouses=2：每个分区至少要有一个仓库；例如 --parts=2"],
    ),
    (
        "tpch --sf 0.012 --target sqlite:h.db prepare",
        &[
            "--sf=0.012：按规范 4.2.3 节的公式",
            "；小于 0.023 时只有部分取值可用，例如 ",
        ],
    ),
    (
        "up mariadb --set bind_address=0.0.0.0",
        &["参数 bind_address 由沙箱设定，沙箱只在本机监听；其他参数可以设置，例如 "],
    ),
    (
        "ycsb run sqlite -p recordcount=10 -p readproportion=0 -p updateproportion=0",
        &["和 readmodifywriteproportion 都是 0；例如 readproportion=1"],
    ),
    (
        "watch sqlite:a.db --observe=off",
        &["的值 'off' 无效：观测没有负载，off 则什么都不剩；请用 auto，或观测来源的列表"],
    ),
    (
        "watch sqlite:a.db --time=0",
        &["的值 '0' 无效：须为大于 0 的时间，如 10s"],
    ),
    ("exec", &["缺少以下必需的参数：", "<JOB.json>"]),
    (
        "sysbench oltp_insert run --target=mysql://u@127.0.0.1:1/db?tls=on&ca=/dev/null",
        &["ca=/dev/null：其中没有 PEM 证书"],
    ),
    (
        "oltp_read_only run",
        &["oltp_read_only 是 sysbench 的脚本：tidemark sysbench oltp_read_only [options]... run"],
    ),
    ("down nothing", &["没有沙箱 nothing；"]),
    ("show nothing", &["这里没有压测库；请用 --store=runs.db"]),
    (
        "report last --out report.docx",
        &["report.docx：未知的报告格式；"],
    ),
    ("frobnicate", &["错误：未知的命令 'frobnicate'", "用法："]),
    ("demo --rows=0", &["错误：", "的值 '0' 无效：0 不在 "]),
    ("compare a", &["错误：缺少以下必需的参数："]),
];

#[test]
fn errors_are_chinese() {
    let dir = Workdir::new();
    let is_han = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    let mut others = Vec::new();
    for (words, parts) in WRONG {
        let args: Vec<&str> = words.split(' ').collect();
        let said = in_chinese(&dir, &args);
        let absent = parts.iter().filter(|part| !said.err.contains(**part));
        others.extend(absent.map(|part| format!("{words}: {part:?}: {said:?}")));
        let english = dir.run(&args);
        assert_eq!(english.code, said.code, "{words}");
        assert!(!english.all().contains(is_han), "{words}: {english:?}");
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    // The flag names the language as well as the environment does.
    let flag = dir.run(&["show", "nothing", "--lang=zh"]);
    assert!(flag.err.contains("这里没有压测库"), "{flag:?}");
    let said = in_chinese(&dir, &["show", "nothing", "--lang", "en"]);
    assert!(said.err.contains("no run store here"), "{said:?}");
}

#[test]
fn imports_print_chinese() {
    let dir = Workdir::new();
    let output = "# 测试\n\nsysbench --threads=8 oltp_read_only run\n\n\
        SQL statistics:\n    queries performed:\n        read:      140\n        write:     0\n\
        other:     20\n        total:     160\n    transactions:    10     (1.00 per sec.)\n\
        queries:         160    (16.00 per sec.)\n    ignored errors:  0      (0.00 per sec.)\n\
        reconnects:      0      (0.00 per sec.)\n\n\
        General statistics:\n    total time:                 10.0010s\n\
        total number of events:     10\n\n\
        Latency (ms):\n         min:    7.17\n         avg:    11.22\n         max:    51.81\n\
        95th percentile:    19.65\n         sum:    112.20\n";
    std::fs::write(dir.path().join("results.md"), output).unwrap();
    is_chinese(
        &dir,
        &["import", "--dry-run", "results.md"],
        &["识别出 1 次压测"],
    );
    let explained = in_chinese(&dir, &["import", "--explain", "results.md"]).out;
    assert!(explained.contains("标题"), "{explained}");
    is_chinese(&dir, &["audit", "results.md"], &["共 1 次压测"]);
    is_chinese(
        &dir,
        &["import", "results.md"],
        &["导入 1 次压测，0 次已在库中", "8 个会话"],
    );
    is_chinese(
        &dir,
        &["import", "results.md"],
        &["导入 0 次压测，1 次已在库中"],
    );
}

#[test]
fn studies_print_chinese() {
    let dir = Workdir::new();
    in_both(&dir, &["study", "status"], &["还没有执行过测试方案"]);
    let study = "name = \"sqlite-1\"\ntime = 1\n[[target]]\nname = \"sqlite\"\nurl = \"sqlite:s.db\"\n\
        session = { synchronous = \"OFF\" }\n\
        [[workload]]\nname = \"oltp_point_select\"\noptions = { table-size = 500 }\n";
    std::fs::write(dir.path().join("study.toml"), study).unwrap();
    let wrong = study.replace("time = 1\n", "time = 1\norder = \"shufled\"\n");
    std::fs::write(dir.path().join("wrong.toml"), wrong).unwrap();
    let said = in_chinese(&dir, &["study", "plan", "wrong.toml"]);
    let near = "或 shuffled（打乱），是否想用 shuffled？例如 order = ";
    assert!(said.err.contains(near), "{said:?}");
    let plan = ["study", "plan", "study.toml"];
    in_both(
        &dir,
        &plan,
        &["测试方案 \"sqlite-1\"", "步骤：", "数据加载  只加载一次"],
    );
    let ran = is_chinese(
        &dir,
        &["study", "run", "study.toml"],
        &[
            "提示：该测试方案的 repeats = 1",
            "[1/2] 加载 sqlite/",
            "共 2 步：完成 ",
            "查看结果",
        ],
    );
    assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
    in_both(&dir, &["study", "status"], &["已结束"]);
    in_both(
        &dir,
        &["study", "status", "last"],
        &["执行 ID", "剩余 0，共 2"],
    );
    // A document also holds settings, their values, and outputs of tools, which have no language.
    let document = ["report", "last", "--format", "md", "-o", "-"];
    let said = in_chinese(&dir, &document).out;
    assert!(
        said.contains("测试环境") || said.contains("压测客户端"),
        "{said}"
    );
    is_english(&dir, &document);
}

#[test]
fn the_demo_prints_chinese_beside_the_lines_of_sysbench() {
    let dir = Workdir::new();
    let said = in_chinese(&dir, &["demo", "--plain", "--time=1", "--rows=1000"]);
    for part in [
        "Tidemark 演示",
        "压测后检查：sbtest1 有 1000 行，与压测前一致",
        "下一步",
    ] {
        assert!(said.out.contains(part), "{part}: {said:?}");
    }
}
