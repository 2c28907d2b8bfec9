//! From the text of a workload file to its types.

use crate::database::DatabaseKind;
use crate::element::{Element, is_like_a_url};
use crate::error::{FileError, Remark};
use crate::file::WorkloadFile;
use crate::jdbc::JdbcUrl;
use crate::phases::the_five;
use roxmltree::{Document, Error as Xml, ParsingOptions};
use std::collections::BTreeSet;
use std::time::Duration;
use tidemark_core::{Isolation, Secret, did_you_mean, nearest};

/// No workload file is longer, in bytes.
const LONGEST: usize = 16 << 20;
/// Nor has it more elements and texts.
const MOST_NODES: u32 = 1 << 20;
const URL_EXAMPLE: &str = "jdbc:postgresql://127.0.0.1:5432/tpcc";

/// Elements with a meaning here.
const KNOWN: &[&str] = &[
    "dbtype",
    "type",
    "driver",
    "DBUrl",
    "DBUrls",
    "url",
    "jdbcURL",
    "username",
    "password",
    "DBName",
    "port",
    "sslCert",
    "sslKey",
    "isolation",
    "scalefactor",
    "terminals",
    "loaderThreads",
    "batchSize",
    "batchsize",
    "useKeyingTime",
    "useThinkTime",
    "enableForeignKeysAfterLoad",
    "hikariConnectionTimeoutMs",
    "newConnectionPerTxn",
    "randomSeed",
    "transactiontypes",
    "works",
    "runtime",
    "rate",
];

/// Elements of the family without one, and why.
const UNUSED: &[(&str, &str)] = &[
    (
        "maxRetriesPerTransaction",
        "retryable errors are retried until they succeed",
    ),
    ("retries", "retryable errors are retried until they succeed"),
    (
        "maxLoaderRetries",
        "retryable errors are retried until they succeed",
    ),
    (
        "reconnectOnConnectionFailure",
        "a lost session always reconnects",
    ),
    ("useConnMngr", "the driver adapts to the server"),
    ("useShortLivedConn", "the driver adapts to the server"),
    (
        "useStoredProcedures",
        "transactions are prepared statements",
    ),
    (
        "trackPerSQLStmtLatencies",
        "latencies are those of transactions",
    ),
    (
        "displayEnhancedLatencyMetrics",
        "all latencies are always reported",
    ),
    (
        "recordabortmessages",
        "errors are always counted, with their first message",
    ),
    ("datadir", "rows are generated, not read"),
    ("ddlpath", "tables are those of the specification"),
    ("uploadCode", "nothing is uploaded"),
    ("uploadUrl", "nothing is uploaded"),
];

impl WorkloadFile {
    /// Reads the text of a workload file.
    ///
    /// # Errors
    /// [`FileError`] for what is no XML, no workload file, or a value that is not taken, with its
    /// line, what is allowed and a right example.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        if text.len() > LONGEST {
            return Err(FileError::TooLong { limit: LONGEST });
        }
        let options = ParsingOptions {
            nodes_limit: MOST_NODES,
            ..ParsingOptions::default()
        };
        let document = Document::parse_with_options(text, options).map_err(|e| malformed(&e))?;
        let root = Element::new(document.root_element());
        if root.name() != "parameters" {
            return Err(FileError::Root {
                line: root.line(),
                found: root.name().chars().take(60).collect(),
            });
        }
        ConfigReader::default().read(root)
    }
}

/// What is wrong with the XML. What stands in the file is not repeated: it may be a password.
fn malformed(error: &Xml) -> FileError {
    let reason = match error {
        Xml::UnexpectedCloseTag(open, ..) if is_name(open) => {
            format!("the end of <{open}> is expected here, </{open}>")
        }
        Xml::UnexpectedCloseTag(..) => "an element ends here that is not open".into(),
        Xml::UnknownEntityReference(..) | Xml::MalformedEntityReference(..) => {
            "an & in a value is written &amp;".into()
        }
        Xml::DtdDetected => "a document type declaration (<!DOCTYPE …>) is not read".into(),
        Xml::NoRootNode => "there is no element; a workload file begins with <parameters>".into(),
        Xml::UnclosedRootNode | Xml::UnexpectedEndOfStream => {
            "the file ends before its elements do".into()
        }
        Xml::InvalidName(_) | Xml::InvalidChar(..) | Xml::InvalidChar2(..) => {
            "no tag can be read here; a < in a value is written &lt;".into()
        }
        Xml::NonXmlChar(..) => "a character that XML does not allow".into(),
        Xml::DuplicatedAttribute(..) => "an attribute is given twice".into(),
        Xml::InvalidComment(_) => "a comment must not have -- in it".into(),
        Xml::UnexpectedDeclaration(_) => "<?xml …?> is allowed only at the very beginning".into(),
        Xml::NodesLimitReached => "there are more elements than in any workload file".into(),
        _ => "this is not XML".into(),
    };
    let at = error.pos();
    FileError::Malformed {
        line: at.row,
        column: at.col,
        reason,
    }
}

fn is_name(name: &str) -> bool {
    name == "parameters" || name == "work" || KNOWN.contains(&name)
}

/// A file that is being read.
#[derive(Default)]
pub(crate) struct ConfigReader {
    pub remarks: Vec<Remark>,
    /// Elements that have no effect here and why, told once.
    unused: BTreeSet<&'static str>,
}

impl ConfigReader {
    fn read(mut self, root: Element<'_>) -> Result<WorkloadFile, FileError> {
        let mut file = WorkloadFile::default();
        file.database.line = root.line();
        let elements = root.children(&["DBUrl", "url", "jdbcURL"], &mut self.remarks);
        for element in &elements {
            if !self.database(*element, &mut file)? && !self.general(*element, &mut file)? {
                self.other(*element, KNOWN);
            }
        }
        let named = |name: &str| elements.iter().copied().find(|e| e.name() == name);
        self.agree(&mut file, named("dbtype").or(named("type")).unwrap_or(root))?;
        match named("transactiontypes") {
            Some(types) => file.transactions = self.transactions(types)?,
            None => file.transactions = the_five(),
        }
        match named("works") {
            Some(works) => {
                for name in ["runtime", "rate"] {
                    if let Some(beside) = named(name) {
                        self.remark(beside, format!("<{name}> is ignored with <works>"));
                    }
                }
                file.works = self.works(works, &file)?;
            }
            // Newer YugabyteDB clients have one phase, and no element around it.
            None => {
                if let Some(runtime) = named("runtime") {
                    file.works.push(self.single(runtime, named("rate"), &file)?);
                } else if let Some(rate) = named("rate") {
                    self.remark(rate, "<rate> is ignored without <runtime>".into());
                }
            }
        }
        self.remarks.sort_by_key(|r| r.line);
        file.remarks = self.remarks;
        Ok(file)
    }

    pub fn remark(&mut self, element: Element<'_>, text: String) {
        self.remarks.push(Remark {
            line: element.line(),
            text,
        });
    }

    /// An element that is not used.
    pub fn other(&mut self, element: Element<'_>, known: &[&str]) {
        let name: String = element.name().chars().take(60).collect();
        if let Some((unused, why)) = UNUSED.iter().find(|(unused, _)| *unused == name) {
            if self.unused.insert(unused) {
                self.remark(element, format!("<{name}> has no effect here: {why}"));
            }
            return;
        }
        let lower = name.to_ascii_lowercase();
        let same = known.iter().find(|k| k.to_ascii_lowercase() == lower);
        let hint = same
            .copied()
            .or_else(|| nearest(&name, known.iter().copied()))
            .map(|near| format!("; did you mean <{near}>?"));
        let hint = hint.unwrap_or_default();
        self.remark(
            element,
            format!("unknown element <{name}> is ignored{hint}"),
        );
    }

    /// Elements that say where the database is; whether this is one.
    fn database(
        &mut self,
        element: Element<'_>,
        file: &mut WorkloadFile,
    ) -> Result<bool, FileError> {
        let database = &mut file.database;
        let text = Some(element.text()).filter(|t| !t.is_empty());
        match element.name() {
            "dbtype" | "type" => {
                let kind = element.text();
                database.kind = Some(DatabaseKind::of(&kind).ok_or_else(|| {
                    let known: Vec<_> = DatabaseKind::names().collect();
                    let hint = did_you_mean(&kind.to_ascii_lowercase(), DatabaseKind::names());
                    element.wrong(format!("{}{hint}", known.join(", ")), "postgres")
                })?);
            }
            "DBUrl" | "url" | "jdbcURL" => self.url(element, file)?,
            "DBUrls" => {
                for inner in element.children(&["DBUrl"], &mut self.remarks) {
                    match inner.name() {
                        "DBUrl" => self.url(inner, file)?,
                        _ => self.other(inner, &["DBUrl"]),
                    }
                }
            }
            "username" => database.user = text,
            "password" => database.password = text.map(Secret::new),
            "DBName" if text.as_deref().is_some_and(is_like_a_url) => {
                return Err(element.wrong("a database's name alone", "tpcc"));
            }
            "DBName" => database.name = text,
            "port" => {
                let port = element.count(1..=65_535, "5432")?;
                database.port = u16::try_from(port).ok();
            }
            "sslCert" => database.cert = text.map(Into::into),
            "sslKey" => database.key = text.map(Into::into),
            // JDBC's class; what it is for is said by the type.
            "driver" => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn url(&mut self, element: Element<'_>, file: &mut WorkloadFile) -> Result<(), FileError> {
        let text = element.text();
        if text.is_empty() {
            return Ok(());
        }
        // Each kind of database has its own place for an account: nothing of a URL that is not one of
        // ours, or can't be read, is repeated but the kind.
        if let Some(kind) = JdbcUrl::kind(&text).filter(|kind| DatabaseKind::of(kind).is_none()) {
            let known: Vec<_> = DatabaseKind::names().collect();
            let allowed = format!("jdbc: and one of {}", known.join(", "));
            return Err(element.wrong_value(&format!("jdbc:{kind}:…"), allowed, URL_EXAMPLE));
        }
        let url = JdbcUrl::parse(&text)
            .map_err(|e| element.wrong_value("…", format!("a JDBC URL: {e}"), URL_EXAMPLE))?;
        if !url.unused.is_empty() {
            let names = url.unused.join(", ");
            self.remark(
                element,
                format!("parameters of the URL without effect here: {names}"),
            );
        }
        file.database.urls.push(url);
        Ok(())
    }

    /// One protocol, whoever names it.
    fn agree(&mut self, file: &mut WorkloadFile, at: Element<'_>) -> Result<(), FileError> {
        let database = &mut file.database;
        for url in &database.urls {
            let Some(kind) = DatabaseKind::of(&url.protocol) else {
                continue;
            };
            let before = *database.kind.get_or_insert(kind);
            if before.protocol() != kind.protocol() {
                let allowed = format!("the protocol of its URL, {}", url.protocol);
                return Err(at.wrong(allowed, &url.protocol));
            }
        }
        Ok(())
    }

    /// Elements that are neither of the database nor of the phases; whether this is one.
    fn general(
        &mut self,
        element: Element<'_>,
        file: &mut WorkloadFile,
    ) -> Result<bool, FileError> {
        match element.name() {
            "isolation" => file.isolation = Some(isolation(element)?),
            "scalefactor" => file.scale_factor = Some(element.positive(1e6, "10")?),
            // 0 is what an absent one is to OLTPBench.
            "terminals" => {
                file.terminals = Some(element.count(0..=10_000_000, "100")?).filter(|t| *t > 0);
            }
            "loaderThreads" => file.loader_threads = Some(element.count(1..=100_000, "10")?),
            "batchSize" | "batchsize" => {
                file.batch_size = Some(element.count(1..=10_000_000, "128")?);
            }
            "useKeyingTime" => file.timing.keying = Some(element.flag("true")?),
            "useThinkTime" => file.timing.think = Some(element.flag("true")?),
            "enableForeignKeysAfterLoad" => {
                file.foreign_keys_after_load = Some(element.flag("true")?);
            }
            "hikariConnectionTimeoutMs" => {
                let ms = element.whole(1..=86_400_000, "180000")?;
                file.connection_timeout = Some(Duration::from_millis(ms));
            }
            "newConnectionPerTxn" => {
                file.new_connection_per_transaction = element.flag("false")?;
            }
            // -1 is what an absent one is to BenchBase.
            "randomSeed" if element.text() == "-1" => {}
            "randomSeed" => file.seed = Some(element.whole(0..=i64::MAX as u64, "42")?),
            "transactiontypes" | "works" | "runtime" | "rate" => {}
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// By the names of JDBC: `TRANSACTION_READ_COMMITTED`.
fn isolation(element: Element<'_>) -> Result<Isolation, FileError> {
    let given = element.text();
    let name = |level: Isolation| format!("TRANSACTION_{}", level.sql().replace(' ', "_"));
    let named = Isolation::ALL
        .into_iter()
        .find(|level| name(*level) == given);
    named.ok_or_else(|| {
        let names = Isolation::ALL.map(name);
        let hint = did_you_mean(&given, names.iter().map(String::as_str));
        let allowed = format!("{}{hint}", names.join(", "));
        element.wrong(allowed, "TRANSACTION_REPEATABLE_READ")
    })
}
