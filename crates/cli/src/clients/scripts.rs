//! What an agent lets the Lua scripts of other hosts do.

use super::worker;
use serde_json::Value;
use tidemark_core::Job;

/// Tells a load's process what its agent lets scripts do. No job can set it.
pub const VARIABLE: &str = "TIDEMARK_AGENT_SCRIPTS";

/// What an agent lets scripts do (`--scripts`). A script is code of whoever may publish at the NATS server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scripts {
    /// They are refused.
    Off,
    /// They compute and query.
    Queries,
    /// They do what the agent's user may.
    Any,
}

impl Scripts {
    /// Of the option's word.
    pub fn of(word: &str) -> Self {
        match word {
            "queries" => Self::Queries,
            "any" => Self::Any,
            _ => Self::Off,
        }
    }

    /// The option's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Queries => "queries",
            Self::Any => "any",
        }
    }

    /// Looks whether a job's script may run here, if it has one.
    ///
    /// # Errors
    /// In words, why not.
    pub fn admit(self, job: &Job) -> Result<(), String> {
        let settings = &job.workload.settings;
        // A job is of a script by either.
        let is_script = job.workload.name.starts_with("lua:") || settings.get("script").is_some();
        let is_off = |value: &Value| *value == Value::Bool(false) || *value == "off";
        let has_ffi = settings.get("lua-ffi").is_some_and(|value| !is_off(value));
        match self {
            _ if !is_script => Ok(()),
            Self::Off => Err(
                "this agent runs no Lua scripts (--scripts=off); start it with --scripts=queries to let them \
                 compute and query"
                    .into(),
            ),
            Self::Queries if has_ffi => Err(
                "--lua-ffi=on: this agent lets scripts only compute and query; start it with --scripts=any to \
                 allow more"
                    .into(),
            ),
            _ => Ok(()),
        }
    }
}

/// Whether scripts of this process are another host's and may only compute and query.
pub fn are_confined() -> bool {
    match std::env::var(VARIABLE) {
        Ok(word) => Scripts::of(&word) != Scripts::Any,
        Err(_) => worker::is_load(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(by: &str, workload: &str) -> Result<(), String> {
        let text = format!(
            r#"{{"version": 1, "target": {{"url": "mysql://u@h/d"}}, "workload": {workload},
                "tool": {{"name": "sysbench"}}}}"#
        );
        Scripts::of(by).admit(&Job::from_json(&text).unwrap())
    }

    #[test]
    fn an_agents_user_decides_what_scripts_do() {
        let plain = r#"{"name": "lua:a", "settings": {"script": "a.lua", "lua-ffi": false}}"#;
        let ffi = r#"{"name": "lua:a", "settings": {"script": "a.lua", "lua-ffi": true}}"#;
        let posing =
            r#"{"name": "oltp_read_only", "settings": {"script": "a.lua", "lua-ffi": "on"}}"#;
        let other = r#"{"name": "oltp_read_only", "settings": {"tables": 2}}"#;
        for (by, script, other_script) in [
            ("off", false, false),
            ("queries", true, false),
            ("any", true, true),
        ] {
            assert_eq!(Scripts::of(by).word(), by);
            assert_eq!(admitted(by, plain).is_ok(), script, "{by}");
            for workload in [ffi, posing] {
                assert_eq!(admitted(by, workload).is_ok(), other_script, "{by}");
            }
            assert_eq!(admitted(by, other), Ok(()));
        }
        let said = admitted("queries", ffi).unwrap_err();
        assert!(
            said.contains("--lua-ffi=on") && said.contains("--scripts=any"),
            "{said}"
        );
    }
}
