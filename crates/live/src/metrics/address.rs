//! Where figures are served.

use super::MetricsError;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;

/// An address to listen at. A port alone, as `9090` or `:9090`, is one of the loopback address: who
/// wants others to read names the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricsAddress(pub(super) SocketAddr);

impl FromStr for MetricsAddress {
    type Err = MetricsError;

    fn from_str(text: &str) -> Result<Self, MetricsError> {
        let wrong = || MetricsError::Address(text.into());
        let port = text.strip_prefix(':').unwrap_or(text);
        if let Ok(port) = port.parse::<u16>() {
            let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
            return Ok(Self(SocketAddr::new(loopback, port)));
        }
        if let Ok(address) = text.parse() {
            return Ok(Self(address));
        }
        // A name, as `localhost:9090`.
        let mut found = text.to_socket_addrs().map_err(|_| wrong())?;
        found.next().map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for MetricsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_for_this_machine_alone() {
        for (text, address) in [
            ("9090", "127.0.0.1:9090"),
            (":9090", "127.0.0.1:9090"),
            ("0", "127.0.0.1:0"),
            ("0.0.0.0:9090", "0.0.0.0:9090"),
            ("10.1.2.3:80", "10.1.2.3:80"),
            ("[::1]:9090", "[::1]:9090"),
        ] {
            let parsed: MetricsAddress = text.parse().unwrap();
            assert_eq!(parsed.to_string(), address, "{text}");
        }
        let named: MetricsAddress = "localhost:9090".parse().unwrap();
        assert!(named.0.ip().is_loopback());
    }

    #[test]
    fn what_is_no_address_is_told_with_one_that_is() {
        for text in [
            "",
            ":",
            "70000",
            "-1",
            "0.0.0.0",
            "http://localhost:9090",
            "a b:1",
        ] {
            let message = text.parse::<MetricsAddress>().unwrap_err().to_string();
            assert!(
                message.starts_with(&format!("{text}: must be a port")),
                "{message}"
            );
            assert!(message.contains("for example 9090"), "{message}");
        }
    }
}
