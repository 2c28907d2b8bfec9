//! Flags of YugabyteDB's servers, as their web servers list them (`/api/v1/varz`).

use super::access::EndpointAccess;
use super::http::{Unread, reply};
use super::url::Url;
use serde_json::Value;
use std::thread;
use std::time::Duration;

/// So long each server has to answer; all are asked at once.
const LONGEST: Duration = Duration::from_millis(500);
/// So many servers are asked.
const MOST_SERVERS: usize = 64;
/// The type of flags that somebody set. Others are at their default, say where the node is, or were promoted
/// by an upgrade.
const SET: &str = "Custom";

/// One server's web server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FlagServer {
    /// What it is, as `YB-TServer`.
    pub component: &'static str,
    /// Its host.
    pub host: String,
    /// Its web server's port.
    pub port: u16,
}

/// The flags that somebody set on one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerFlags {
    /// What it is.
    pub component: &'static str,
    /// Its host and port.
    pub instance: String,
    /// Names and values.
    pub flags: Vec<(String, String)>,
}

/// What these servers answer; who does not answer in time is left out.
pub(crate) fn set_flags(servers: &[FlagServer], access: &EndpointAccess) -> Vec<ServerFlags> {
    // Their addresses are the database's word: they learn no sign-in.
    let access = &access.without_sign_in();
    let asked = servers.iter().take(MOST_SERVERS);
    thread::scope(|scope| {
        let asked: Vec<_> = asked
            .map(|server| scope.spawn(move || flags_of(server, access)))
            .collect();
        let answered = asked.into_iter().filter_map(|one| one.join().ok());
        answered.flatten().collect()
    })
}

fn flags_of(server: &FlagServer, access: &EndpointAccess) -> Option<ServerFlags> {
    let host = match server.host.contains(':') {
        true => format!("[{}]", server.host),
        false => server.host.clone(),
    };
    let text = format!("http://{host}:{}/api/v1/varz", server.port);
    let url = Url::parse(&text, server.port).ok()?.with(access);
    let answer = match reply(&url, LONGEST) {
        Err(Unread::Tls(_)) => reply(&url.with_tls(), LONGEST),
        answered => answered,
    };
    let (status, body) = answer.ok()?;
    (status == "200").then_some(())?;
    Some(ServerFlags {
        component: server.component,
        instance: url.address().into(),
        flags: read(&body)?,
    })
}

/// `{"flags": [{"name": …, "value": …, "type": "Custom"}, …]}`; `None` of anything else.
fn read(body: &[u8]) -> Option<Vec<(String, String)>> {
    let document: Value = serde_json::from_slice(body).ok()?;
    let all = document.get("flags")?.as_array()?;
    let of = |flag: &Value, key: &str| flag.get(key)?.as_str().map(String::from);
    let set = all
        .iter()
        .filter(|flag| of(flag, "type").is_some_and(|kind| kind == SET))
        .filter_map(|flag| Some((of(flag, "name")?, of(flag, "value")?)));
    Some(set.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// Built from the documentation: the database is not at hand.
    const BODY: &str = r#"{"flags":[{"name":"ysql_num_shards_per_tserver","value":"2","type":"Custom"},{"name":"rpc_bind_addresses","value":"10.0.0.1","type":"NodeInfo"},{"name":"memory_limit_hard_bytes","value":"0","type":"Default"},{"name":"yb_enable_read_committed_isolation","value":"true","type":"Auto"},{"name":"ysql_hba_conf_csv","value":"host all all ldap ldapbindpasswd=x","type":"Custom"}]}"#;

    fn serving(status: &'static str, body: &'static str) -> FlagServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let mut asked = [0; 1024];
            let read = socket.read(&mut asked).unwrap();
            assert!(asked[..read].starts_with(b"GET /api/v1/varz "));
            let length = body.len();
            write!(
                socket,
                "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n\r\n{body}"
            )
            .unwrap();
        });
        FlagServer {
            component: "YB-TServer",
            host: "127.0.0.1".into(),
            port,
        }
    }

    #[test]
    fn flags_that_somebody_set_are_read_of_who_answers() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let silent = FlagServer {
            component: "YB-Master",
            host: "127.0.0.1".into(),
            port: silent.local_addr().unwrap().port(),
        };
        let servers = [
            serving("200", BODY),
            serving("404", BODY),
            serving("200", "<html>"),
            silent,
        ];
        let told = set_flags(&servers, &EndpointAccess::default());
        assert_eq!(told.len(), 1, "{told:?}");
        let names: Vec<&str> = told[0]
            .flags
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(names, ["ysql_num_shards_per_tserver", "ysql_hba_conf_csv"]);
        assert_eq!(told[0].instance, format!("127.0.0.1:{}", servers[0].port));
    }

    proptest! {
        #[test]
        fn any_body_is_read(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _either = read(&body);
        }
    }
}
