//! From go-tpc's connection flags to a target.

use super::flags;
use crate::exit::Failure;
use crate::target::{from_url, password_variable};
use tidemark_core::{Host, OptionValues, Protocol, Secret, Source, Target, TlsMode};

/// The target that the flags name: `--target`, or go-tpc's.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn target(options: &OptionValues) -> Result<Target, Failure> {
    if let Some(url) = options.text_opt("target") {
        // Two places to look for the target would leave it to chance which one is measured.
        let mut others = flags::connection().filter(|name| *name != "target");
        if let Some(name) = others.find(|n| options.source(n) == Source::CommandLine) {
            return Err(Failure::usage(format!(
                "--target and --{name} both set the target; use one of them"
            )));
        }
        return from_url(url);
    }
    let protocol = match options.text("driver") {
        "postgres" => Protocol::Postgres,
        _ => Protocol::Mysql,
    };
    let mut target = Target {
        protocol,
        hosts: hosts(options)?,
        readers: Vec::new(),
        user: options.text("user").into(),
        password: match options.text_opt("password") {
            Some(given) => Secret::new(given),
            None => password_variable(protocol)?.unwrap_or_default(),
        },
        database: options.text("db").into(),
        tls: TlsMode::Disabled,
        ca: None,
        cert: None,
        key: None,
    };
    for pair in options
        .text("conn-params")
        .split('&')
        .filter(|p| !p.is_empty())
    {
        parameter(&mut target, pair)?;
    }
    Ok(target)
}

/// Every port on every host, as go-tpc combines them, or the pairs of `--targets`.
fn hosts(options: &OptionValues) -> Result<Vec<Host>, Failure> {
    let pairs = options.list("targets");
    if !pairs.is_empty() {
        return pairs.into_iter().map(pair).collect();
    }
    let (names, ports) = (options.list("host"), options.list("port"));
    if names.is_empty() || ports.is_empty() {
        return Err(Failure::usage(
            "host or port is missing; for example -H 127.0.0.1 -P 4000",
        ));
    }
    let mut hosts = Vec::with_capacity(names.len() * ports.len());
    for name in &names {
        for port in &ports {
            hosts.push(Host::Tcp {
                host: (*name).into(),
                port: number(port, &format!("--port={}", options.text("port")))?,
            });
        }
    }
    Ok(hosts)
}

fn number(port: &str, flag: &str) -> Result<u16, Failure> {
    match port.parse::<u16>() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(Failure::usage(format!(
            "{flag}: {port}: must be 1 to 65535; for example --port=4000"
        ))),
    }
}

fn pair(pair: &str) -> Result<Host, Failure> {
    let Some((host, port)) = pair.rsplit_once(':').filter(|(host, _)| !host.is_empty()) else {
        return Err(Failure::usage(format!(
            "--targets={pair}: use host:port pairs; for example --targets=h1:4000,h2:4000"
        )));
    };
    Ok(Host::Tcp {
        host: host.into(),
        port: number(port, &format!("--targets={pair}"))?,
    })
}

/// One `name=value` of `--conn-params`. Its value is never shown: it could be a password.
fn parameter(target: &mut Target, pair: &str) -> Result<(), Failure> {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let value = value.trim_matches('\'');
    let known = match target.protocol {
        Protocol::Postgres => "sslmode, sslrootcert, sslcert, sslkey",
        _ => "tls",
    };
    let wrong = |allowed: &str| {
        Failure::usage(format!(
            "--conn-params: {name}: must be {allowed}; for example --conn-params={}",
            match target.protocol {
                Protocol::Postgres => "sslmode=disable",
                _ => "tls=false",
            }
        ))
    };
    match (target.protocol, name) {
        (Protocol::Mysql, "tls") => {
            target.tls = TlsMode::among(&["false", "true", "skip-verify"], value)
                .ok_or_else(|| wrong("tls=false, true or skip-verify"))?;
        }
        (Protocol::Postgres, "sslmode") => {
            const WORDS: &[&str] = &[
                "disable",
                "require",
                "verify-ca",
                "verify-full",
                "no-verify",
            ];
            target.tls = TlsMode::among(WORDS, value).ok_or_else(|| {
                wrong("sslmode=disable, require, verify-ca, verify-full or no-verify")
            })?;
        }
        (Protocol::Postgres, "sslrootcert") => target.ca = Some(value.into()),
        (Protocol::Postgres, "sslcert") => target.cert = Some(value.into()),
        (Protocol::Postgres, "sslkey") => target.key = Some(value.into()),
        _ => {
            return Err(Failure::usage(format!(
                "--conn-params: unknown parameter {name}; known: {known}. For session variables \
                 use --set-session"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::tpcc::options_of;

    fn shown(line: &str) -> Result<String, String> {
        target(&options_of(line))
            .map(|t| t.to_string())
            .map_err(|f| f.message)
    }

    #[test]
    fn flags_name_the_target_with_go_tpcs_defaults() {
        for (line, url) in [
            ("run", "mysql://root@127.0.0.1:4000/test"),
            (
                "-H a,b -P 4000 -P 4001 -U u -p x -D tpcc run",
                "mysql://u:***@a:4000,a:4001,b:4000,b:4001/tpcc",
            ),
            (
                "run -d postgres -H=h -P5432 --conn-params sslmode=disable",
                "postgres://root@h:5432/test",
            ),
            ("--targets a:1,b:2 run", "mysql://root@a:1,b:2/test"),
            ("--target sqlite:x.db run", "sqlite:x.db"),
        ] {
            assert_eq!(shown(line).unwrap(), url, "{line}");
        }
    }

    #[test]
    fn tls_is_asked_for_by_connection_parameters() {
        let tls = |line: &str| target(&options_of(line)).unwrap().tls;
        assert_eq!(tls("--conn-params tls=true run"), TlsMode::VerifyFull);
        assert_eq!(tls("--conn-params tls=skip-verify run"), TlsMode::NoVerify);
        let pg = "-d postgres run --conn-params";
        assert_eq!(tls(&format!("{pg} sslmode=require")), TlsMode::VerifyFull);
        let both = target(&options_of(&format!(
            "{pg} sslmode=verify-ca&sslrootcert=/ca.pem"
        )))
        .unwrap();
        assert_eq!(both.tls, TlsMode::VerifyCa);
        assert_eq!(both.ca, Some("/ca.pem".into()));
    }

    #[test]
    fn what_names_no_target_is_refused_without_a_secret() {
        for (line, said) in [
            ("-P 0 run", "--port=0: 0: must be 1 to 65535"),
            ("-P x run", "--port=x"),
            ("--targets h run", "host:port pairs"),
            ("--targets h:99999 run", "--targets=h:99999"),
            ("--target sqlite:a -H h run", "--target and --host both"),
            (
                "--conn-params tls=maybe run",
                "tls=false, true or skip-verify",
            ),
            ("--conn-params pw=geheim run", "unknown parameter pw"),
            ("-d postgres --conn-params tls=true run", "known: sslmode"),
        ] {
            let message = shown(line).unwrap_err();
            assert!(message.contains(said), "{line}: {message}");
            assert!(!message.contains("geheim"), "{message}");
        }
    }
}
