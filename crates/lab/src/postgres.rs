//! The server's side of the PostgreSQL frontend/backend protocol 3.0 (PostgreSQL manual, chapter
//! "Frontend/Backend Protocol"), as far as a client of a benchmark goes.

use crate::catalog::{self, C};
use crate::sql::{self, PreparedStatement, StatementKind};
use crate::wire::{Exchange, RequestStep, take, take_text};

/// What `version()` says: honest about what answers.
pub(crate) const VERSION: &str = concat!(
    "PostgreSQL 15.0 (tidemark-lab ",
    env!("CARGO_PKG_VERSION"),
    ") on a laboratory"
);
const SERVER_VERSION: &str = concat!("15.0 (tidemark-lab ", env!("CARGO_PKG_VERSION"), ")");

/// Longest message.
const LONGEST: usize = 4 << 20;
/// Longest start-up message; the server's own limit is near.
const LONGEST_STARTUP: usize = 10_000;

// Codes in place of a version ("Message Formats").
const CANCEL_REQUEST: u32 = 80_877_102;
const SSL_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;

/// Type `text`.
const TEXT_OID: u32 = 25;

/// One session.
#[derive(Debug, Default)]
pub(crate) struct Postgres {
    /// By name, sorted; the empty name is the unnamed statement.
    statements: Vec<(Box<[u8]>, PreparedStatement)>,
    /// What Execute executes: the statement bound last, whatever the portal's name.
    bound: Option<PreparedStatement>,
    /// It is one session too many.
    refused: bool,
    ready: bool,
    in_transaction: bool,
    /// After an error everything up to Sync is passed over.
    failed: bool,
}

impl Postgres {
    /// A session that is let in, or refused once it has said what it wants.
    pub fn new(refused: bool) -> Self {
        Self {
            refused,
            ..Self::default()
        }
    }

    /// Takes the next message.
    pub fn step(&mut self, bytes: &[u8], mut to: Exchange<'_>) -> RequestStep {
        let (tag, header) = if self.ready {
            (bytes.first(), 1)
        } else {
            (None, 0)
        };
        let length = bytes.get(header..).and_then(|b| b.first_chunk::<4>());
        let Some(length) = length.map(|l| u32::from_be_bytes(*l) as usize) else {
            return RequestStep::Incomplete;
        };
        let longest = if self.ready { LONGEST } else { LONGEST_STARTUP };
        if !(4..=longest).contains(&length) {
            return RequestStep::Broken;
        }
        let used = header + length;
        let Some(body) = bytes.get(header + 4..used) else {
            return RequestStep::Incomplete;
        };
        match tag {
            None => self.start(body, used, &mut to),
            Some(tag) => self.message(*tag, body, used, &mut to),
        }
        .unwrap_or(RequestStep::Broken)
    }

    fn start(
        &mut self,
        mut body: &[u8],
        used: usize,
        to: &mut Exchange<'_>,
    ) -> Option<RequestStep> {
        let rest = &mut body;
        let version = u32::from_be_bytes(*take(rest, 4)?.first_chunk()?);
        if version == SSL_REQUEST || version == GSS_REQUEST {
            to.out.push(b'N');
            return Some(RequestStep::Answer(used));
        }
        if version == CANCEL_REQUEST {
            return Some(RequestStep::Close);
        }
        if version >> 16 != 3 {
            return None;
        }
        if self.refused {
            let why = "sorry, too many clients already";
            error(to.out, "FATAL", "53300", why);
            return Some(RequestStep::Close);
        }
        let mut user: &[u8] = b"";
        while rest.first().is_some_and(|b| *b != 0) {
            let (name, value) = (take_text(rest)?, take_text(rest)?);
            if name == b"user" {
                user = value;
            }
        }
        if to
            .config
            .user
            .as_ref()
            .is_some_and(|u| u.as_bytes() != user)
        {
            let why = format!("role \"{}\" does not exist", String::from_utf8_lossy(user));
            error(to.out, "FATAL", "28000", &why);
            return Some(RequestStep::Close);
        }
        if version & 0xFFFF > 0 {
            // NegotiateProtocolVersion: 3.0, and no option that isn't known.
            message(to.out, b'v', |out| out.extend_from_slice(&[0; 8]));
        }
        self.ready = true;
        message(to.out, b'R', |out| out.extend_from_slice(&[0; 4]));
        for (name, value) in [
            ("server_version", SERVER_VERSION),
            ("server_encoding", "UTF8"),
            ("client_encoding", "UTF8"),
            ("DateStyle", "ISO, MDY"),
            ("TimeZone", "UTC"),
            ("integer_datetimes", "on"),
            ("standard_conforming_strings", "on"),
        ] {
            message(to.out, b'S', |out| {
                zero_terminated(out, name);
                zero_terminated(out, value);
            });
        }
        message(to.out, b'K', |out| out.extend_from_slice(&[0; 8]));
        self.ready_for_query(to.out);
        Some(RequestStep::Answer(used))
    }

    fn message(
        &mut self,
        tag: u8,
        mut body: &[u8],
        used: usize,
        to: &mut Exchange<'_>,
    ) -> Option<RequestStep> {
        let rest = &mut body;
        match tag {
            b'S' => {
                self.failed = false;
                self.ready_for_query(to.out);
                return Some(RequestStep::Answer(used));
            }
            b'H' => return Some(RequestStep::Answer(used)),
            b'X' => return Some(RequestStep::Close),
            // A function call is answered with an error; copied data without a copy is ignored.
            _ if self.failed => {}
            b'B' => {
                let _portal = take_text(rest)?;
                self.bound = self.find(take_text(rest)?);
                match self.bound {
                    Some(_) => to.out.extend_from_slice(b"2\0\0\0\x04"),
                    None => self.fail(to.out, "26000", "prepared statement does not exist"),
                }
            }
            b'E' => {
                to.done.executed += 1;
                match self.bound {
                    Some(prepared) => self.execute(prepared.kind, to.out),
                    None => self.fail(to.out, "34000", "portal does not exist"),
                }
            }
            b'P' => {
                to.done.prepared += 1;
                let (name, text) = (take_text(rest)?, take_text(rest)?);
                let prepared = PreparedStatement {
                    kind: StatementKind::of(text),
                    params: sql::highest_number(text),
                };
                match self.place(name) {
                    Ok(at) => self.statements.get_mut(at)?.1 = prepared,
                    Err(at) => self.statements.insert(at, (name.into(), prepared)),
                }
                to.out.extend_from_slice(b"1\0\0\0\x04");
            }
            b'D' => self.describe(rest, to.out)?,
            b'C' => {
                if let (b"S", name) = (take(rest, 1)?, take_text(rest)?)
                    && let Ok(at) = self.place(name)
                {
                    self.statements.remove(at);
                }
                to.out.extend_from_slice(b"3\0\0\0\x04");
            }
            b'Q' => {
                to.done.queries += 1;
                self.query(take_text(rest)?, to);
                self.ready_for_query(to.out);
                return Some(RequestStep::Answer(used));
            }
            b'd' | b'c' | b'f' => {}
            b'F' => self.fail(to.out, "0A000", "the laboratory calls no functions"),
            _ => return None,
        }
        Some(RequestStep::Taken(used))
    }

    fn place(&self, name: &[u8]) -> Result<usize, usize> {
        self.statements
            .binary_search_by(|(known, _)| (**known).cmp(name))
    }

    fn find(&self, name: &[u8]) -> Option<PreparedStatement> {
        let at = self.place(name).ok()?;
        self.statements.get(at).map(|s| s.1)
    }

    fn fail(&mut self, out: &mut Vec<u8>, code: &str, why: &str) {
        self.failed = true;
        error(out, "ERROR", code, why);
    }

    fn describe(&mut self, rest: &mut &[u8], out: &mut Vec<u8>) -> Option<()> {
        let what = take(rest, 1)?;
        let name = take_text(rest)?;
        let found = if what == b"S" {
            self.find(name)
        } else {
            self.bound
        };
        let Some(prepared) = found else {
            self.fail(out, "26000", "prepared statement does not exist");
            return Some(());
        };
        if what == b"S" {
            message(out, b't', |out| {
                out.extend_from_slice(&prepared.params.to_be_bytes());
                for _ in 0..prepared.params {
                    out.extend_from_slice(&TEXT_OID.to_be_bytes());
                }
            });
        }
        if prepared.kind.has_rows() {
            columns(out, &["c"]);
        } else {
            out.extend_from_slice(b"n\0\0\0\x04");
        }
        Some(())
    }

    /// Rows and the tag of a statement that was described before.
    fn execute(&mut self, kind: StatementKind, out: &mut Vec<u8>) {
        self.in_transaction = kind.transaction_after(self.in_transaction);
        if kind.has_rows() {
            row(out, [Some(C)]);
        }
        complete(kind, 1, out);
    }

    fn query(&mut self, text: &[u8], to: &mut Exchange<'_>) {
        let kind = StatementKind::of(text);
        let found = match kind {
            StatementKind::Show => Some(catalog::show()),
            StatementKind::Select => catalog::answer(&String::from_utf8_lossy(text), to.config),
            _ => return self.execute(kind, to.out),
        };
        let Some(found) = found else {
            columns(to.out, &["c"]);
            return self.execute(kind, to.out);
        };
        columns(to.out, found.columns);
        for cells in &found.rows {
            row(to.out, cells.iter().map(Option::as_deref));
        }
        complete(kind, found.rows.len(), to.out);
    }

    fn ready_for_query(&self, out: &mut Vec<u8>) {
        let status = if self.in_transaction { b'T' } else { b'I' };
        out.extend_from_slice(&[b'Z', 0, 0, 0, 5, status]);
    }
}

fn message(out: &mut Vec<u8>, tag: u8, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let length = (out.len() - at) as u32;
    if let Some(place) = out.get_mut(at..at + 4) {
        place.copy_from_slice(&length.to_be_bytes());
    }
}

fn zero_terminated(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// `RowDescription` of texts.
fn columns(out: &mut Vec<u8>, names: &[&str]) {
    message(out, b'T', |out| {
        out.extend_from_slice(&(names.len() as u16).to_be_bytes());
        for name in names {
            zero_terminated(out, name);
            // Of no table; type; of any length; no modifier; in text form.
            out.extend_from_slice(&[0; 6]);
            out.extend_from_slice(&TEXT_OID.to_be_bytes());
            out.extend_from_slice(&[0xFF; 6]);
            out.extend_from_slice(&[0; 2]);
        }
    });
}

/// `DataRow`.
fn row<'a>(out: &mut Vec<u8>, cells: impl IntoIterator<Item = Option<&'a str>>) {
    message(out, b'D', |out| {
        let at = out.len();
        out.extend_from_slice(&[0; 2]);
        let mut count = 0u16;
        for cell in cells {
            count += 1;
            let length = cell.map_or(-1, |c| c.len() as i32);
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(cell.unwrap_or_default().as_bytes());
        }
        if let Some(place) = out.get_mut(at..at + 2) {
            place.copy_from_slice(&count.to_be_bytes());
        }
    });
}

/// `CommandComplete`.
fn complete(kind: StatementKind, rows: usize, out: &mut Vec<u8>) {
    let tag = match kind {
        StatementKind::Empty => return message(out, b'I', |_| {}),
        StatementKind::Select if rows == 1 => "SELECT 1",
        StatementKind::Select => {
            return message(out, b'C', |out| {
                zero_terminated(out, &format!("SELECT {rows}"));
            });
        }
        StatementKind::Show => "SHOW",
        StatementKind::Insert => "INSERT 0 1",
        StatementKind::Update => "UPDATE 1",
        StatementKind::Delete => "DELETE 1",
        StatementKind::Begin => "BEGIN",
        StatementKind::Commit => "COMMIT",
        StatementKind::Rollback => "ROLLBACK",
        StatementKind::Other => "SET",
    };
    message(out, b'C', |out| zero_terminated(out, tag));
}

/// `ErrorResponse`.
fn error(out: &mut Vec<u8>, severity: &str, code: &str, why: &str) {
    message(out, b'E', |out| {
        for (field, value) in [
            (b'S', severity),
            (b'V', severity),
            (b'C', code),
            (b'M', why),
        ] {
            out.push(field);
            zero_terminated(out, value);
        }
        out.push(0);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LabConfig;
    use crate::wire::Done;
    use proptest::prelude::*;

    fn step(session: &mut Postgres, bytes: &[u8]) -> (RequestStep, Vec<u8>) {
        let mut out = Vec::new();
        let to = Exchange {
            config: &LabConfig::default(),
            out: &mut out,
            done: &mut Done::default(),
        };
        (session.step(bytes, to), out)
    }

    fn framed(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        message(&mut out, tag, |out| out.extend_from_slice(body));
        out
    }

    fn ready() -> Postgres {
        Postgres {
            ready: true,
            ..Postgres::default()
        }
    }

    #[test]
    fn encryption_is_not_offered_and_the_session_goes_on() {
        let mut session = Postgres::default();
        for code in [SSL_REQUEST, GSS_REQUEST] {
            let request = [8u32.to_be_bytes(), code.to_be_bytes()].concat();
            let answer = (RequestStep::Answer(8), b"N".to_vec());
            assert_eq!(step(&mut session, &request), answer);
        }
        let cancel = [8u32.to_be_bytes(), CANCEL_REQUEST.to_be_bytes()].concat();
        assert_eq!(step(&mut session, &cancel), (RequestStep::Close, vec![]));
    }

    #[test]
    fn a_newer_version_is_told_what_is_spoken() {
        let start = b"\0\0\0\x11\0\x03\0\x02user\0me\0\0";
        let (found, reply) = step(&mut Postgres::default(), start);
        assert_eq!(found, RequestStep::Answer(start.len()));
        assert_eq!(&reply[..14], b"v\0\0\0\x0c\0\0\0\0\0\0\0\0R");
    }

    #[test]
    fn statements_are_found_by_name_until_they_are_closed() {
        let mut session = ready();
        for name in ["b", "a", "", "c"] {
            let body = format!("{name}\0SELECT 1\0\0\0");
            step(&mut session, &framed(b'P', body.as_bytes()));
        }
        let bind = |session: &mut Postgres, name: &str| {
            let body = format!("\0{name}\0\0\0\0\0\0\0");
            let reply = step(session, &framed(b'B', body.as_bytes())).1;
            step(session, &framed(b'S', b""));
            reply[0]
        };
        for (name, tag) in [("a", b'2'), ("b", b'2'), ("", b'2'), ("d", b'E')] {
            assert_eq!(bind(&mut session, name), tag, "{name}");
        }
        step(&mut session, &framed(b'C', b"Sa\0"));
        assert_eq!(bind(&mut session, "a"), b'E');
        assert_eq!(bind(&mut session, "c"), b'2');
    }

    #[test]
    fn tags_are_those_of_a_server() {
        for (sql, tag) in [
            ("INSERT INTO t VALUES (1)", "INSERT 0 1"),
            ("BEGIN", "BEGIN"),
            ("SELECT COUNT(*) FROM \"sbtest1\"", "SELECT 1"),
            ("SELECT 1 FROM pg_catalog.x", "SELECT 0"),
        ] {
            let (_, reply) = step(&mut ready(), &framed(b'Q', format!("{sql}\0").as_bytes()));
            let reply = String::from_utf8_lossy(&reply);
            assert!(reply.contains(&format!("{tag}\0")), "{sql}: {reply:?}");
        }
    }

    proptest! {
        #[test]
        fn any_message_is_answered_or_refused(
            tag in any::<u8>(),
            body in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let mut session = ready();
            let bytes = framed(tag, &body);
            for len in 0..bytes.len() {
                prop_assert_eq!(step(&mut session, &bytes[..len]).0, RequestStep::Incomplete);
            }
            if let RequestStep::Answer(n) | RequestStep::Taken(n) = step(&mut session, &bytes).0 {
                prop_assert_eq!(n, bytes.len());
            }
        }

        #[test]
        fn any_bytes_are_no_harm(
            bytes in prop::collection::vec(any::<u8>(), 0..60),
            logged_in in any::<bool>(),
        ) {
            step(&mut Postgres { ready: logged_in, ..Postgres::default() }, &bytes);
        }
    }
}
