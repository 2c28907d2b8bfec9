//! The server's side of the MySQL client/server protocol (MySQL Internals, "Client/Server
//! Protocol"), as far as a client of a benchmark goes.

use crate::catalog::{self, C, TextResult};
use crate::sql::{self, PreparedStatement, StatementKind};
use crate::wire::{Exchange, RequestStep, take, take_text};

/// What the greeting says: honest about what answers, and of MySQL's family.
pub(crate) const VERSION: &str = concat!("8.0.0-tidemark-lab-", env!("CARGO_PKG_VERSION"));

const HEADER: usize = 4;
/// Longest request.
const LONGEST: usize = 4 << 20;

// Capabilities ("Capabilities Flags").
const LONG_PASSWORD: u32 = 1;
const LONG_FLAG: u32 = 1 << 2;
const CONNECT_WITH_DB: u32 = 1 << 3;
const PROTOCOL_41: u32 = 1 << 9;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE_CONNECTION: u32 = 1 << 15;
const MULTI_RESULTS: u32 = 1 << 17;
const PS_MULTI_RESULTS: u32 = 1 << 18;
const PLUGIN_AUTH: u32 = 1 << 19;
const CONNECT_ATTRS: u32 = 1 << 20;
const PLUGIN_AUTH_LENENC: u32 = 1 << 21;
const DEPRECATE_EOF: u32 = 1 << 24;
const CAPABILITIES: u32 = LONG_PASSWORD
    | LONG_FLAG
    | CONNECT_WITH_DB
    | PROTOCOL_41
    | TRANSACTIONS
    | SECURE_CONNECTION
    | MULTI_RESULTS
    | PS_MULTI_RESULTS
    | PLUGIN_AUTH
    | CONNECT_ATTRS
    | PLUGIN_AUTH_LENENC
    | DEPRECATE_EOF;

// Status flags.
const IN_TRANSACTION: u16 = 1;
const AUTOCOMMIT: u16 = 2;

const UTF8MB4: u8 = 45;
const VAR_STRING: u8 = 0xFD;

/// One session.
#[derive(Debug, Default)]
pub(crate) struct Mysql {
    /// By id, from 1; `None` where it was closed.
    statements: Vec<Option<PreparedStatement>>,
    ready: bool,
    deprecate_eof: bool,
    in_transaction: bool,
}

impl Mysql {
    /// Writes the greeting ("Protocol::HandshakeV10").
    pub fn greet(session: u32, out: &mut Vec<u8>) {
        packet(out, &mut 0, |out| {
            out.push(10);
            out.extend_from_slice(VERSION.as_bytes());
            out.push(0);
            out.extend_from_slice(&session.to_le_bytes());
            // A nonce that protects nothing: any password is taken.
            out.extend_from_slice(b"labolabo\0");
            let [a, b, c, d] = CAPABILITIES.to_le_bytes();
            out.extend_from_slice(&[a, b, UTF8MB4]);
            out.extend_from_slice(&AUTOCOMMIT.to_le_bytes());
            out.extend_from_slice(&[c, d, 21]);
            out.extend_from_slice(&[0; 10]);
            out.extend_from_slice(b"labolabolabo\0mysql_native_password\0");
        });
    }

    /// Writes why a session is refused, in place of the greeting.
    pub fn refuse(out: &mut Vec<u8>) {
        packet(out, &mut 0, |out| {
            // Nothing is agreed on yet, so there is no SQLSTATE.
            out.push(0xFF);
            out.extend_from_slice(&1040u16.to_le_bytes());
            out.extend_from_slice(b"Too many connections");
        });
    }

    /// Takes the next request.
    pub fn step(&mut self, bytes: &[u8], to: Exchange<'_>) -> RequestStep {
        let Some((&[a, b, c, sequence], rest)) = bytes.split_first_chunk::<HEADER>() else {
            return RequestStep::Incomplete;
        };
        let len = u32::from_le_bytes([a, b, c, 0]) as usize;
        if len > LONGEST || len == 0 {
            return RequestStep::Broken;
        }
        let Some(payload) = rest.get(..len) else {
            return RequestStep::Incomplete;
        };
        let used = HEADER + len;
        let sequence = sequence.wrapping_add(1);
        if self.ready {
            self.command(payload, used, sequence, to)
        } else {
            self.login(payload, used, sequence, to)
                .unwrap_or(RequestStep::Broken)
        }
    }

    /// "Protocol::HandshakeResponse41".
    fn login(
        &mut self,
        mut rest: &[u8],
        used: usize,
        mut sequence: u8,
        to: Exchange<'_>,
    ) -> Option<RequestStep> {
        let rest = &mut rest;
        let capabilities = u32::from_le_bytes(*take(rest, 4)?.first_chunk()?);
        if capabilities & PROTOCOL_41 == 0 {
            return None;
        }
        // Packet size, character set, reserved.
        take(rest, 4 + 1 + 23)?;
        let user = take_text(rest)?;
        if to
            .config
            .user
            .as_ref()
            .is_some_and(|u| u.as_bytes() != user)
        {
            let user = String::from_utf8_lossy(user);
            let why = format!("Access denied for user '{user}'");
            error(to.out, sequence, 1045, "28000", &why);
            return Some(RequestStep::Close);
        }
        self.deprecate_eof = capabilities & DEPRECATE_EOF != 0;
        self.ready = true;
        self.ok(to.out, &mut sequence, 0);
        Some(RequestStep::Answer(used))
    }

    fn command(
        &mut self,
        payload: &[u8],
        used: usize,
        mut sequence: u8,
        mut to: Exchange<'_>,
    ) -> RequestStep {
        let Some((&command, body)) = payload.split_first() else {
            return RequestStep::Broken;
        };
        match command {
            COM_STMT_EXECUTE => {
                to.done.executed += 1;
                self.execute(body, sequence, to);
            }
            COM_QUERY => {
                to.done.queries += 1;
                self.query(body, sequence, &mut to);
            }
            COM_STMT_PREPARE => {
                to.done.prepared += 1;
                self.prepare(body, sequence, to);
            }
            COM_STMT_CLOSE => {
                if let Some(statement) = id_of(body).and_then(|id| self.statements.get_mut(id)) {
                    *statement = None;
                }
                return RequestStep::Taken(used);
            }
            COM_STMT_SEND_LONG_DATA => return RequestStep::Taken(used),
            COM_QUIT => return RequestStep::Close,
            COM_INIT_DB | COM_PING | COM_STMT_RESET | COM_RESET_CONNECTION => {
                self.ok(to.out, &mut sequence, 0);
            }
            COM_SET_OPTION => self.end(to.out, &mut sequence),
            _ => error(to.out, sequence, 1047, "08S01", "Unknown command"),
        }
        RequestStep::Answer(used)
    }

    /// "COM_STMT_PREPARE Response".
    fn prepare(&mut self, text: &[u8], mut sequence: u8, to: Exchange<'_>) {
        let prepared = PreparedStatement {
            kind: StatementKind::of(text),
            params: sql::question_marks(text),
        };
        self.statements.push(Some(prepared));
        let id = self.statements.len() as u32;
        let columns = u16::from(prepared.kind.has_rows());
        packet(to.out, &mut sequence, |out| {
            out.push(0);
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&columns.to_le_bytes());
            out.extend_from_slice(&prepared.params.to_le_bytes());
            out.extend_from_slice(&[0, 0, 0]);
        });
        for _ in 0..prepared.params {
            column(to.out, &mut sequence, "?");
        }
        if prepared.params > 0 && !self.deprecate_eof {
            self.end(to.out, &mut sequence);
        }
        if columns > 0 {
            column(to.out, &mut sequence, "c");
            if !self.deprecate_eof {
                self.end(to.out, &mut sequence);
            }
        }
    }

    /// Answers "COM_STMT_EXECUTE"; values are not looked at.
    fn execute(&mut self, body: &[u8], mut sequence: u8, to: Exchange<'_>) {
        let found = id_of(body).and_then(|id| self.statements.get(id));
        let Some(Some(PreparedStatement { kind, .. })) = found.copied() else {
            let why = "Unknown prepared statement handler given to EXECUTE";
            return error(to.out, sequence, 1243, "HY000", why);
        };
        self.in_transaction = kind.transaction_after(self.in_transaction);
        if !kind.has_rows() {
            return self.ok(to.out, &mut sequence, kind.affected());
        }
        self.begin_rows(to.out, &mut sequence, &["c"]);
        packet(to.out, &mut sequence, |out| {
            // A row in binary form: its mark, and no NULL.
            out.extend_from_slice(&[0, 0]);
            text(out, C.as_bytes());
        });
        self.end(to.out, &mut sequence);
    }

    /// Answers "COM_QUERY".
    fn query(&mut self, body: &[u8], mut sequence: u8, to: &mut Exchange<'_>) {
        let kind = StatementKind::of(body);
        self.in_transaction = kind.transaction_after(self.in_transaction);
        let found = match kind {
            StatementKind::Show => Some(catalog::show()),
            StatementKind::Select => catalog::answer(&String::from_utf8_lossy(body), to.config),
            _ => return self.ok(to.out, &mut sequence, kind.affected()),
        };
        match found {
            Some(found) => self.rows(&found, &mut sequence, to.out),
            None => {
                self.begin_rows(to.out, &mut sequence, &["c"]);
                packet(to.out, &mut sequence, |out| text(out, C.as_bytes()));
                self.end(to.out, &mut sequence);
            }
        }
    }

    /// Rows in text form ("Text Resultset").
    fn rows(&self, found: &TextResult, sequence: &mut u8, out: &mut Vec<u8>) {
        self.begin_rows(out, sequence, found.columns);
        for row in &found.rows {
            packet(out, sequence, |out| {
                for cell in row {
                    match cell {
                        Some(cell) => text(out, cell.as_bytes()),
                        None => out.push(0xFB),
                    }
                }
            });
        }
        self.end(out, sequence);
    }

    fn begin_rows(&self, out: &mut Vec<u8>, sequence: &mut u8, columns: &[&str]) {
        packet(out, sequence, |out| out.push(columns.len() as u8));
        for name in columns {
            column(out, sequence, name);
        }
        if !self.deprecate_eof {
            self.end(out, sequence);
        }
    }

    fn status(&self) -> [u8; 2] {
        let transaction = if self.in_transaction {
            IN_TRANSACTION
        } else {
            0
        };
        (AUTOCOMMIT | transaction).to_le_bytes()
    }

    /// "OK_Packet".
    fn ok(&self, out: &mut Vec<u8>, sequence: &mut u8, affected: u8) {
        packet(out, sequence, |out| {
            out.extend_from_slice(&[0, affected, 0]);
            out.extend_from_slice(&self.status());
            out.extend_from_slice(&[0, 0]);
        });
    }

    /// What ends a list: "EOF_Packet", or the OK packet in its place.
    fn end(&self, out: &mut Vec<u8>, sequence: &mut u8) {
        packet(out, sequence, |out| {
            out.push(0xFE);
            // Affected rows and the last generated key; or the number of warnings.
            out.extend_from_slice(&[0, 0]);
            out.extend_from_slice(&self.status());
            if self.deprecate_eof {
                out.extend_from_slice(&[0, 0]);
            }
        });
    }
}

// Commands.
const COM_QUIT: u8 = 0x01;
const COM_INIT_DB: u8 = 0x02;
const COM_QUERY: u8 = 0x03;
const COM_PING: u8 = 0x0E;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_SEND_LONG_DATA: u8 = 0x18;
const COM_STMT_CLOSE: u8 = 0x19;
const COM_STMT_RESET: u8 = 0x1A;
const COM_SET_OPTION: u8 = 0x1B;
const COM_RESET_CONNECTION: u8 = 0x1F;

/// The place of the statement whose id a command begins with.
fn id_of(body: &[u8]) -> Option<usize> {
    let id = u32::from_le_bytes(*body.first_chunk()?);
    (id as usize).checked_sub(1)
}

fn packet(out: &mut Vec<u8>, sequence: &mut u8, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; HEADER]);
    write(out);
    let [a, b, c, ..] = ((out.len() - at - HEADER) as u32).to_le_bytes();
    if let Some(header) = out.get_mut(at..at + HEADER) {
        header.copy_from_slice(&[a, b, c, *sequence]);
    }
    *sequence = sequence.wrapping_add(1);
}

/// A length-encoded text; ours have less than 64 KiB.
fn text(out: &mut Vec<u8>, bytes: &[u8]) {
    match bytes.len() {
        len @ 0..=0xFA => out.push(len as u8),
        len => {
            out.push(0xFC);
            out.extend_from_slice(&(len as u16).to_le_bytes());
        }
    }
    out.extend_from_slice(bytes);
}

/// "Protocol::ColumnDefinition41" of a text.
fn column(out: &mut Vec<u8>, sequence: &mut u8, name: &str) {
    packet(out, sequence, |out| {
        // Catalogue; schema, table and the table's own name.
        out.extend_from_slice(b"\x03def\0\0\0");
        text(out, name.as_bytes());
        // The column's own name; how much follows; character set.
        out.extend_from_slice(&[0, 0x0C, UTF8MB4, 0]);
        out.extend_from_slice(&1024u32.to_le_bytes());
        // Type, flags, decimals, filler.
        out.extend_from_slice(&[VAR_STRING, 0, 0, 0, 0, 0]);
    });
}

/// "ERR_Packet".
fn error(out: &mut Vec<u8>, mut sequence: u8, number: u16, state: &str, message: &str) {
    packet(out, &mut sequence, |out| {
        out.push(0xFF);
        out.extend_from_slice(&number.to_le_bytes());
        out.push(b'#');
        out.extend_from_slice(state.as_bytes());
        out.extend_from_slice(message.as_bytes());
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LabConfig;
    use crate::wire::Done;
    use proptest::prelude::*;

    fn step(session: &mut Mysql, bytes: &[u8]) -> (RequestStep, Vec<u8>, Done) {
        let (mut out, mut done) = (Vec::new(), Done::default());
        let to = Exchange {
            config: &LabConfig::default(),
            out: &mut out,
            done: &mut done,
        };
        (session.step(bytes, to), out, done)
    }

    fn framed(command: u8, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        packet(&mut out, &mut 0, |out| {
            out.push(command);
            out.extend_from_slice(body);
        });
        out
    }

    fn ready() -> Mysql {
        Mysql {
            ready: true,
            ..Mysql::default()
        }
    }

    /// First byte of each packet of a reply, whose numbers must follow the request's.
    fn first_bytes(reply: &[u8]) -> Vec<u8> {
        let (mut rest, mut found) = (reply, Vec::new());
        while let Some((&[a, b, c, sequence], after)) = rest.split_first_chunk::<HEADER>() {
            assert_eq!(usize::from(sequence), found.len() + 1);
            let (payload, after) = after.split_at(u32::from_le_bytes([a, b, c, 0]) as usize);
            found.push(payload[0]);
            rest = after;
        }
        found
    }

    #[test]
    fn clients_without_deprecate_eof_get_their_eof_packets() {
        for (deprecate_eof, prepared, executed) in [
            (false, vec![0, 3, 0xFE, 3, 0xFE], vec![1, 3, 0xFE, 0, 0xFE]),
            (true, vec![0, 3, 3], vec![1, 3, 0, 0xFE]),
        ] {
            let mut session = Mysql {
                deprecate_eof,
                ..ready()
            };
            let prepare = framed(COM_STMT_PREPARE, b"SELECT c FROM t WHERE id=?");
            assert_eq!(first_bytes(&step(&mut session, &prepare).1), prepared);
            let execute = framed(COM_STMT_EXECUTE, &[1, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
            let (step, reply, done) = step(&mut session, &execute);
            assert_eq!(first_bytes(&reply), executed);
            assert_eq!(
                (step, done.executed),
                (RequestStep::Answer(execute.len()), 1)
            );
        }
    }

    #[test]
    fn a_closed_or_unknown_statement_is_an_error() {
        let mut session = ready();
        step(&mut session, &framed(COM_STMT_PREPARE, b"COMMIT"));
        let close = framed(COM_STMT_CLOSE, &[1, 0, 0, 0]);
        let (closed, reply, _) = step(&mut session, &close);
        assert_eq!((closed, reply.len()), (RequestStep::Taken(close.len()), 0));
        for id in [0, 1, 2, 255] {
            let execute = framed(COM_STMT_EXECUTE, &[id, 0, 0, 0, 0]);
            assert_eq!(first_bytes(&step(&mut session, &execute).1), [0xFF]);
        }
    }

    #[test]
    fn transactions_show_in_the_status() {
        let mut session = ready();
        for (sql, open) in [("BEGIN", 1), ("UPDATE t SET a=1", 1), ("COMMIT", 0)] {
            let (_, reply, _) = step(&mut session, &framed(COM_QUERY, sql.as_bytes()));
            assert_eq!(u16::from(reply[7]) & IN_TRANSACTION, open, "{sql}");
        }
    }

    proptest! {
        #[test]
        fn any_request_is_answered_or_refused(
            command in any::<u8>(),
            body in prop::collection::vec(any::<u8>(), 0..60),
            logged_in in any::<bool>(),
        ) {
            let mut session = Mysql { ready: logged_in, ..Mysql::default() };
            let bytes = framed(command, &body);
            for len in 0..bytes.len() {
                prop_assert_eq!(step(&mut session, &bytes[..len]).0, RequestStep::Incomplete);
            }
            if let RequestStep::Answer(n) | RequestStep::Taken(n) = step(&mut session, &bytes).0 {
                prop_assert_eq!(n, bytes.len());
            }
        }

        #[test]
        fn of_any_bytes_a_whole_packet_is_taken(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            if let RequestStep::Answer(n) | RequestStep::Taken(n) = step(&mut ready(), &bytes).0 {
                prop_assert!((HEADER..=bytes.len()).contains(&n));
            }
        }
    }
}
