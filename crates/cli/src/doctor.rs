//! `doctor`: proves step by step that a target can be used, on tables of its own.

use crate::args;
use crate::exit::{ExitCode, Failure};
use crate::texts::doctor as texts;
use tidemark_core::record::HostRole;
use tidemark_core::{DbError, ErrorClass, ErrorKind};
use tidemark_drivers::{
    BulkMethod, ConnectOptions, Connector, LoadRequest, Pooling, RowSet, RowSource, RowWriter,
    Session, Value, catalog, settings,
};
use tidemark_report::Lang;
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
    let lang = args.lang;
    say!("{}", texts::target(lang, &target));
    let options = ConnectOptions {
        connect_timeout: args.connect_timeout,
        ..ConnectOptions::default()
    };
    let connector = match Connector::new(target, options) {
        Ok(connector) => connector.must_exist(),
        Err(error) => return Ok(failed(lang, texts::address(lang), &error)),
    };
    let on_thread = |e: std::io::Error| Failure::new(ExitCode::Failed, e.to_string());
    let looked = block_on(poolers(connector.clone(), lang)).map_err(on_thread)?;
    let keeps_statements = match looked {
        Ok(kept) => kept,
        Err(error) => return Ok(failed(lang, texts::connect(lang), &error)),
    };
    let modes: &[bool] = match keeps_statements {
        true => &[true, false],
        false => &[false],
    };
    for (index, is_prepared) in modes.iter().enumerate() {
        let (connector, mode) = match is_prepared {
            true => (connector.clone(), texts::prepared(lang)),
            false => (connector.clone().as_text(), texts::text(lang)),
        };
        let teller = Teller { lang, mode };
        let checked = block_on(check(connector, teller, index == 0)).map_err(on_thread)?;
        if let Err((step, error)) = checked {
            return Ok(failed(lang, step(lang), &error));
        }
    }
    if keeps_statements {
        say!("{}", texts::all_passed(lang));
    } else {
        say!("{}", texts::all_but_prepared(lang));
    }
    Ok(ExitCode::Success)
}

/// Tells of poolers before hosts; whether prepared statements can be had through all of them.
async fn poolers(connector: Connector, lang: Lang) -> Result<bool, DbError> {
    let note = |says: &str| say!("{}", texts::note(lang, says));
    let mut kept = true;
    for (index, (host, _)) in connector.hosts().iter().enumerate() {
        match connector.pooling(index).await? {
            Pooling::Direct => {}
            Pooling::Session => note(&texts::session_pooler(lang, host)),
            Pooling::Transaction { keeps_statements } => {
                note(&texts::transaction_pooler(lang, host));
                if !keeps_statements {
                    note(texts::no_prepared(lang));
                }
                kept &= keeps_statements;
            }
        }
    }
    Ok(kept)
}

fn failed(lang: Lang, step: &str, error: &DbError) -> ExitCode {
    say!("{}", texts::failed(lang, step, error, error.class));
    match (error.kind, error.class) {
        (ErrorKind::TlsFiles, _) => ExitCode::Usage,
        (_, ErrorClass::Refused) => ExitCode::Connect,
        _ => ExitCode::Check,
    }
}

/// What a step is called.
type StepName = fn(Lang) -> &'static str;
type Step<T> = Result<T, (StepName, DbError)>;

/// Prints what went well.
#[derive(Clone, Copy)]
struct Teller {
    lang: Lang,
    /// How statements are sent.
    mode: &'static str,
}

impl Teller {
    fn ok(self, says: &str) {
        say!("{}", texts::ok(self.lang, says));
    }

    fn done(self, step: StepName) {
        self.ok(&texts::with_mode(self.lang, step(self.lang), self.mode));
    }
}

fn at(step: StepName) -> impl FnOnce(DbError) -> (StepName, DbError) {
    move |error| (step, error)
}

async fn check(connector: Connector, teller: Teller, is_first: bool) -> Step<()> {
    let lang = teller.lang;
    for host in 0..connector.hosts().len().max(1) {
        let session = connector
            .connect_to(host)
            .await
            .map_err(at(texts::connect))?;
        if is_first {
            let shown = match connector.hosts().get(host) {
                Some((host, HostRole::Read)) => texts::read_host(lang, host),
                Some((host, HostRole::Any)) => host.to_string(),
                None => String::new(),
            };
            let (step, server) = (texts::connect(lang), session.server());
            let (engine, version) = (&server.engine, &server.version);
            teller.ok(&texts::connected(lang, step, shown, engine, version));
        }
        session.close().await;
    }
    let mut session = connector.connect(0).await.map_err(at(texts::connect))?;
    if is_first {
        let settings = settings::settings_that_matter(&mut session)
            .await
            .map_err(at(texts::read_settings))?;
        let step = texts::read_settings(lang);
        teller.ok(&texts::settings_read(lang, step, settings.len()));
    }
    if connector.target().is_read_only() {
        teller.ok(&texts::read_only(lang, teller.mode));
        session.close().await;
        return Ok(());
    }
    create(&mut session).await.map_err(at(texts::create))?;
    teller.done(texts::create);
    let used = use_table(&mut session, teller).await;
    let dropped = catalog::drop_marked(&mut session, TABLE, MARK).await;
    used?;
    dropped.map_err(at(texts::drop))?;
    teller.done(texts::drop);
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

async fn use_table(session: &mut Session, teller: Teller) -> Step<()> {
    let lang = teller.lang;
    let method = load(session).await.map_err(at(texts::load))?;
    let way = crate::loading::way(method, lang);
    teller.ok(&texts::loaded(lang, ROWS, teller.mode, way));
    read(session).await.map_err(at(texts::read))?;
    teller.done(texts::read);
    roll_back(session).await.map_err(at(texts::roll_back))?;
    teller.done(texts::change);
    classes(session).await.map_err(at(texts::classify))?;
    teller.done(texts::classify);
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
