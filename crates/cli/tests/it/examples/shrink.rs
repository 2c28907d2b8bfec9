//! A study's file made small enough for a test: the same matrix on servers of the test, with little
//! data and little time. Every key has its rule here, so that one without a rule fails the test.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use tidemark_testkit::Endpoint;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

type Table = Map<String, Value>;

/// Of every run: the least that sysbench takes.
const TIME: &str = "1s";

/// Where a shrunk study's databases are.
pub struct Servers {
    pub mariadb: Endpoint,
    pub postgres: Endpoint,
    /// A folder with MariaDB's programs.
    pub programs: String,
}

/// A study made small.
pub struct Shrunk {
    /// The file.
    pub text: String,
    /// Variables that it takes passwords from.
    pub variables: BTreeSet<String>,
    /// Points of its matrix.
    pub points: usize,
    /// What its report must name: targets, workloads, values of factors.
    pub named: Vec<String>,
}

/// Makes a study small.
pub fn shrink(text: &str, servers: &Servers) -> Shrunk {
    let read = DeTable::parse(text).unwrap();
    let mut file = plain_table(read.get_ref());
    let mut shrinker = Shrinker {
        servers,
        variables: BTreeSet::new(),
    };
    shrinker.top(&mut file);
    Shrunk {
        // A busy machine has not the time to sum what a run wrote: then a study replaces only what
        // it is told to.
        text: std::iter::once("existing = \"replace\"\n".to_string())
            .chain(file.iter().filter(|(k, _)| *k != "existing").map(line))
            .collect(),
        variables: shrinker.variables,
        points: points(&file),
        named: named(&file),
    }
}

fn line((key, value): (&String, &Value)) -> String {
    format!("{key} = {}\n", toml_of(value))
}

struct Shrinker<'a> {
    servers: &'a Servers,
    variables: BTreeSet<String>,
}

impl Shrinker<'_> {
    fn top(&mut self, file: &mut Table) {
        for (key, value) in file.iter_mut() {
            match key.as_str() {
                "name" | "order" | "seed" | "reload" | "existing" | "on-failure" | "price"
                | "objective" => {}
                "repeats" => *value = json!(1),
                "warmup" => *value = json!("0s"),
                "time" => *value = json!(TIME),
                "load-threads" => *value = json!(2),
                "load" => levels(table(value)),
                "target" => each(value, |one, _| self.target(one)),
                "workload" => {
                    first_and_last(value);
                    each(value, |one, _| workload(one));
                }
                "factor" => each(value, |one, _| {
                    let values = &mut one["values"];
                    first_and_last(values);
                    // A second size of them would be a million rows more.
                    if values[0]["options"]["warehouses"].is_u64() {
                        values.as_array_mut().unwrap().truncate(1);
                    }
                    self.factor(one);
                }),
                other => no_rule(other),
            }
        }
    }

    fn target(&mut self, target: &mut Table) {
        for (key, value) in target.iter_mut() {
            match key.as_str() {
                "name" | "session" => {}
                "url" | "admin" => *value = json!(self.url(text(value))),
                "password" | "admin-password" => {
                    let variable = text(value).strip_prefix("env:");
                    let variable = variable.expect("an example's password is in the environment");
                    self.variables.insert(variable.to_string());
                }
                other => no_rule(other),
            }
        }
    }

    fn factor(&mut self, factor: &mut Table) {
        for (key, value) in factor.iter_mut() {
            match key.as_str() {
                "name" | "during" => {}
                "values" => each(value, |one, at| self.value(one, at)),
                other => no_rule(other),
            }
        }
    }

    /// The `at`-th value of a factor.
    fn value(&mut self, one: &mut Table, at: u64) {
        for (key, value) in one.iter_mut() {
            match key.as_str() {
                "label" | "session" | "set-global" | "inject-rtt" => {}
                "options" => options(table(value), at + 1),
                "target" => *value = json!(self.url(text(value))),
                other => no_rule(other),
            }
        }
    }

    /// The same kind of database on a server of the test, without its password.
    fn url(&self, url: &str) -> String {
        let without_password = |endpoint: &Endpoint| {
            let url = endpoint.url();
            let password = format!(":{}@", endpoint.target().password.reveal());
            assert!(
                url.contains(&password),
                "a server of tests without a password"
            );
            url.replace(&password, "@")
        };
        match url.split_once(':') {
            Some(("mysql", _)) => without_password(&self.servers.mariadb),
            Some(("postgres", _)) => without_password(&self.servers.postgres),
            // A file in the folder of the test.
            Some(("sqlite", _)) => url.into(),
            Some(("up", _)) => match url.split_once("version-from=") {
                Some((before, _)) => format!("{before}version-from={}", self.servers.programs),
                None => url.into(),
            },
            _ => panic!("there is no rule for the database {url}"),
        }
    }
}

fn workload(workload: &mut Table) {
    let of_sysbench = workload["name"].as_str().unwrap().starts_with("oltp_");
    for (key, value) in workload.iter_mut() {
        match key.as_str() {
            "name" | "label" | "family" | "session" => {}
            "options" => options(table(value), 1),
            "load" => levels(table(value)),
            "warmup" => *value = json!("0s"),
            "time" => *value = json!(TIME),
            other => no_rule(other),
        }
    }
    if of_sysbench {
        // A hundredth of so few rows is what sysbench prefers by default: dozens of sessions would
        // write the same ones, and a tenth of their transactions fail.
        let options = workload.entry("options").or_insert_with(|| json!({}));
        table(options).insert("rand-type".into(), json!("uniform"));
    }
}

/// Sizes become small, and `times` as large where a factor's values must differ.
fn options(options: &mut Table, times: u64) {
    for (key, value) in options.iter_mut() {
        match key.as_str() {
            "check" | "query-timeout" | "wait" => {}
            "tables" => *value = json!(value.as_u64().unwrap_or(2).min(2)),
            "table-size" => *value = json!(10_000 * times),
            "recordcount" => *value = json!(2_000 * times),
            "warehouses" => *value = json!(times),
            "sf" => *value = json!(0.01 * times as f64),
            other => no_rule(other),
        }
    }
}

fn levels(levels: &mut Table) {
    for (key, value) in levels.iter_mut() {
        match key.as_str() {
            "threads" | "terminals" | "rates" | "connections" => {
                first_and_last(value);
                value.as_array_mut().unwrap().iter_mut().for_each(fewer);
            }
            other => no_rule(other),
        }
    }
}

/// Hundreds of sessions do what a few do, and open for longer than they run.
fn fewer(level: &mut Value) {
    if let Some(many @ 8..) = level.as_u64() {
        *level = json!(many.min(64) / 4);
    }
}

fn no_rule(key: &str) -> ! {
    panic!("there is no rule how {key} of an example is made small: write one")
}

/// Of a list of three and more the first and the last.
fn first_and_last(value: &mut Value) {
    if let Value::Array(items) = value
        && items.len() > 2
    {
        items.drain(1..items.len() - 1);
    }
}

fn each(value: &mut Value, mut change: impl FnMut(&mut Table, u64)) {
    let items = value.as_array_mut().unwrap().iter_mut();
    (0..)
        .zip(items)
        .for_each(|(at, one)| change(table(one), at));
}

fn table(value: &mut Value) -> &mut Table {
    value.as_object_mut().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn list<'a>(table: &'a Table, key: &str) -> &'a [Value] {
    match table.get(key) {
        Some(Value::Array(items)) => items,
        Some(one) => std::slice::from_ref(one),
        None => &[],
    }
}

/// Every combination of targets, workloads with their levels, and factors.
fn points(file: &Table) -> usize {
    let levels = |of: Option<&Value>| -> usize {
        let table = of.and_then(Value::as_object);
        let counts = table
            .into_iter()
            .flat_map(|t| t.keys().map(|k| list(t, k).len()));
        counts.product()
    };
    let of_workloads: usize = list(file, "workload")
        .iter()
        .map(|w| levels(w.get("load").or_else(|| file.get("load"))))
        .sum();
    let factors = list(file, "factor").iter();
    let of_factors: usize = factors
        .map(|f| f["values"].as_array().unwrap().len())
        .product();
    list(file, "target").len().max(1) * of_workloads * of_factors
}

fn named(file: &Table) -> Vec<String> {
    let names = |key: &str, name: &str| -> Vec<String> {
        let items = list(file, key).iter();
        items.map(|one| text(&one[name]).to_string()).collect()
    };
    let mut all = [names("target", "name"), names("workload", "name")].concat();
    for factor in list(file, "factor") {
        // What is the same in all runs need not be named.
        let values = factor["values"].as_array().unwrap();
        let values = values.iter().filter(|_| values.len() > 1);
        all.extend(values.map(|v| text(&v["label"]).to_string()));
    }
    all
}

fn plain_table(table: &DeTable<'_>) -> Table {
    let plain = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let key: &toml::de::DeString<'_> = key.get_ref();
        (key.to_string(), plain(value.get_ref()))
    };
    table.iter().map(plain).collect()
}

fn plain(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(n) => json!(n.as_str().replace('_', "").parse::<i64>().unwrap()),
        DeValue::Float(n) => json!(n.as_str().replace('_', "").parse::<f64>().unwrap()),
        DeValue::Boolean(yes) => json!(yes),
        DeValue::Datetime(at) => panic!("no key of a study takes a date: {at}"),
        DeValue::Array(items) => items.iter().map(|i| plain(i.get_ref())).collect(),
        DeValue::Table(table) => Value::Object(plain_table(table)),
    }
}

/// As TOML has it in one line. Texts and numbers are written as in JSON.
fn toml_of(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(toml_of).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(table) => {
            let items = table.iter().map(|(k, v)| format!("{k} = {}", toml_of(v)));
            format!("{{ {} }}", items.collect::<Vec<_>>().join(", "))
        }
        plain => plain.to_string(),
    }
}
