//! Prometheus' HTTP API ("HTTP API", `/api/v1/query` and `/api/v1/query_range`).

use super::super::super::access::EndpointAccess;
use super::super::super::http::{Unread, refused, reply};
use super::super::super::url::Url;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Its port unless it was changed.
const PORT: u16 = 9090;
/// Where its API is, below the path that a proxy may put before it.
const API: &str = "/api/v1";
/// So many characters of its own words are shown.
const MOST_SAID: usize = 200;

/// A series of an answer: its labels, and times in seconds with values that are numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Vector {
    pub labels: BTreeMap<String, String>,
    pub points: Vec<(f64, f64)>,
}

/// An answer, and what it warns of: parts that are missing.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ApiAnswer {
    pub vectors: Vec<Vector>,
    pub warning: Option<String>,
}

/// A Prometheus.
#[derive(Debug, Clone)]
pub(super) struct Api {
    url: Url,
    below: String,
}

impl Api {
    /// At a URL, with or without the API's path.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn at(text: &str, access: &EndpointAccess) -> Result<Self, String> {
        // What has TLS stands behind a proxy, as a rule.
        let port = if text.starts_with("https://") {
            443
        } else {
            PORT
        };
        let url = Url::parse(text, port).map_err(|why| {
            let wrong = format!("http://db1:{port}/metrics");
            why.replace(&wrong, &format!("http://prometheus:{PORT}"))
        })?;
        let has_path = text
            .split_once("://")
            .is_some_and(|(_, rest)| rest.contains('/'));
        let path = url.path().split('?').next().unwrap_or_default();
        let path = path.trim_end_matches('/');
        let path = path.strip_suffix(API).unwrap_or(path);
        let below = match has_path && path != "/metrics" {
            true => path.to_string(),
            false => String::new(),
        };
        Ok(Self {
            url: url.with(access),
            below,
        })
    }

    /// Its host and port.
    pub fn address(&self) -> &str {
        self.url.address()
    }

    /// The server's own time, in seconds since 1970.
    ///
    /// # Errors
    /// Why it has no answer, for people.
    pub fn time(&self, longest: Duration) -> Result<f64, String> {
        let url = self.asking("query", &[("query", "time()".into())]);
        let data = self.data(&url, longest)?.0;
        let time = data
            .get("result")
            .and_then(|pair| pair.get(1))
            .and_then(number);
        time.ok_or_else(|| self.odd())
    }

    /// Values of this moment.
    ///
    /// # Errors
    /// As [`Api::time`].
    pub fn now(&self, query: &str, longest: Duration) -> Result<ApiAnswer, String> {
        let url = self.asking("query", &[("query", query.into())]);
        self.answer(&url, longest)
    }

    /// Values from one time to another, in seconds since 1970.
    ///
    /// # Errors
    /// As [`Api::time`].
    pub fn range(
        &self,
        query: &str,
        (from, to, step): (f64, f64, f64),
        longest: Duration,
    ) -> Result<ApiAnswer, String> {
        let parameters = [
            ("query", query.to_string()),
            ("start", format!("{from:.3}")),
            ("end", format!("{to:.3}")),
            ("step", format!("{step:.3}")),
        ];
        self.answer(&self.asking("query_range", &parameters), longest)
    }

    fn asking(&self, what: &str, parameters: &[(&str, String)]) -> Url {
        let parameters: Vec<String> = parameters
            .iter()
            .map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)))
            .collect();
        self.url.at(format!(
            "{}{API}/{what}?{}",
            self.below,
            parameters.join("&")
        ))
    }

    fn odd(&self) -> String {
        format!("{}: the reply is not from a Prometheus", self.url.address())
    }

    fn answer(&self, url: &Url, longest: Duration) -> Result<ApiAnswer, String> {
        let (data, warning) = self.data(url, longest)?;
        let series = data.get("result").and_then(Value::as_array);
        let series = series.ok_or_else(|| self.odd())?;
        let vectors = series.iter().filter_map(vector).collect();
        Ok(ApiAnswer { vectors, warning })
    }

    /// The `data` of a good answer, and its first warning.
    fn data(&self, url: &Url, longest: Duration) -> Result<(Value, Option<String>), String> {
        let (status, body) = reply(url, longest).map_err(|why| match why {
            Unread::Tls(address) => format!("{address}: TLS is required; use https://"),
            Unread::Said(why) => match why.starts_with(url.address()) {
                true => why,
                false => format!("{}: {why}", url.address()),
            },
        })?;
        let mut answer: Value = serde_json::from_slice(&body).unwrap_or_default();
        let text = |of: &Value| of.as_str().map(shortened);
        let is_good = answer.get("status").and_then(Value::as_str) == Some("success");
        if status != "200" || !is_good {
            let own = answer.get("error").and_then(text);
            return Err(match (status.as_str(), own) {
                ("200", None) => self.odd(),
                ("200", Some(own)) => format!("{}: {own}", url.address()),
                ("404", None) => format!(
                    "{}: HTTP status 404: there is no Prometheus at {}/",
                    url.address(),
                    self.below
                ),
                (status, None) => refused(url, status),
                (status, Some(own)) => format!("{}: {own}", refused(url, status)),
            });
        }
        let warnings = answer.get("warnings").and_then(Value::as_array);
        let warning = warnings.and_then(|all| all.first()).and_then(text);
        let warning = warning.map(|said| format!("{}: partial reply: {said}", url.address()));
        let data = answer.get_mut("data").map(Value::take);
        Ok((data.ok_or_else(|| self.odd())?, warning))
    }
}

/// What a server says, fit for a line.
fn shortened(text: &str) -> String {
    let plain = text.chars().filter(|c| !c.is_control());
    plain.take(MOST_SAID).collect()
}

/// A series of a matrix or of a vector.
fn vector(of: &Value) -> Option<Vector> {
    let labels = of.get("metric")?.as_object()?;
    let labels = labels
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_string())));
    let point = |pair: &Value| Some((pair.get(0)?.as_f64()?, number(pair.get(1)?)?));
    let points = match (of.get("values"), of.get("value")) {
        (Some(values), _) => values.as_array()?.iter().filter_map(point).collect(),
        (None, Some(value)) => point(value).into_iter().collect(),
        (None, None) => return None,
    };
    Some(Vector {
        labels: labels.collect(),
        points,
    })
}

/// Numbers are texts there. Those that are none are left out.
fn number(of: &Value) -> Option<f64> {
    let number: f64 = of.as_str()?.parse().ok()?;
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_a_path_before_the_api_or_not() {
        for (text, path) in [
            ("http://p", "/api/v1/query?query=time%28%29"),
            ("http://p:9090/", "/api/v1/query?query=time%28%29"),
            ("https://p/prom/", "/prom/api/v1/query?query=time%28%29"),
            (
                "http://p/prom/api/v1",
                "/prom/api/v1/query?query=time%28%29",
            ),
        ] {
            let api = Api::at(text, &EndpointAccess::default()).unwrap();
            let url = api.asking("query", &[("query", "time()".into())]);
            assert_eq!(url.path(), path, "{text}");
        }
        let said = Api::at("p:9090", &EndpointAccess::default()).unwrap_err();
        assert!(
            said.contains("for example http://prometheus:9090"),
            "{said}"
        );
    }

    #[test]
    fn series_are_read_and_what_is_no_number_left_out() {
        let of = |text: &str| vector(&serde_json::from_str(text).unwrap());
        let read = of(
            r#"{"metric":{"instance":"a:1"},"values":[[10.5,"1"],[20.5,"NaN"],[30.5,"+Inf"],[40,"2e3"]]}"#,
        );
        let read = read.unwrap();
        assert_eq!(read.labels["instance"], "a:1");
        assert_eq!(read.points, [(10.5, 1.0), (40.0, 2000.0)]);
        assert_eq!(
            of(r#"{"metric":{},"value":[1,"7"]}"#).unwrap().points,
            [(1.0, 7.0)]
        );
        assert_eq!(of(r#"{"metric":{}}"#), None);
        assert_eq!(of(r#"{"value":[1,"7"]}"#), None);
    }
}
