//! Figures by reference: `{{tps workload=oltp_read_only threads=64}}`.

use super::{AuthoredError, Resolve};

/// What an author refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reference {
    /// `tps`, `p95`, …
    pub metric: String,
    /// What the result is to have: names and values.
    pub of: Vec<(String, String)>,
}

/// A section's text, or its heading.
#[derive(Clone, Copy)]
pub(super) struct SectionText<'t> {
    pub text: &'t str,
    /// Its first line in the file.
    pub line: usize,
    /// Whether a figure that there is not is a dash.
    pub lenient: bool,
}

impl SectionText<'_> {
    /// With its references resolved. `\\{{` stands for itself.
    ///
    /// # Errors
    /// [`AuthoredError`] for one that has no end, no metric, or nothing that it stands for.
    pub fn resolved(self, resolve: Resolve<'_>) -> Result<String, AuthoredError> {
        resolved(self, resolve)
    }
}

fn resolved(section: SectionText<'_>, resolve: Resolve<'_>) -> Result<String, AuthoredError> {
    let mut out = String::with_capacity(section.text.len());
    let mut rest = section.text;
    let mut line = section.line;
    while let Some((before, after)) = rest.split_once("{{") {
        line += before.matches('\n').count();
        if let Some(before) = before.strip_suffix('\\') {
            out += before;
            out += "{{";
            rest = after;
            continue;
        }
        out += before;
        let error = |why: String| AuthoredError { line, why };
        let inside = after
            .split_once("}}")
            .filter(|(inside, _)| !inside.contains('\n'));
        let Some((inside, behind)) = inside else {
            return Err(error(
                "{{ has no }} on its line; for example {{tps threads=64}}".into(),
            ));
        };
        let reference = Reference::read(inside).map_err(error)?;
        match resolve(&reference) {
            Ok(figure) => out += &figure,
            Err(_) if section.lenient => out += "–",
            Err(why) => return Err(error(format!("{{{{{}}}}}: {why}", inside.trim()))),
        }
        rest = behind;
    }
    out += rest;
    Ok(out)
}

impl Reference {
    fn read(text: &str) -> Result<Self, String> {
        let example = "for example {{tps workload=oltp_read_only threads=64}}";
        let mut words = words(text).into_iter();
        let metric = words
            .next()
            .ok_or_else(|| format!("{{{{}}}} names no metric; {example}"))?;
        let of = words.map(|word| match word.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
            _ => Err(format!("{word:?} is no name=value; {example}")),
        });
        Ok(Self {
            metric,
            of: of.collect::<Result<_, _>>()?,
        })
    }
}

/// Words, of which quotes keep several together.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted, mut any) = (String::new(), false, false);
    for c in text.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                any = true;
            }
            c if c.is_whitespace() && !quoted => {
                if any {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            c => {
                word.push(c);
                any = true;
            }
        }
    }
    if any {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<String, AuthoredError> {
        let text = SectionText {
            text,
            line: 10,
            lenient: false,
        };
        text.resolved(&|r: &Reference| match r.metric.as_str() {
            "tps" => Ok(format!(
                "<{}>",
                r.of.iter()
                    .map(|(n, v)| format!("{n}:{v}"))
                    .collect::<String>()
            )),
            other => Err(format!("no {other}")),
        })
    }

    #[test]
    fn references_become_figures() {
        assert_eq!(of("a {{tps}} b {{ tps x=1 }}\n").unwrap(), "a <> b <x:1>\n");
        assert_eq!(
            of(r#"{{tps target="two words"}}"#).unwrap(),
            "<target:two words>"
        );
        assert_eq!(of(r"\{{tps}}").unwrap(), "{{tps}}");
    }

    #[test]
    fn what_stands_for_nothing_is_told_with_its_line() {
        for (text, line, why) in [
            ("one\n\n{{p98}}", 12, "{{p98}}: no p98"),
            ("{{tps\n}}", 10, "has no }}"),
            ("{{}}", 10, "names no metric"),
            ("{{tps threads}}", 10, "is no name=value"),
        ] {
            let error = of(text).unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.why.contains(why), "{error}");
        }
    }
}
