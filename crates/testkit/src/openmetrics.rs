//! A strict reader of OpenMetrics text (specification 1.0, "Text Format"), for tests of what is
//! served: whatever a scraper might stumble over is an error.

use std::collections::{BTreeMap, BTreeSet};

/// Labels of a sample.
pub type Labels = BTreeMap<String, String>;

/// What a page says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exposition {
    /// Type of each family, by name.
    pub families: BTreeMap<String, String>,
    /// Values, by the sample's name and its labels.
    pub samples: BTreeMap<(String, Labels), f64>,
}

/// Suffixes that samples of a type have.
fn suffixes(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "counter" => &["_total"],
        "gauge" => &[""],
        "histogram" => &["_bucket", "_count", "_sum"],
        "info" => &["_info"],
        _ => return None,
    })
}

fn is_name(text: &str, more: &str) -> bool {
    let mut letters = text.chars();
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || more.contains(c);
    letters.next().is_some_and(first) && letters.all(|c| first(c) || c.is_ascii_digit())
}

impl Exposition {
    /// Reads a page.
    ///
    /// # Errors
    /// The line that is wrong, and why.
    pub fn read(text: &str) -> Result<Self, String> {
        let body = text
            .strip_suffix("# EOF\n")
            .ok_or("the page does not end with # EOF and a line feed")?;
        let mut page = Self::default();
        let mut family = String::new();
        let mut described = BTreeSet::new();
        for line in body.lines() {
            let wrong = |why: &str| format!("{why}: {line}");
            if let Some(rest) = line.strip_prefix("# ") {
                let (what, rest) = rest.split_once(' ').ok_or(wrong("no description"))?;
                let (name, said) = rest.split_once(' ').ok_or(wrong("no words"))?;
                if !is_name(name, ":") {
                    return Err(wrong("not a name"));
                }
                if !described.insert((what.to_string(), name.to_string())) {
                    return Err(wrong("said twice, or families are interleaved"));
                }
                match what {
                    "HELP" if page.families.contains_key(name) => {
                        return Err(wrong("help after the type"));
                    }
                    "HELP" => {}
                    "TYPE" => {
                        suffixes(said).ok_or(wrong("unknown type"))?;
                        page.families.insert(name.into(), said.into());
                        family = name.into();
                    }
                    "UNIT" if name != family || !name.ends_with(&format!("_{said}")) => {
                        return Err(wrong("not the unit of this family"));
                    }
                    "UNIT" => {}
                    _ => return Err(wrong("neither HELP, TYPE nor UNIT")),
                }
                continue;
            }
            let (name, labels, value) = sample(line)?;
            let kind = page.families.get(&family).ok_or(wrong("of no family"))?;
            let suffix = name
                .strip_prefix(&family)
                .ok_or(wrong("of another family"))?;
            if !suffixes(kind).unwrap_or_default().contains(&suffix) {
                return Err(wrong("not a suffix of this type"));
            }
            if kind != "gauge" && !(value.is_finite() && value >= 0.0) {
                return Err(wrong("not a count"));
            }
            if page.samples.insert((name, labels), value).is_some() {
                return Err(wrong("there twice"));
            }
        }
        page.judge_histograms()?;
        Ok(page)
    }

    /// The value of the sample with exactly these labels.
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels = labels.iter().map(|(k, v)| (k.to_string(), v.to_string()));
        self.samples.get(&(name.into(), labels.collect())).copied()
    }

    /// Samples of a name, with their labels.
    pub fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a Labels, f64)> {
        let all = self.samples.iter().filter(move |((n, _), _)| n == name);
        all.map(|((_, labels), value)| (labels, *value))
    }

    /// Cumulative buckets of a histogram: upper bound, and how many are not above it.
    pub fn buckets(&self, family: &str, labels: &Labels) -> Vec<(f64, f64)> {
        let name = format!("{family}_bucket");
        let mut buckets: Vec<(f64, f64)> = self
            .of(&name)
            .filter_map(|(l, count)| {
                let mut l = l.clone();
                let bound = l.remove("le")?;
                (l == *labels).then_some((number(&bound)?, count))
            })
            .collect();
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        buckets
    }

    fn judge_histograms(&self) -> Result<(), String> {
        for (family, _) in self
            .families
            .iter()
            .filter(|(_, kind)| *kind == "histogram")
        {
            for (labels, count) in self.of(&format!("{family}_count")) {
                let buckets = self.buckets(family, labels);
                let rises = buckets.windows(2).all(|w| match w {
                    [a, b] => a.0 < b.0 && a.1 <= b.1,
                    _ => true,
                });
                let (last, all) = buckets.last().copied().unwrap_or_default();
                if !rises || last != f64::INFINITY || all != count {
                    return Err(format!(
                        "{family} {labels:?}: buckets {buckets:?}, count {count}"
                    ));
                }
                let sum = (format!("{family}_sum"), labels.clone());
                if !self.samples.contains_key(&sum) {
                    return Err(format!("{family} {labels:?}: no sum"));
                }
            }
        }
        Ok(())
    }
}

fn number(text: &str) -> Option<f64> {
    match text {
        "+Inf" => Some(f64::INFINITY),
        "inf" | "-inf" | "infinity" | "nan" => None,
        _ => text.parse().ok(),
    }
}

/// `name{label="value",…} 1.5`.
fn sample(line: &str) -> Result<(String, Labels, f64), String> {
    let wrong = |why: &str| format!("{why}: {line}");
    let end = line.find(['{', ' ']).ok_or(wrong("no value"))?;
    let (name, mut rest) = line.split_at(end);
    if !is_name(name, ":") {
        return Err(wrong("not a name"));
    }
    let mut labels = Labels::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            if let Some(after) = rest.strip_prefix('}') {
                rest = after;
                break;
            }
            if !labels.is_empty() {
                rest = rest.strip_prefix(',').ok_or(wrong("no comma"))?;
            }
            let (label, after) = rest.split_once("=\"").ok_or(wrong("no label"))?;
            if !is_name(label, "") {
                return Err(wrong("not a label"));
            }
            let (value, after) = quoted(after).ok_or(wrong("an open quote"))?;
            if labels.insert(label.into(), value).is_some() {
                return Err(wrong("a label twice"));
            }
            rest = after;
        }
    }
    let value = rest.strip_prefix(' ').and_then(number);
    Ok((name.into(), labels, value.ok_or(wrong("no value"))?))
}

/// What stands before the closing quote, unescaped, and what comes after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, text.get(at + 1..)?)),
            '\\' => value.push(match letters.next()?.1 {
                'n' => '\n',
                other @ ('\\' | '"') => other,
                _ => return None,
            }),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read() {
        let page = Exposition::read(
            "# HELP a_seconds Time.\n# TYPE a_seconds counter\n# UNIT a_seconds seconds\n\
             a_seconds_total{x=\"\\\"q\\\\\\n}\"} 1.5\n# TYPE h histogram\nh_sum 3\nh_count 2\n\
             h_bucket{le=\"0.1\"} 1\nh_bucket{le=\"+Inf\"} 2\n# EOF\n",
        )
        .unwrap();
        assert_eq!(
            page.value("a_seconds_total", &[("x", "\"q\\\n}")]),
            Some(1.5)
        );
        let buckets = page.buckets("h", &Labels::new());
        assert_eq!(buckets, [(0.1, 1.0), (f64::INFINITY, 2.0)]);
    }

    #[test]
    fn what_a_scraper_would_stumble_over_is_an_error() {
        let counter = "# TYPE a counter\n";
        for (text, why) in [
            ("a 1\n", "# EOF"),
            ("# TYPE a counter\na_total 1\n# EOF\n\n", "# EOF"),
            ("a 1\n# EOF\n", "of no family"),
            (&format!("{counter}a 1\n# EOF\n"), "not a suffix"),
            (&format!("{counter}a_total -1\n# EOF\n"), "not a count"),
            (
                &format!("{counter}a_total 1\na_total 2\n# EOF\n"),
                "there twice",
            ),
            (
                &format!("{counter}a_total{{b=\"x}} 1\n# EOF\n"),
                "an open quote",
            ),
            (
                &format!("{counter}a_total{{b=\"\",b=\"\"}} 1\n# EOF\n"),
                "a label twice",
            ),
            (&format!("{counter}\n# EOF\n"), "no value"),
            (
                &format!("{counter}# TYPE b gauge\nb 1\na_total 1\n# EOF\n"),
                "of another family",
            ),
            (&format!("{counter}{counter}# EOF\n"), "said twice"),
            ("# TYPE a summary\n# EOF\n", "unknown type"),
            ("# TYPE a gauge\n# UNIT a seconds\n# EOF\n", "not the unit"),
            (
                "# TYPE h histogram\nh_sum 1\nh_count 1\nh_bucket{le=\"1\"} 1\n# EOF\n",
                "buckets",
            ),
        ] {
            let error = Exposition::read(text).unwrap_err();
            assert!(error.contains(why), "{text:?}: {error}");
        }
    }
}
