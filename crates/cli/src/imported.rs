//! A record from elsewhere, as it may be kept and told: whatever it holds, no password comes into
//! the store or a report.

use crate::secrets;
use serde_json::{Map, Value};
use tidemark_core::record::{Interval, RunRecord};
use tidemark_core::{is_password_name, redact_text, redact_url};

/// What stands in the quotes of a word that is all in quotes.
fn in_quotes(word: &str) -> Option<&str> {
    ['"', '\''].into_iter().find_map(|quote| {
        let inner = word.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.is_empty() && !inner.contains(quote)).then_some(inner)
    })
}

/// The record with `***` for every password, in whatever part of it: of the command line and of
/// options as records of ours have it, of everything else wherever a URL or an assignment shows one.
///
/// # Errors
/// The record can't be written or read again.
pub fn without_passwords(mut record: RunRecord) -> serde_json::Result<RunRecord> {
    if record.imported.is_some() {
        // The words of a document's command have its quotes, in which a URL is not known as one.
        for word in &mut record.command {
            while let Some(inner) = in_quotes(word).map(String::from) {
                *word = inner;
            }
        }
    }
    record.command = secrets::redact(&record.command);
    // What is one URL is taken as a whole: its password may hold anything.
    record.target = redact_url(&record.target);
    for (name, option) in &mut record.options {
        option.value = redact_url(&option.value);
        hide_if_secret(name, &mut option.value);
    }
    for (name, value) in record.study.iter_mut().flat_map(|s| &mut s.factors) {
        *value = redact_url(value);
        hide_if_secret(name, value);
    }
    for setting in &mut record.settings {
        if is_switch(&setting.value) {
            continue;
        }
        hide_if_secret(&setting.name, &mut setting.value);
        if let Some(default) = &mut setting.default {
            hide_if_secret(&setting.name, default);
        }
    }
    // One by one: there may be hundreds of thousands.
    let intervals = std::mem::take(&mut record.intervals);
    let mut record: RunRecord = serde_json::from_value(searched(serde_json::to_value(record)?))?;
    record.intervals = intervals
        .into_iter()
        .map(|interval| serde_json::from_value(searched(serde_json::to_value(interval)?)))
        .collect::<serde_json::Result<Vec<Interval>>>()?;
    Ok(record)
}

fn hide_if_secret(name: &str, value: &mut String) {
    if (is_password_name(name) || secrets::is_password_option(name)) && !value.is_empty() {
        *value = "***".into();
    }
}

/// Servers have settings about passwords that are none (`disconnect_on_expired_password`).
fn is_switch(value: &str) -> bool {
    let words = ["on", "off", "yes", "no", "true", "false", "0", "1"];
    words.contains(&value.to_ascii_lowercase().as_str())
}

/// Every text in it, and every name, without passwords.
fn searched(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact_text(&text)),
        Value::Array(items) => items.into_iter().map(searched).collect(),
        Value::Object(members) => {
            let mut kept = Map::new();
            for (name, value) in members {
                let mut name = redact_text(&name);
                // Two names may be the same without their passwords.
                while kept.contains_key(&name) {
                    name.push('\'');
                }
                kept.insert(name, searched(value));
            }
            Value::Object(kept)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// A record with something in every part.
    fn full() -> Value {
        let types =
            json!({"read": {"count": 3, "service": "HISTF", "response": "HISTF", "wait": "W"}});
        let hosts = json!([{"host": "h:1", "role": "read", "sessions": 1, "statements": 2}]);
        let totals = json!({
            "elapsed_s": 1.5, "ignored_errors": 0, "reconnects": 0, "types": types, "parts": types,
            "statements": {"read": 1, "write": 2, "other": 3, "noop_writes": 0},
            "notes": {"rolled_back": 1}, "all": {"count": 3, "service": "HISTF"},
            "fairness": {"events_avg": 0.5, "events_stddev": 0.0, "time_avg_s": 0.0,
                "time_stddev_s": 0.0},
            "lateness": "HISTF", "hosts": hosts,
        });
        let table = json!({"table": "t", "rows": 5});
        let mut record = json!({
            "schema_version": 1, "id": "0199", "tidemark_version": "0.1.0",
            "started_at": "2026-11-20T10:00:00Z", "state": "failed", "reason": "it broke",
            "study": {"study": "s", "name": "n", "cell": "c", "factors": {"target": "v"}, "repeat": 1},
            "tags": ["x"], "note": "one\ntwo", "command": ["tidemark", "sysbench", "run"],
            "workload": "w", "target": "mysql://u@h/d",
            "server": {"engine": "mariadb", "version": "10.11"},
            "settings": [{"name": "s", "value": "1", "default": "2"}], "notes": ["n"],
            "isolation": "serializable",
            "options": {"threads": {"value": "4", "source": "default"}},
            "sessions": 1, "executors": 1, "seed": 1,
            "client": {"hostname": "h", "os": "o", "kernel": "k", "cpu_model": "m", "cores": 1,
                "memory_bytes": 1},
        });
        let measured = json!({
            "usage": {"cpu_user_s": 0.25, "cpu_system_s": 0.0, "max_resident_bytes": 0},
            "tables_before": [table], "tables_after": [table],
            "intervals": [{
                "start_ms": 0, "length_ms": 1000.0, "phase": "measure", "sessions": 1,
                "statements": {"read": 1, "write": 2, "other": 3, "noop_writes": 0},
                "ignored_errors": 0, "reconnects": 0, "hosts": hosts, "types": types,
                "parts": types, "notes": {"rolled_back": 1},
            }],
            "totals": totals,
            "steps": [{"purpose": "asked", "rate": 5.0, "start_ms": 0, "totals": totals,
                "verdict": {"kept": true, "because": "b"}}],
            "outages": [{"host": "h", "start_ms": 1, "length_ms": 2.0, "ended": true,
                "first_error": "e"}],
            "errors": [{"code": "1", "class": "retryable", "count": 1, "first_message": "m"}],
            "queries": [{"stream": 0, "name": "Q1", "start_ms": 0.0, "took_ms": 1.0, "rows": 1,
                "outcome": "failed", "why": "y", "answer": {"verdict": "wrong", "difference": "d"},
                "parameters": ["p"]}],
            "plans": {"Q1": "plan"},
            "series": [{"source": "s", "name": "n", "unit": "u", "measures": "rate",
                "labels": {"endpoint": "e"}, "start_ms": 0, "step_ms": 1000, "digits": 0,
                "count": 0, "values": "v", "gaps": "g"}],
        });
        let measured = measured.as_object().unwrap().clone();
        record.as_object_mut().unwrap().extend(measured);
        record
    }

    /// Places of texts and of names, as JSON pointers; of a name, that of its value and true.
    fn places(value: &Value, at: &str, found: &mut Vec<(String, bool)>) {
        match value {
            Value::String(_) => found.push((at.into(), false)),
            Value::Array(items) => {
                for (n, item) in items.iter().enumerate() {
                    places(item, &format!("{at}/{n}"), found);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    let at = format!("{at}/{name}");
                    found.push((at.clone(), true));
                    places(member, &at, found);
                }
            }
            _ => {}
        }
    }

    fn planted(place: &(String, bool), text: &str) -> Value {
        let mut record = full();
        let (at, is_name) = place;
        if *is_name {
            let (parent, name) = at.rsplit_once('/').unwrap();
            let members = record.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            let value = members.remove(name).unwrap();
            members.insert(text.into(), value);
        } else {
            *record.pointer_mut(at).unwrap() = text.into();
        }
        record
    }

    #[test]
    fn a_record_without_passwords_is_kept_as_it_is() {
        let record: RunRecord = serde_json::from_value(full()).unwrap();
        assert_eq!(without_passwords(record.clone()).unwrap(), record);
    }

    #[test]
    fn values_under_the_name_of_a_password_are_hidden() {
        let mut record = full();
        for name in ["mysql-password", "pg.password", "password", "private-key"] {
            record["options"][name] = json!({"value": "geheim", "source": "default"});
        }
        record["options"]["pgsql-password"] = json!({"value": "", "source": "default"});
        record["study"]["factors"]["password"] = "geheim".into();
        record["settings"] = json!([
            {"name": "report_password", "value": "geheim", "default": "geheim"},
            {"name": "disconnect_on_expired_password", "value": "ON", "default": null},
        ]);
        record["command"] = json!(["tidemark", "tpcc", "-p", "geheim", "run"]);
        let record: RunRecord = serde_json::from_value(record).unwrap();
        let kept = without_passwords(record).unwrap();
        let text = serde_json::to_string(&kept).unwrap();
        assert!(!text.contains("geheim"), "{text}");
        assert_eq!(kept.options["pgsql-password"].value, "");
        assert_eq!(kept.settings[1].value, "ON");
        assert_eq!(kept.command, ["tidemark", "tpcc", "-p", "***", "run"]);
    }

    #[test]
    fn a_quoted_url_keeps_its_scheme_and_its_account() {
        let record = RunRecord {
            command: [
                "PGPASSWORD=***",
                "pgbench",
                "\"postgresql://bench:geheim@db1/bench\"",
                "'a\"b'",
                "\"\"",
            ]
            .map(String::from)
            .to_vec(),
            imported: Some(tidemark_core::record::Imported::default()),
            ..RunRecord::default()
        };
        let kept = without_passwords(record).unwrap();
        let url = "postgresql://bench:***@db1/bench";
        assert_eq!(kept.command[2..], [url, "a\"b", "\"\""]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// Whatever a password is and wherever in a record it stands, it is gone, and the rest stays.
        #[test]
        fn no_password_is_kept(
            before in "[!-~&&[^'\"`<\\\\]]{0,4}", after in "[!-~&&[^'\"`<\\\\]]{0,4}", around in "[ a-z]{0,9}",
            turn in 0_usize..9,
        ) {
            let password = format!("{before}GEHEIM{after}");
            let forms = [
                format!("{around} mysql://u:{password}@h:3306/db: refused"),
                format!("{around} postgres://h/db?user=u&password=GEHEIM&tls=on"),
                format!("{around} mysql://u:{password}@h/db,mysql://v:{password}@i/db?role=read"),
                format!("{around} --mysql-password={password} {around}"),
                format!("PGPASSWORD={password}\n{around}"),
                format!("{around} mysql.password = {password} {around}"),
                format!("{around} password='{password} GEHEIM' {around}"),
                format!("{around} {{\"password\": \"{password}\"}}"),
                format!("{around} <password>{password} </password>"),
            ];
            let mut all = Vec::new();
            places(&full(), "", &mut all);
            let mut kept = 0;
            for (n, place) in all.iter().enumerate() {
                let form = &forms[(n + turn) % forms.len()];
                // Words of the schema itself can't be others: such a record is refused.
                let Ok(record) = serde_json::from_value::<RunRecord>(planted(place, form)) else {
                    continue;
                };
                let clean = without_passwords(record).unwrap();
                let text = serde_json::to_string(&clean).unwrap();
                prop_assert!(!text.contains("GEHEIM"), "{place:?} {form:?}: {text}");
                let again = without_passwords(clean.clone()).unwrap();
                prop_assert_eq!(&again, &clean);
                kept += 1;
            }
            prop_assert!(kept > 80, "{kept} of {}", all.len());
        }
    }
}
