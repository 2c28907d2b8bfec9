//! From connection options to a target.

use crate::exit::Failure;
use crate::target::{from_url, password_variable};
use std::path::PathBuf;
use tidemark_core::{Host, OptionValues, Protocol, Secret, Source, Target, TlsMode};

/// Where Debian's and most other systems' servers put their sockets; `localhost` means the socket,
/// as it does to MySQL's clients and to libpq.
const MYSQL_SOCKETS: &[&str] = &[
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/tmp/mysql.sock",
    "/var/lib/mysql/mysql.sock",
];

/// The target that the options name: `--target`, or the chosen driver's options.
///
/// # Errors
/// [`Failure`] of bad usage: a malformed URL, unequal lists of hosts and ports, options that are
/// not offered.
pub fn target(options: &OptionValues) -> Result<Target, Failure> {
    if options.source("target") != Source::Default {
        // Two places to look for the target would leave it to chance which one is measured.
        let other = options.shown().find(|(name, _, source)| {
            let connects = ["mysql-", "pgsql-", "sqlite-"];
            *source == Source::CommandLine
                && *name != "mysql-ignore-errors"
                && *name != "mysql-storage-engine"
                && *name != "pgsql-variant"
                && connects.iter().any(|prefix| name.starts_with(prefix))
        });
        if let Some((name, ..)) = other {
            return Err(Failure::usage(format!(
                "--target and --{name} both set the target; use one of them"
            )));
        }
        return from_url(options.text("target"));
    }
    for flag in ["mysql-compression", "mysql-dry-run"] {
        if options.flag(flag) {
            return Err(Failure::usage(format!(
                "--{flag}=on is not supported; use off"
            )));
        }
    }
    match options.text("db-driver") {
        "pgsql" => postgres(options),
        "sqlite" => Ok(Target::sqlite(options.text("sqlite-db"))),
        _ => mysql(options),
    }
}

fn password(options: &OptionValues, name: &str, protocol: Protocol) -> Result<Secret, Failure> {
    match options.text_opt(name) {
        Some(given) => Ok(Secret::new(given)),
        None => Ok(password_variable(protocol)?.unwrap_or_default()),
    }
}

fn mysql(options: &OptionValues) -> Result<Target, Failure> {
    let hosts = if let Some(socket) = options.text_opt("mysql-socket") {
        vec![Host::Unix(socket.into())]
    } else if options.text("mysql-host") == "localhost"
        && options.source("mysql-port") == Source::Default
        && let Some(socket) = MYSQL_SOCKETS.iter().map(PathBuf::from).find(|p| p.exists())
    {
        vec![Host::Unix(socket)]
    } else {
        tcp_hosts(options, "mysql-host", "mysql-port")?
    };
    Ok(Target {
        protocol: Protocol::Mysql,
        hosts,
        readers: Vec::new(),
        user: options.text("mysql-user").into(),
        password: password(options, "mysql-password", Protocol::Mysql)?,
        database: options.text("mysql-db").into(),
        tls: tls_mode(options.text("mysql-ssl")),
        ca: options.text_opt("mysql-ssl-ca").map(Into::into),
        cert: options.text_opt("mysql-ssl-cert").map(Into::into),
        key: options.text_opt("mysql-ssl-key").map(Into::into),
    })
}

fn postgres(options: &OptionValues) -> Result<Target, Failure> {
    let host = options.text("pgsql-host");
    let hosts = if host.starts_with('/') {
        let port = options
            .list("pgsql-port")
            .first()
            .copied()
            .unwrap_or("5432")
            .to_string();
        vec![Host::Unix(format!("{host}/.s.PGSQL.{port}").into())]
    } else {
        tcp_hosts(options, "pgsql-host", "pgsql-port")?
    };
    Ok(Target {
        protocol: Protocol::Postgres,
        hosts,
        readers: Vec::new(),
        user: options.text("pgsql-user").into(),
        password: password(options, "pgsql-password", Protocol::Postgres)?,
        database: options.text("pgsql-db").into(),
        tls: tls_mode(options.text("pgsql-sslmode")),
        ca: options.text_opt("pgsql-sslrootcert").map(Into::into),
        cert: options.text_opt("pgsql-sslcert").map(Into::into),
        key: options.text_opt("pgsql-sslkey").map(Into::into),
    })
}

fn tls_mode(word: &str) -> TlsMode {
    TlsMode::of(word).unwrap_or(TlsMode::Disabled)
}

/// Pairs hosts with ports: one port for all, or one for each host.
fn tcp_hosts(options: &OptionValues, hosts: &str, ports: &str) -> Result<Vec<Host>, Failure> {
    let names = options.list(hosts);
    let given = options.list(ports);
    let wrong = |reason: String| {
        Failure::usage(format!(
            "--{ports}={}: {reason}; for example --{hosts}=h1,h2 --{ports}=3306",
            options.text(ports)
        ))
    };
    let mut numbers = Vec::with_capacity(given.len());
    for port in &given {
        match port.parse::<u16>() {
            Ok(number) if number > 0 => numbers.push(number),
            _ => return Err(wrong(format!("{port}: must be 1 to 65535"))),
        }
    }
    if names.is_empty() || numbers.is_empty() {
        return Err(wrong("host or port is missing".into()));
    }
    if numbers.len() > 1 && numbers.len() != names.len() {
        return Err(wrong(format!(
            "{} ports for {} hosts: use one port, or one per host",
            numbers.len(),
            names.len()
        )));
    }
    let port = |i: usize| {
        numbers
            .get(i)
            .or(numbers.first())
            .copied()
            .unwrap_or_default()
    };
    let host = |(i, name): (usize, &&str)| Host::Tcp {
        host: (*name).into(),
        port: port(i),
    };
    Ok(names.iter().enumerate().map(host).collect())
}

#[cfg(test)]
mod tests {
    use super::super::options::GROUPS;
    use super::*;

    fn target_of(pairs: &[(&str, &str)]) -> Result<Target, Failure> {
        let mut options = OptionValues::defaults(GROUPS.iter().map(|g| g.options));
        for (name, value) in pairs {
            options.set(name, value, Source::CommandLine).unwrap();
        }
        target(&options)
    }

    #[test]
    fn hosts_and_ports_are_paired() {
        let t = target_of(&[("mysql-host", "a,b"), ("mysql-port", "4000")]).unwrap();
        assert_eq!(t.to_string(), "mysql://sbtest@a:4000,b:4000/sbtest");
        let t = target_of(&[("mysql-host", "a,b"), ("mysql-port", "1,2")]).unwrap();
        assert_eq!(t.to_string(), "mysql://sbtest@a:1,b:2/sbtest");
        let e = target_of(&[("mysql-host", "a,b,c"), ("mysql-port", "1,2")]).unwrap_err();
        assert!(e.message.contains("2 ports for 3 hosts"), "{e}");
    }

    #[test]
    fn each_driver_has_its_target() {
        let t = target_of(&[("db-driver", "pgsql"), ("pgsql-host", "/run/pg")]).unwrap();
        assert_eq!(t.hosts, [Host::Unix("/run/pg/.s.PGSQL.5432".into())]);
        let t = target_of(&[("db-driver", "sqlite"), ("sqlite-db", "x.db")]).unwrap();
        assert_eq!(t.to_string(), "sqlite:x.db");
        let t = target_of(&[("mysql-host", "h"), ("mysql-ssl", "on")]).unwrap();
        assert_eq!(t.tls, TlsMode::VerifyFull);
    }
}
