//! From properties to a target.

use super::parse::YcsbCommand;
use crate::exit::Failure;
use crate::target::{from_url, password_variable};
use tidemark_core::{Host, OptionValues, Protocol, Secret, Source, Target, TlsMode, redact_url};

/// The target: `--target`, or as the properties of the named database say.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn target(asked: &YcsbCommand) -> Result<Target, Failure> {
    let options = &asked.options;
    if let Some(url) = options.text_opt("target") {
        // Two places to look for the target would leave it to chance which one is measured.
        let given = |o: &&tidemark_core::OptionSpec| options.source(o.name) != Source::Default;
        if let Some(both) = super::properties::CONNECTION.iter().find(given) {
            return Err(Failure::usage(format!(
                "--target and the property {} both set the target; use one of them",
                both.name
            )));
        }
        let target = from_url(url)?;
        if asked.database.is_some_and(|named| named != target.protocol) {
            return Err(Failure::usage(format!(
                "--target={} is not {}; give the right database or omit it",
                redact_url(url),
                asked.words.first().map_or("such database", String::as_str)
            )));
        }
        return Ok(target);
    }
    match asked.database {
        Some(Protocol::Mysql) => server(options, Protocol::Mysql, "mysql"),
        Some(Protocol::Postgres) => server(options, Protocol::Postgres, "pg"),
        Some(Protocol::Sqlite) => Ok(Target::parse(&format!(
            "sqlite:{}",
            options.text("sqlite.db")
        ))?),
        None => Err(Failure::usage(
            "no database given; known: mysql, mariadb, tidb, pg, postgresql, cockroach, cdb, \
             sqlite; for example: tidemark ycsb run sqlite -P workloadc",
        )),
    }
}

fn server(options: &OptionValues, protocol: Protocol, prefix: &str) -> Result<Target, Failure> {
    let text = |name: &str| options.text(&format!("{prefix}.{name}"));
    let instances = match protocol {
        Protocol::Mysql => options.text("tidb.instances"),
        _ => "",
    };
    let hosts = match instances {
        "" => vec![Host::Tcp {
            host: text("host").into(),
            port: options.uint(&format!("{prefix}.port")) as u16,
        }],
        pairs => pairs.split(',').map(pair).collect::<Result<_, _>>()?,
    };
    Ok(Target {
        protocol,
        hosts,
        readers: Vec::new(),
        user: text("user").into(),
        password: match text("password") {
            "" => password_variable(protocol)?.unwrap_or_default(),
            given => Secret::new(given),
        },
        database: text("db").into(),
        tls: TlsMode::of(text("sslmode")).unwrap_or(TlsMode::Disabled),
        ca: None,
        cert: None,
        key: None,
    })
}

fn pair(pair: &str) -> Result<Host, Failure> {
    let split = pair.trim().rsplit_once(':');
    let host = split.and_then(|(host, port)| {
        let port = port.parse().ok().filter(|port| *port > 0)?;
        (!host.is_empty()).then(|| Host::Tcp {
            host: host.into(),
            port,
        })
    });
    host.ok_or_else(|| {
        Failure::usage(format!(
            "tidb.instances={pair}: use host:port pairs; for example \
             tidb.instances=h1:4000,h2:4000"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse::asked;
    use super::*;

    fn shown(line: &str) -> Result<String, String> {
        target(&asked(line).unwrap())
            .map(|t| t.to_string())
            .map_err(|f| f.message)
    }

    #[test]
    fn properties_name_the_target_with_go_ycsbs_defaults() {
        for (line, url) in [
            ("run mysql", "mysql://root@127.0.0.1:3306/test"),
            (
                "run tidb -p mysql.port=4000 -p mysql.password=x",
                "mysql://root:***@127.0.0.1:4000/test",
            ),
            (
                "run mysql -p tidb.instances=a:1,b:2",
                "mysql://root@a:1,b:2/test",
            ),
            (
                "run pg -p pg.user=u -p pg.db=d",
                "postgres://u@127.0.0.1:5432/d",
            ),
            ("run sqlite -p sqlite.db=x.db", "sqlite:x.db"),
            ("run --target sqlite:y.db", "sqlite:y.db"),
        ] {
            assert_eq!(shown(line).unwrap(), url, "{line}");
        }
        let tls = |line: &str| target(&asked(line).unwrap()).unwrap().tls;
        assert_eq!(tls("run pg"), TlsMode::Disabled);
        assert_eq!(tls("run pg -p pg.sslmode=require"), TlsMode::VerifyFull);
    }

    #[test]
    fn what_names_no_target_is_refused() {
        for (line, said) in [
            ("run", "no database given"),
            ("run mysql --target sqlite:a", "is not mysql"),
            (
                "run --target sqlite:a -p mysql.host=h",
                "both set the target",
            ),
            ("run mysql -p tidb.instances=h", "host:port pairs"),
        ] {
            let message = shown(line).unwrap_err();
            assert!(message.contains(said), "{line}: {message}");
        }
    }
}
