//! What `contrib/clients` has for those who start agents by other means is true.
//!
//! `kubernetes-1.37.json` has what the OpenAPI of Kubernetes 1.37 says of the parts that the example uses:
//! all names that a part may have, which of them must be there, and types of those that are. A name that is
//! not known is refused, as by `kubectl apply --validate=strict`.

use super::clients::program;
use super::common::Workdir;
use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::process::Command;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../contrib/clients")
        .join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(file(name)).unwrap()
}

fn json(yaml: &Yaml<'_>) -> Value {
    match yaml {
        Yaml::Value(Scalar::String(text)) => Value::from(text.to_string()),
        Yaml::Value(Scalar::Integer(number)) => Value::from(*number),
        Yaml::Value(Scalar::Boolean(is)) => Value::from(*is),
        Yaml::Sequence(all) => Value::Array(all.iter().map(json).collect()),
        Yaml::Mapping(all) => {
            let named = |(key, value): (&Yaml<'_>, &Yaml<'_>)| match json(key) {
                Value::String(name) => (name, json(value)),
                other => panic!("{other} is no name"),
            };
            Value::Object(all.iter().map(named).collect::<Map<String, Value>>())
        }
        other => panic!("{other:?}"),
    }
}

fn documents(name: &str) -> Vec<Value> {
    let text = text(name);
    let all = Yaml::load_from_str(&text).unwrap();
    all.iter().map(json).collect()
}

/// Whether nats-server takes a configuration, with the variables of the examples.
fn must_be_nats(config: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nats.conf");
    std::fs::write(&path, config).unwrap();
    let said = Command::new(program())
        .args(["-t", "--config"])
        .arg(&path)
        .env("NATS_USER", "tidemark")
        .env("NATS_PASSWORD", "s3cret")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{config}: {told}");
}

#[test]
fn the_kubernetes_example_is_what_its_api_takes() {
    let schemas: Value = serde_json::from_str(include_str!("kubernetes-1.37.json")).unwrap();
    let mut found = documents("kubernetes.yaml");
    for document in &found {
        let kind = document["kind"].as_str().unwrap();
        let schema = jsonschema::validator_for(&schemas[kind]).unwrap();
        let wrong: Vec<String> = schema
            .iter_errors(document)
            .map(|e| e.to_string())
            .collect();
        assert!(wrong.is_empty(), "{kind}: {wrong:?}");
    }
    let kinds: Vec<String> = found.iter().map(|d| d["kind"].to_string()).collect();
    assert_eq!(kinds.len(), 4, "{kinds:?}");
    let of = |kind: &str| found.iter().find(|d| d["kind"] == kind).unwrap();
    must_be_nats(of("ConfigMap")["data"]["nats.conf"].as_str().unwrap());
    // The agent's words are understood: it fails for want of a server, and not of a flag.
    let words = &of("Job")["spec"]["template"]["spec"]["containers"][0]["command"];
    let words = words.as_array().unwrap().iter();
    let words: Vec<String> = words
        .map(|word| {
            let word = word.as_str().unwrap().replace("$(POD_NAME)", "pod-1");
            let word = word.replace("--wait=5m", "--wait=1s");
            word.replace("tidemark-nats:4222", "127.0.0.1:1")
        })
        .collect();
    assert_eq!(words[0], "tidemark");
    let dir = Workdir::new();
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let said = dir.run(&words);
    assert_eq!(said.code, Some(4), "{said:?}");
    // What is not in the schema is refused.
    let job = found.iter_mut().find(|d| d["kind"] == "Job").unwrap();
    job["spec"]["backofLimit"] = 1.into();
    let schema = jsonschema::validator_for(&schemas["Job"]).unwrap();
    assert!(!schema.is_valid(job));
}

#[test]
fn the_other_examples_are_understood() {
    // Its certificate is the user's.
    let secured = text("nats.conf");
    let lines = secured.lines().filter(|line| !line.starts_with("tls"));
    must_be_nats(&lines.collect::<Vec<_>>().join("\n"));
    let script = text("slurm.sh");
    let checked = Command::new("bash")
        .arg("-n")
        .arg(file("slurm.sh"))
        .status();
    assert!(checked.unwrap().success());
    let (_, rest) = script.split_once("<<CONF\n").unwrap();
    let (config, _) = rest.split_once("\nCONF").unwrap();
    must_be_nats(&config.replace("$folder", "/tmp").replace("\\$", "$"));
    // The run of the script, as a job.
    let run = script.lines().find(|l| l.starts_with("tidemark ")).unwrap();
    let words = run
        .replacen("tidemark ", "", 1)
        .replace(" run", " --print-job run");
    let words: Vec<&str> = words.split_whitespace().collect();
    let dir = Workdir::new();
    let mut command = dir.command(&words);
    command
        .env("NATS_URL", "nats://127.0.0.1:1")
        .env("MYSQL_PWD", "x");
    let said = command.output().unwrap();
    assert!(said.status.success(), "{said:?}");
    let job: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(job["clients"]["hosts"], "4");
    let plays = documents("ansible.yml");
    let tasks = plays[0][0]["tasks"].as_array().unwrap();
    for task in tasks {
        let modules = task.as_object().unwrap().keys();
        let modules = modules.filter(|key| key.starts_with("ansible.builtin."));
        assert_eq!(modules.count(), 1, "{task}");
    }
    let last = tasks.last().unwrap()["ansible.builtin.command"]["cmd"].to_string();
    assert!(last.contains("/usr/local/bin/tidemark agent"), "{last}");
}
