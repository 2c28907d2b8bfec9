//! Connection, poolers, rights, settings, loading and error classes, on a table of doctor's own.

use super::told::{Area, CheckLevel, Teller};
use crate::exit::ExitCode;
use crate::messages;
use crate::texts::doctor as texts;
use tidemark_core::record::{HostRole, Setting};
use tidemark_core::{DbError, ErrorClass, ErrorKind, ServerInfo};
use tidemark_drivers::{
    BulkMethod, Connector, LoadRequest, Pooling, RowSet, RowSource, RowWriter, Session, Value,
    catalog, settings,
};
use tidemark_report::Lang;
use tidemark_runtime::block_on;

/// The doctor's own table. A table of that name that it did not mark is left alone. In a database or
/// schema of that name it proves that this is doctor's own, too.
pub const TABLE: &str = "tidemark_doctor";
/// What it is marked with.
pub const MARK: &str = "tidemark:doctor";
const ROWS: i64 = 1000;

/// What is known of a target that can be used.
#[derive(Debug, Clone)]
pub struct KnownTarget {
    /// Engine and version.
    pub server: ServerInfo,
    /// Whether it runs on this host; `None` of an embedded database.
    pub on_client: Option<bool>,
    /// Settings that matter.
    pub settings: Vec<Setting>,
    /// Whether prepared statements work.
    pub keeps_statements: bool,
    /// Whether a pooler gives server sessions out by transaction: they keep no settings.
    pub shares_sessions: bool,
}

/// What poolers before the hosts do.
#[derive(Debug, Clone, Copy)]
struct Poolers {
    keep_statements: bool,
    share_sessions: bool,
}

/// Checks a target, and tells of each step.
///
/// # Errors
/// The exit code of a step that failed, which was told.
pub fn examine(connector: &Connector, teller: &Teller) -> Result<KnownTarget, ExitCode> {
    let looked = block_on(poolers(connector.clone(), teller.clone()));
    let poolers = match looked {
        Ok(Ok(poolers)) => poolers,
        Ok(Err(error)) => return Err(failed(teller, texts::connect, &error)),
        Err(error) => return Err(failed(teller, texts::connect, &on_thread(&error))),
    };
    let modes: &[bool] = match poolers.keep_statements {
        true => &[true, false],
        false => &[false],
    };
    let mut known = None;
    for is_prepared in modes {
        let (connector, mode) = match is_prepared {
            true => (connector.clone(), texts::prepared(teller.lang)),
            false => (connector.clone().as_text(), texts::text(teller.lang)),
        };
        let is_first = known.is_none();
        let told = Steps {
            teller: teller.clone(),
            mode,
        };
        let checked = block_on(check(connector, told, is_first));
        match checked.unwrap_or_else(|e| Err((texts::connect, on_thread(&e)))) {
            Ok(found) if is_first => known = Some(found),
            Ok(_) => {}
            Err((step, error)) => return Err(failed(teller, step, &error)),
        }
    }
    let (server, on_client, settings) = known.ok_or(ExitCode::Failed)?;
    Ok(KnownTarget {
        server,
        on_client,
        settings,
        keeps_statements: poolers.keep_statements,
        shares_sessions: poolers.share_sessions,
    })
}

fn on_thread(error: &std::io::Error) -> DbError {
    DbError::new(ErrorClass::Fatal, "io", error.to_string())
}

/// Tells of poolers before hosts.
async fn poolers(connector: Connector, teller: Teller) -> Result<Poolers, DbError> {
    let lang = teller.lang;
    let note = |says: &str| teller.tell(Area::Target, CheckLevel::Note, "pooler", says);
    let mut all = Poolers {
        keep_statements: true,
        share_sessions: false,
    };
    for (index, (host, _)) in connector.hosts().iter().enumerate() {
        match connector.pooling(index).await? {
            Pooling::Direct => {}
            Pooling::Session => note(&texts::session_pooler(lang, host)),
            Pooling::Transaction { keeps_statements } => {
                note(&texts::transaction_pooler(lang, host));
                if !keeps_statements {
                    note(texts::no_prepared(lang));
                }
                all.keep_statements &= keeps_statements;
                all.share_sessions = true;
            }
        }
    }
    Ok(all)
}

/// An error in the language, as far as that knows it.
pub fn said(lang: Lang, error: &DbError) -> String {
    let english = error.to_string();
    match lang {
        Lang::En => english,
        Lang::Zh => messages::in_language(&english).into_owned(),
    }
}

/// The class of an error, for people.
pub fn class_of(lang: Lang, error: &DbError) -> &'static str {
    match error.class {
        ErrorClass::Retryable => texts::class_retryable(lang),
        ErrorClass::ConnectionLost => texts::class_connection_lost(lang),
        ErrorClass::Refused => texts::class_refused(lang),
        ErrorClass::Constraint => texts::class_constraint(lang),
        ErrorClass::Missing => texts::class_missing(lang),
        ErrorClass::Fatal => texts::class_fatal(lang),
    }
}

/// Tells of a step that failed; the exit code.
pub fn failed(teller: &Teller, step: StepName, error: &DbError) -> ExitCode {
    let lang = teller.lang;
    let says = texts::failure(lang, step(lang), said(lang, error), class_of(lang, error));
    teller.tell(Area::Target, CheckLevel::Failed, step(Lang::En), &says);
    match (error.kind, error.class) {
        (ErrorKind::TlsFiles, _) => ExitCode::Usage,
        (_, ErrorClass::Refused) => ExitCode::Connect,
        _ => ExitCode::Check,
    }
}

/// What a step is called.
pub type StepName = fn(Lang) -> &'static str;
type Step<T> = Result<T, (StepName, DbError)>;

/// Tells what went well.
struct Steps {
    teller: Teller,
    /// How statements are sent.
    mode: &'static str,
}

impl Steps {
    fn ok(&self, step: StepName, says: &str) {
        self.teller
            .tell(Area::Target, CheckLevel::Ok, step(Lang::En), says);
    }

    fn done(&self, step: StepName) {
        let lang = self.teller.lang;
        self.ok(step, &texts::with_mode(lang, step(lang), self.mode));
    }
}

fn at(step: StepName) -> impl FnOnce(DbError) -> (StepName, DbError) {
    move |error| (step, error)
}

type Found = (ServerInfo, Option<bool>, Vec<Setting>);

async fn check(connector: Connector, steps: Steps, is_first: bool) -> Step<Found> {
    let lang = steps.teller.lang;
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
            let says = texts::connected(lang, step, shown, engine, version);
            steps.ok(texts::connect, &says);
        }
        session.close().await;
    }
    let mut session = connector.connect(0).await.map_err(at(texts::connect))?;
    let server = session.server().clone();
    let on_client = crate::looking::on_client(&mut session, &connector);
    let mut settings = Vec::new();
    if is_first {
        settings = settings::settings_that_matter(&mut session)
            .await
            .map_err(at(texts::read_settings))?;
        let step = texts::read_settings(lang);
        let says = texts::settings_read(lang, step, settings.len());
        steps.ok(texts::read_settings, &says);
    }
    let found = (server, on_client, settings);
    if connector.target().is_read_only() {
        steps.ok(texts::create, &texts::read_only(lang, steps.mode));
        session.close().await;
        return Ok(found);
    }
    create(&mut session).await.map_err(at(texts::create))?;
    steps.done(texts::create);
    let used = use_table(&mut session, &steps).await;
    let dropped = catalog::drop_marked(&mut session, TABLE, MARK).await;
    used?;
    dropped.map_err(at(texts::drop))?;
    steps.done(texts::drop);
    session.close().await;
    Ok(found)
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

async fn use_table(session: &mut Session, steps: &Steps) -> Step<()> {
    let lang = steps.teller.lang;
    let method = load(session).await.map_err(at(texts::load))?;
    let way = crate::loading::way(method, lang);
    steps.ok(texts::load, &texts::loaded(lang, ROWS, steps.mode, way));
    read(session).await.map_err(at(texts::read))?;
    steps.done(texts::read);
    roll_back(session).await.map_err(at(texts::roll_back))?;
    steps.done(texts::change);
    classes(session).await.map_err(at(texts::classify))?;
    steps.done(texts::classify);
    Ok(())
}

/// Rows whose values are awkward to quote.
struct AwkwardRows(i64);

fn value(id: i64) -> String {
    format!("row {id}: it's \\ \"quoted\", naïve\ttab\nline")
}

impl RowSource for AwkwardRows {
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
    let loaded = session.load(&request, &mut AwkwardRows(0)).await?;
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
