//! Agents started over SSH: the program is copied and started. Everything else is the user's own SSH:
//! its keys, its configuration, its known hosts.

use crate::error::ClientsError;
use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Where the program goes on the other host, beneath the user's home.
const PLACE: &str = ".cache/tidemark/tidemark";
/// An agent that has not ended so soon after its start has started.
const SETTLED_S: u32 = 2;

/// How hosts are reached.
#[derive(Debug, Clone)]
pub struct Ssh {
    /// The command, `ssh` as a rule, with its options.
    pub command: Vec<String>,
    /// The program to be copied.
    pub program: PathBuf,
    /// Words of `tidemark agent` on the other host, without a password.
    pub agent: Vec<String>,
    /// What goes to the agent's environment, over SSH's encrypted input: a line each, `NAME=value`.
    pub environment: Vec<(String, String)>,
}

/// Copies the program to a host and starts an agent there, which goes on without this process.
///
/// # Errors
/// [`ClientsError::System`] with what SSH or the host said.
pub fn start(ssh: &Ssh, host: &str) -> Result<(), ClientsError> {
    if host.starts_with('-') || host.is_empty() {
        return Err(ClientsError::Usage(format!(
            "tidemark agents start {host}: not a host; for example: tidemark agents start load1 load2"
        )));
    }
    // Written beside and renamed: a program that runs can't be written to.
    let copy = format!(
        "mkdir -p \"$(dirname {PLACE})\" && cat > {PLACE}.new && chmod 755 {PLACE}.new && \
         mv {PLACE}.new {PLACE}"
    );
    let mut program = File::open(&ssh.program)
        .map_err(|e| ClientsError::System(format!("{}: {e}", ssh.program.display())))?;
    run(ssh, host, &copy, &mut program)?;
    // The environment is read from the input, where no list of processes shows it.
    let words: Vec<String> = ssh.agent.iter().map(|word| quoted(word)).collect();
    let begin = format!(
        "while IFS= read -r line && [ -n \"$line\" ]; do export \"$line\"; done; \
         nohup {PLACE} agent {} > .cache/tidemark/agent.log 2>&1 < /dev/null & agent=$!; \
         sleep {SETTLED_S}; kill -0 $agent 2>/dev/null || {{ tail -n 3 .cache/tidemark/agent.log >&2; \
         exit 1; }}",
        words.join(" ")
    );
    let mut environment = String::new();
    for (name, value) in &ssh.environment {
        if value.contains('\n') {
            return Err(ClientsError::Usage(format!(
                "{name}: a value with a line break can't be given to an agent over SSH"
            )));
        }
        environment += &format!("{name}={value}\n");
    }
    environment.push('\n');
    run(ssh, host, &begin, &mut environment.as_bytes())
}

fn run(ssh: &Ssh, host: &str, script: &str, input: &mut dyn Read) -> Result<(), ClientsError> {
    let failed = |why: String| ClientsError::System(format!("{host}: {why}"));
    let Some((program, options)) = ssh.command.split_first() else {
        return Err(ClientsError::Usage(
            "--ssh: no command; for example --ssh='ssh -p 2222'".into(),
        ));
    };
    let mut child = Command::new(program)
        .args(options)
        .args([host, script])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| failed(format!("{program}: {e}")))?;
    if let Some(mut to) = child.stdin.take() {
        // One that ends before it has read says why.
        let _ended = std::io::copy(input, &mut to).and_then(|_| to.flush());
    }
    let ended = child
        .wait_with_output()
        .map_err(|e| failed(e.to_string()))?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr);
    let said = said.trim();
    Err(failed(match said.is_empty() {
        true => ended.status.to_string(),
        false => said.to_string(),
    }))
}

/// A word as a shell takes it for one.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, Instant};

    /// Runs the script as SSH would, in a folder in place of the host's home.
    fn stand_in(home: &std::path::Path) -> Vec<String> {
        let script = "cd \"$0\" && shift && exec sh -c \"$1\"";
        ["sh", "-c", script]
            .map(String::from)
            .into_iter()
            .chain([home.display().to_string()])
            .collect()
    }

    fn program(folder: &std::path::Path, text: &str) -> PathBuf {
        let path = folder.join("program");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn the_program_is_copied_and_gets_its_words_and_its_environment() {
        let folder = tempfile::tempdir().unwrap();
        let told = folder.path().join("told");
        let text = format!(
            "#!/bin/sh\necho \"$1 $2 $NATS_PASSWORD\" > {}\nexec sleep 4\n",
            told.display()
        );
        let ssh = Ssh {
            command: stand_in(folder.path()),
            program: program(folder.path(), &text),
            agent: vec!["--nats=it's".into()],
            environment: vec![("NATS_PASSWORD".into(), "p w".into())],
        };
        start(&ssh, "host").unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        while !told.exists() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(
            std::fs::read_to_string(&told).unwrap(),
            "agent --nats=it's p w\n"
        );
    }

    #[test]
    fn an_agent_that_ends_at_once_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let text = "#!/bin/sh\necho 'no server there' >&2\nexit 2\n";
        let ssh = Ssh {
            command: stand_in(folder.path()),
            program: program(folder.path(), text),
            agent: Vec::new(),
            environment: Vec::new(),
        };
        let failed = start(&ssh, "host").unwrap_err().to_string();
        assert_eq!(failed, "host: no server there");
        let refused = start(&ssh, "-oProxyCommand=x").unwrap_err();
        assert!(matches!(refused, ClientsError::Usage(_)));
    }
}
