//! Addresses of endpoints.

use super::access::EndpointAccess;
use tidemark_core::redact_url;

/// An address of `http://host:port/path` or `https://…`, and how it is reached.
#[derive(Debug, Clone)]
pub(super) struct Url {
    is_tls: bool,
    authority: String,
    address: String,
    path: String,
    access: EndpointAccess,
}

impl Url {
    /// Reads one; without a path it is `/metrics`.
    ///
    /// # Errors
    /// What is wrong, for people.
    pub fn parse(text: &str, port: u16) -> Result<Self, String> {
        let shown = redact_url(text);
        let wrong = |why: &str| format!("{shown}: {why}; for example http://db1:{port}/metrics");
        let (is_tls, rest) = match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
            (Some(rest), _) => (false, rest),
            (None, Some(rest)) => (true, rest),
            (None, None) => return Err(wrong("must begin with http:// or https://")),
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, "/metrics"),
        };
        if authority.contains('@') {
            return Err(wrong(
                "an account belongs in TIDEMARK_OBSERVE_USER and TIDEMARK_OBSERVE_PASSWORD",
            ));
        }
        if authority.is_empty() || text.contains(char::is_whitespace) {
            return Err(wrong("invalid host"));
        }
        let has_port = authority
            .rsplit_once(':')
            .is_some_and(|(_, p)| p.parse::<u16>().is_ok());
        Ok(Self {
            is_tls,
            access: EndpointAccess::default(),
            authority: authority.into(),
            address: match has_port {
                true => authority.into(),
                false => format!("{authority}:{port}"),
            },
            path: if path == "/" { "/metrics" } else { path }.into(),
        })
    }

    /// The same, reached with these certificates, and signed in there.
    pub fn with(mut self, access: &EndpointAccess) -> Self {
        self.access = access.clone();
        self
    }

    /// The same with TLS.
    pub fn with_tls(&self) -> Self {
        Self {
            is_tls: true,
            ..self.clone()
        }
    }

    /// Whether it is reached through TLS.
    pub fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// The same with another path and query.
    pub fn at(&self, path: String) -> Self {
        Self {
            path,
            ..self.clone()
        }
    }

    /// The host alone, as a certificate names it.
    pub fn host(&self) -> &str {
        let host = self.address.rsplit_once(':').map_or("", |(host, _)| host);
        host.trim_matches(['[', ']'])
    }

    /// The host, with a port where the text had one.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// How it is reached.
    pub fn access(&self) -> &EndpointAccess {
        &self.access
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The path, with a query where there is one.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The same with a query, unless it has one.
    pub fn asking(&self, query: &str) -> Self {
        let mut url = self.clone();
        if !url.path.contains('?') {
            url.path = format!("{}?{query}", url.path);
        }
        url
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read() {
        let url = Url::parse("http://db1", 9100).unwrap();
        assert_eq!(
            (url.address.as_str(), url.path.as_str()),
            ("db1:9100", "/metrics")
        );
        let url = Url::parse("http://[::1]:91/x/metrics", 9100).unwrap();
        assert_eq!(
            (url.address.as_str(), url.path.as_str()),
            ("[::1]:91", "/x/metrics")
        );
        assert_eq!(url.asking("a=1").path, "/x/metrics?a=1");
        assert_eq!(url.asking("a=1").asking("b=2").path, "/x/metrics?a=1");
        for wrong in ["ftp://db1", "db1:9100", "http://", "http://u:p@db1/"] {
            let said = Url::parse(wrong, 9100).unwrap_err();
            assert!(
                said.contains("for example http://db1:9100/metrics"),
                "{said}"
            );
        }
    }
}
