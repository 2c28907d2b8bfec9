//! `doctor`: proves step by step that a target can be used, on tables of its own.

use crate::args;
use crate::exit::{ExitCode, Failure};
use tidemark_core::record::HostRole;
use tidemark_core::{DbError, ErrorClass, ErrorKind};
use tidemark_drivers::{
    BulkMethod, ConnectOptions, Connector, LoadRequest, Pooling, RowSet, RowSource, RowWriter,
    Session, Value, catalog, settings,
};
use tidemark_runtime::block_on;

/// The doctor's own table. A table of that name that it did not mark is left alone.
const TABLE: &str = "tidemark_doctor";
const MARK: &str = "tidemark:doctor";
const ROWS: i64 = 1000;

/// Checks a target and prints a line for each step.
///
/// # Errors
/// [`Failure`] of bad usage; a step that fails is printed, and its code returned.
pub fn doctor(args: &args::Doctor) -> Result<ExitCode, Failure> {
    let target = crate::target::from_url(&args.target)?;
    say!("target   {target}");
    let options = ConnectOptions {
        connect_timeout: args.connect_timeout,
        ..ConnectOptions::default()
    };
    let connector = match Connector::new(target, options) {
        Ok(connector) => connector.must_exist(),
        Err(error) => return Ok(failed("address", &error)),
    };
    let on_thread = |e: std::io::Error| Failure::new(ExitCode::Failed, e.to_string());
    let looked = block_on(poolers(connector.clone())).map_err(on_thread)?;
    let keeps_statements = match looked {
        Ok(kept) => kept,
        Err(error) => return Ok(failed("connect", &error)),
    };
    let modes: &[&str] = match keeps_statements {
        true => &["prepared", "text"],
        false => &["text"],
    };
    for (index, mode) in modes.iter().enumerate() {
        let connector = match *mode {
            "text" => connector.clone().as_text(),
            _ => connector.clone(),
        };
        let checked = block_on(check(connector, mode, index == 0)).map_err(on_thread)?;
        if let Err((step, error)) = checked {
            return Ok(failed(step, &error));
        }
    }
    if keeps_statements {
        say!("all checks passed: this target can be benchmarked");
    } else {
        say!(
            "all checks passed except prepared statements: this target can be benchmarked with \
             --db-ps-mode=disable"
        );
    }
    Ok(ExitCode::Success)
}

/// Tells of poolers before hosts; whether prepared statements can be had through all of them.
async fn poolers(connector: Connector) -> Result<bool, DbError> {
    let mut kept = true;
    for (index, (host, _)) in connector.hosts().iter().enumerate() {
        match connector.pooling(index).await? {
            Pooling::Direct => {}
            Pooling::Session => say!(
                "note     {host} is a pooler in session mode; it limits the number of sessions"
            ),
            Pooling::Transaction { keeps_statements } => {
                say!(
                    "note     {host} is a pooler in transaction mode: settings are sent with \
                     every transaction, and it limits the number of sessions"
                );
                if !keeps_statements {
                    say!(
                        "note     prepared statements do not work through it: use \
                         --db-ps-mode=disable, or connect to the server directly"
                    );
                }
                kept &= keeps_statements;
            }
        }
    }
    Ok(kept)
}

fn failed(step: &str, error: &DbError) -> ExitCode {
    say!("FAILED   {step}: {error} ({})", error.class);
    match (error.kind, error.class) {
        (ErrorKind::TlsFiles, _) => ExitCode::Usage,
        (_, ErrorClass::Refused) => ExitCode::Connect,
        _ => ExitCode::Check,
    }
}

type Step<T> = Result<T, (&'static str, DbError)>;

async fn check(connector: Connector, mode: &'static str, is_first: bool) -> Step<()> {
    let at = |step: &'static str| move |error: DbError| (step, error);
    for host in 0..connector.hosts().len().max(1) {
        let session = connector.connect_to(host).await.map_err(at("connect"))?;
        if is_first {
            let shown = match connector.hosts().get(host) {
                Some((host, HostRole::Read)) => format!("{host} (role=read)"),
                Some((host, HostRole::Any)) => host.to_string(),
                None => String::new(),
            };
            say!(
                "ok       connect {shown}: {} {}",
                session.server().engine,
                session.server().version
            );
        }
        session.close().await;
    }
    let mut session = connector.connect(0).await.map_err(at("connect"))?;
    if is_first {
        let settings = settings::settings_that_matter(&mut session)
            .await
            .map_err(at("read settings"))?;
        say!("ok       read settings: {}", settings.len());
    }
    if connector.target().is_read_only() {
        say!("ok       all hosts are read-only: no table is created ({mode})");
        session.close().await;
        return Ok(());
    }
    create(&mut session).await.map_err(at("create a table"))?;
    say!("ok       create a table ({mode})");
    let used = use_table(&mut session, mode).await;
    let dropped = catalog::drop_marked(&mut session, TABLE, MARK).await;
    used?;
    dropped.map_err(at("drop a table"))?;
    say!("ok       drop a table ({mode})");
    session.close().await;
    Ok(())
}

async fn create(session: &mut Session) -> Result<(), DbError> {
    if let Some(found) = catalog::describe_table(session, TABLE).await? {
        if found.comment.as_deref() != Some(MARK) {
            return Err(DbError::new(
                ErrorClass::Fatal,
                "doctor",
                format!("table {TABLE} exists and was not created by Tidemark; it was not touched"),
            ));
        }
        catalog::drop_marked(session, TABLE, MARK).await?;
    }
    let sql = format!("CREATE TABLE {TABLE} (id INTEGER NOT NULL PRIMARY KEY, v VARCHAR(60))");
    session.query(&sql).await?;
    catalog::mark_table(session, TABLE, MARK).await
}

async fn use_table(session: &mut Session, mode: &str) -> Step<()> {
    let at = |step: &'static str| move |error: DbError| (step, error);
    let method = load(session).await.map_err(at("load rows"))?;
    let way = crate::loading::way(method);
    say!("ok       load {ROWS} rows ({mode}) by {way}");
    read(session).await.map_err(at("read the loaded rows"))?;
    say!("ok       read the loaded rows ({mode})");
    roll_back(session).await.map_err(at("roll back"))?;
    say!("ok       begin, change, roll back ({mode})");
    classes(session).await.map_err(at("classify errors"))?;
    say!("ok       classify errors ({mode})");
    Ok(())
}

/// Rows whose values are awkward to quote.
struct Rows(i64);

fn value(id: i64) -> String {
    format!("row {id}: it's \\ \"quoted\", naïve\ttab\nline")
}

impl RowSource for Rows {
    fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool {
        if self.0 == ROWS {
            return false;
        }
        self.0 += 1;
        row.int(self.0);
        row.text(&value(self.0));
        true
    }
}

async fn load(session: &mut Session) -> Result<BulkMethod, DbError> {
    session.simple(session.dialect().begin()).await?;
    let request = LoadRequest {
        table: TABLE,
        columns: &["id", "v"],
        method: None,
    };
    let loaded = session.load(&request, &mut Rows(0)).await?;
    session.simple("COMMIT").await?;
    let rows = catalog::row_count(session, TABLE).await?;
    expect(rows == ROWS as u64, || {
        format!("{ROWS} rows were loaded, {rows} were found")
    })?;
    Ok(loaded.method)
}

fn expect(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), DbError> {
    if holds {
        Ok(())
    } else {
        Err(DbError::new(ErrorClass::Fatal, "doctor", otherwise()))
    }
}

async fn read(session: &mut Session) -> Result<(), DbError> {
    let select = session
        .prepare(&format!("SELECT v FROM {TABLE} WHERE id = ?"))
        .await?;
    let mut rows = RowSet::new();
    for id in [1, ROWS / 2, ROWS] {
        session.fetch(&select, &[Value::Int(id)], &mut rows).await?;
        let got = rows.text(0, 0);
        expect(got.as_deref() == Some(value(id).as_str()), || {
            format!("row {id} came back as {got:?}")
        })?;
    }
    let nothing = session.execute(&select, &[Value::Int(ROWS + 1)]).await?;
    expect(nothing.has_rows && nothing.rows == 0, || {
        "a missing row was found".into()
    })
}

async fn roll_back(session: &mut Session) -> Result<(), DbError> {
    let update = session
        .prepare(&format!("UPDATE {TABLE} SET v = ? WHERE id = ?"))
        .await?;
    session.simple(session.dialect().begin()).await?;
    let changed = session
        .execute(&update, &[Value::Text("changed"), Value::Int(1)])
        .await?;
    expect(changed.affected == 1, || {
        format!("{} rows changed instead of 1", changed.affected)
    })?;
    session.rollback().await?;
    read(session).await
}

async fn classes(session: &mut Session) -> Result<(), DbError> {
    let duplicate = session
        .simple(&format!("INSERT INTO {TABLE} VALUES (1, 'x')"))
        .await;
    let missing = session.simple("SELECT * FROM tidemark_no_such_table").await;
    for (result, class) in [
        (duplicate, ErrorClass::Constraint),
        (missing, ErrorClass::Missing),
    ] {
        match result {
            Err(error) if error.class == class => {}
            other => {
                let said = other.err().map(|e| format!("{e} ({})", e.class));
                return expect(false, || {
                    format!("expected an error of class {class}, got {said:?}")
                });
            }
        }
    }
    Ok(())
}
