//! Everything people read in a report: `texts/en.toml` and `texts/zh.toml`, of which the build makes
//! a module for each section.

use crate::number::seconds;
use tidemark_core::record::RateUnit;

include!(concat!(env!("OUT_DIR"), "/texts.rs"));

/// What every report says.
pub(crate) use common::Texts;

/// The language of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Chinese (simplified).
    Zh,
}

/// What a figure is counted in, as a language has it.
pub(crate) fn unit_in(unit: &str, lang: Lang) -> &str {
    let t = counted_in::of(lang);
    match unit {
        "cores" => t.cores,
        "sessions" => t.sessions,
        "requests" => t.requests,
        "tasks" => t.tasks,
        "rows" => t.rows,
        "transactions" => t.transactions,
        "pages" => t.pages,
        "errors" => t.errors,
        "statements" => t.statements,
        "replicas" => t.replicas,
        "ranges" => t.ranges,
        "goroutines" => t.goroutines,
        "files" => t.files,
        _ => unit,
    }
}

impl Lang {
    /// Every language there is.
    pub const ALL: [Lang; 2] = [Lang::En, Lang::Zh];

    /// The BCP 47 tag, as in HTML's `lang`.
    pub fn tag(self) -> &'static str {
        match self {
            Lang::En => "en",
            Lang::Zh => "zh-CN",
        }
    }

    pub(crate) fn texts(self) -> &'static Texts {
        common::of(self)
    }

    /// The same, of a run whose throughput counts this.
    pub(crate) fn texts_of(self, unit: RateUnit) -> &'static Texts {
        common::of_unit(self, unit)
    }
}

impl std::str::FromStr for Lang {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "en" => Ok(Lang::En),
            "zh" | "zh-CN" => Ok(Lang::Zh),
            _ => Err(format!("no language {text}; there are en and zh")),
        }
    }
}

impl Texts {
    /// A span of time: `8.4 s`, `1 h 0 min 3 s`.
    pub fn duration(&self, s: f64) -> String {
        if s < 600.0 || !s.is_finite() {
            return fill(self.duration_s, &[("s", &seconds(s))]);
        }
        // In range: finite, positive; larger than a u64 saturates.
        let whole = s.round() as u64;
        let (h, min, s) = (whole / 3600, whole / 60 % 60, whole % 60);
        let template = if h > 0 {
            self.duration_h
        } else {
            self.duration_min
        };
        let (h, min, s) = (h.to_string(), min.to_string(), s.to_string());
        fill(template, &[("h", &h), ("min", &min), ("s", &s)])
    }

    /// A moment of the measurement, in seconds from its start.
    pub fn moment(&self, s: f64) -> String {
        fill(self.duration_s, &[("s", &format!("{s:.0}"))])
    }
}

/// A percentile as a language writes it: `p95`, `P95`.
pub(crate) fn percentile(name: &str, lang: Lang) -> String {
    match lang {
        Lang::En => name.into(),
        Lang::Zh => name.to_uppercase(),
    }
}

/// Puts values in place of `{name}`; a value's own braces stay. Between Chinese and Latin there is a blank,
/// between Chinese and Chinese none, whichever a value is.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        append(&mut text, before, true);
        // A blank that is all between two values stays.
        let is_of_words = !before.trim().is_empty();
        let (place, after) = after.split_once('}').unwrap_or((after, ""));
        let mut words = place.split('|');
        let name = words.next().unwrap_or_default();
        let value = values.iter().find(|(n, _)| *n == name);
        let value = value.map_or("", |(_, v)| *v);
        let word = match (words.next(), words.next()) {
            (Some(one), Some(many)) => {
                if value == "1" {
                    one
                } else {
                    many
                }
            }
            _ => value,
        };
        append(&mut text, word, is_of_words);
        rest = after;
    }
    append(&mut text, rest, true);
    text
}

/// Appends words or a value, with the blank that goes between.
fn append(text: &mut String, next: &str, closes: bool) {
    let is_han = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    let (mut back, mut forth) = (text.chars().rev(), next.chars());
    let (last, before) = (back.next(), back.next());
    let (first, second) = (forth.next(), forth.next());
    let mut next = next;
    match (last, first) {
        (Some(last), Some(first))
            if is_han(last) && first.is_ascii_alphanumeric()
                || last.is_ascii_alphanumeric() && is_han(first) =>
        {
            text.push(' ');
        }
        (Some(' '), Some(first)) if closes && is_han(first) && before.is_some_and(is_han) => {
            text.pop();
        }
        (Some(last), Some(' ')) if is_han(last) && second.is_some_and(is_han) => {
            next = next.trim_start_matches(' ');
        }
        _ => {}
    }
    text.push_str(next);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in_as_they_are() {
        assert_eq!(
            fill("a {x} b {y}", &[("x", "{y}"), ("y", "2")]),
            "a {y} b 2"
        );
        assert_eq!(fill("{unknown}!", &[]), "!");
        let over = |load| fill("吞吐量随{load}变化", &[("load", load)]);
        assert_eq!(over("rows"), "吞吐量随 rows 变化");
        assert_eq!(over("线程数"), "吞吐量随线程数变化");
        let from_to = |at| fill("{at} 为 {n} 至 {at}", &[("at", at), ("n", "4")]);
        assert_eq!(from_to("rows"), "rows 为 4 至 rows");
        assert_eq!(from_to("线程数"), "线程数为 4 至线程数");
        let two = [("a", "机器"), ("b", "大")];
        assert_eq!(fill("{a} {b}", &two), "机器 大");
        assert_eq!(fill("open {", &[]), "open ");
        let counted = |n| fill("{n} {n|run ends|runs end}", &[("n", n)]);
        assert_eq!(counted("1"), "1 run ends");
        assert_eq!(counted("11"), "11 runs end");
    }

    #[test]
    fn durations_have_fitting_units() {
        let (en, zh) = (Lang::En.texts(), Lang::Zh.texts());
        assert_eq!(en.duration(8.44), "8.4 s");
        assert_eq!(en.duration(120.2), "120 s");
        assert_eq!(en.duration(725.0), "12 min 5 s");
        assert_eq!(zh.duration(3603.0), "1 小时 0 分 3 秒");
    }

    #[test]
    fn languages_are_named_by_their_tags() {
        for lang in Lang::ALL {
            assert_eq!(lang.tag().parse(), Ok(lang));
        }
        assert!("de".parse::<Lang>().is_err());
    }
}
