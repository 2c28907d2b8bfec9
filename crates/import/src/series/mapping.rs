//! The mapping file: which column of another collector's table is which series.

use super::time::{Stamps, TimeColumn, TimeFormat, zone};
use std::collections::BTreeMap;
use tidemark_core::did_you_mean;
use tidemark_core::observe::SOURCES;
use tidemark_core::series::Measures;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// So many columns may be mapped.
const MOST_COLUMNS: usize = 200;
/// Names, units and labels are no longer.
const LONGEST_NAME: usize = 100;

/// Which columns are taken, and what they are.
#[derive(Debug, Clone)]
pub struct ColumnMapping {
    /// Lines before the heading; where that is not said, the heading is found by its columns.
    pub skip_lines: Option<u64>,
    /// What parts columns; a blank stands for any number of blanks.
    pub delimiter: char,
    /// Where the time is.
    pub time: TimeColumn,
    /// The columns that become series.
    pub columns: Vec<MappedColumn>,
}

/// A column by its heading, or by its number from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnPlace {
    /// As the heading has it.
    Name(String),
    /// Counted from the left.
    Number(usize),
}

/// One column that becomes a series, or one for each value of other columns.
#[derive(Debug, Clone)]
pub struct MappedColumn {
    /// Where it is.
    pub place: ColumnPlace,
    /// What its series is called.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Who gave it.
    pub source: String,
    /// What a point tells.
    pub measures: Measures,
    /// What values are multiplied by.
    pub scale: f64,
    /// Decimal digits that are kept; those of the values where it is not said.
    pub digits: Option<i8>,
    /// Labels that all points have.
    pub labels: BTreeMap<String, String>,
    /// Labels that other columns have.
    pub labels_from: BTreeMap<String, ColumnPlace>,
}

/// What is wrong with a mapping file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct MappingError {
    /// Line of the file, from 1.
    pub line: usize,
    /// What is wrong, and what is right.
    pub message: String,
}

type Result<T> = std::result::Result<T, MappingError>;

const TOP: &[&str] = &["source", "skip_lines", "delimiter", "time", "column"];
const TIME: &[&str] = &["column", "format", "zone", "stamps"];
const COLUMN: &[&str] = &[
    "column",
    "name",
    "unit",
    "source",
    "measures",
    "scale",
    "digits",
    "labels",
    "labels_from",
];

impl ColumnMapping {
    /// Reads a mapping file.
    ///
    /// # Errors
    /// [`MappingError`] with the line that is wrong.
    pub fn parse(text: &str) -> Result<Self> {
        let root = DeTable::parse(text).map_err(|error| MappingError {
            line: error.span().map_or(1, |span| line_at(text, span.start)),
            message: format!("not TOML: {}", error.message()),
        })?;
        let top = MappingSection::of(text, "the mapping", TOP, root.get_ref(), 1)?;
        let source = top.text("source", "\"iostat\"")?;
        if let Some(source) = &source {
            not_ours(&top, source)?;
        }
        let skip_lines = top.whole("skip_lines", 0..=1_000_000, "6")?;
        let delimiter = top.text("delimiter", "\",\"")?;
        let delimiter = match delimiter.as_deref().map(|d| (d, d.chars().next())) {
            None => ',',
            Some((d, Some(c))) if d.chars().count() == 1 && c != '"' && !c.is_alphanumeric() => c,
            Some(_) => {
                return Err(top.wrong(
                    "delimiter",
                    "must be one character that is no letter, digit or quote; for example \
                     delimiter = \";\", or \" \" for any number of blanks",
                ));
            }
        };
        let Some((line, table)) = top.table("time")? else {
            return Err(top.missing(
                "time",
                "[time] with column = \"time\" and format = \"epoch\"",
            ));
        };
        let time = time(&MappingSection::of(text, "[time]", TIME, table, line)?)?;
        let all = top.tables("column")?;
        if all.is_empty() || all.len() > MOST_COLUMNS {
            return Err(top.missing(
                "column",
                &format!("1 to {MOST_COLUMNS} sections [[column]] with column, name and unit"),
            ));
        }
        let columns = all.into_iter().map(|(line, table)| {
            let section = MappingSection::of(text, "[[column]]", COLUMN, table, line)?;
            column(&section, source.as_deref())
        });
        Ok(Self {
            skip_lines,
            delimiter,
            time,
            columns: columns.collect::<Result<_>>()?,
        })
    }

    /// Every column that is looked for by its heading.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let times = self.time.places.iter();
        let others = self.columns.iter();
        let others = others.flat_map(|c| [&c.place].into_iter().chain(c.labels_from.values()));
        times.chain(others).filter_map(|place| match place {
            ColumnPlace::Name(name) => Some(name.as_str()),
            ColumnPlace::Number(_) => None,
        })
    }
}

fn time(section: &MappingSection<'_, '_>) -> Result<TimeColumn> {
    let places = section.places("column")?;
    let format = section.required_text("format", "\"epoch\"")?;
    let format = TimeFormat::of(&format).map_err(|why| section.wrong("format", &why))?;
    let zone = match section.text("zone", "\"Asia/Shanghai\"")? {
        Some(name) => zone(&name).map_err(|why| section.wrong("zone", &why))?,
        None => jiff::tz::TimeZone::UTC,
    };
    let stamps = match section.text("stamps", "\"end\"")?.as_deref() {
        None | Some("begin") => Stamps::Begin,
        Some("end") => Stamps::End,
        Some(other) => {
            let near = did_you_mean(other, ["begin", "end"]);
            return Err(section.wrong("stamps", &format!("must be begin or end{near}")));
        }
    };
    Ok(TimeColumn {
        places,
        format,
        zone,
        stamps,
    })
}

fn column(section: &MappingSection<'_, '_>, source: Option<&str>) -> Result<MappedColumn> {
    let mut places = section.places("column")?;
    let place = match places.len() {
        1 => places.swap_remove(0),
        _ => return Err(section.wrong("column", "must be one column")),
    };
    let source = match (section.text("source", "\"iostat\"")?, source) {
        (Some(source), _) => source,
        (None, Some(source)) => source.to_string(),
        (None, None) => {
            return Err(section.missing("source", "source = \"iostat\", here or at the top"));
        }
    };
    not_ours(section, &source)?;
    let measures = match section.text("measures", "\"gauge\"")?.as_deref() {
        None | Some("gauge") => Measures::Gauge,
        Some("rate") => Measures::Rate,
        Some(other) => {
            let near = did_you_mean(other, ["gauge", "rate"]);
            return Err(section.wrong("measures", &format!("must be gauge or rate{near}")));
        }
    };
    let scale = section.number("scale", "0.01")?.unwrap_or(1.0);
    if !scale.is_finite() || scale == 0.0 {
        return Err(section.wrong("scale", "must be a number other than 0; for example 0.01"));
    }
    let digits = section.whole("digits", 0..=9, "2")?;
    let mut labels = BTreeMap::new();
    for (name, value) in section.pairs("labels")? {
        match value {
            ColumnPlace::Name(text) => drop(labels.insert(name, text)),
            ColumnPlace::Number(n) => drop(labels.insert(name, n.to_string())),
        }
    }
    Ok(MappedColumn {
        place,
        name: section.required_text("name", "\"disk.busy\"")?,
        unit: section.required_text("unit", "\"ratio\"")?,
        source,
        measures,
        scale,
        digits: digits.and_then(|d| i8::try_from(d).ok()),
        labels,
        labels_from: section.pairs("labels_from")?,
    })
}

fn not_ours(section: &MappingSection<'_, '_>, source: &str) -> Result<()> {
    match SOURCES.contains(&source) {
        true => Err(section.wrong(
            "source",
            "is Tidemark's own; use the collector's name, for example source = \"iostat\"",
        )),
        false => Ok(()),
    }
}

fn line_at(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    memchr::memchr_iter(b'\n', before).count() + 1
}

/// A table of the file.
struct MappingSection<'a, 't> {
    text: &'a str,
    title: &'static str,
    values: &'a DeTable<'t>,
    line: usize,
}

impl<'a, 't> MappingSection<'a, 't> {
    fn of(
        text: &'a str,
        title: &'static str,
        known: &[&str],
        values: &'a DeTable<'t>,
        line: usize,
    ) -> Result<Self> {
        for key in values.keys() {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                return Err(MappingError {
                    line: line_at(text, key.span().start),
                    message: format!(
                        "{name}: unknown key in {title}; known: {}{}",
                        known.join(", "),
                        did_you_mean(name, known.iter().copied())
                    ),
                });
            }
        }
        Ok(Self {
            text,
            title,
            values,
            line,
        })
    }

    fn get(&self, name: &str) -> Option<&'a Spanned<DeValue<'t>>> {
        self.values.get(name)
    }

    fn line_of(&self, name: &str) -> usize {
        self.get(name)
            .map_or(self.line, |v| line_at(self.text, v.span().start))
    }

    fn wrong(&self, name: &str, why: &str) -> MappingError {
        MappingError {
            line: self.line_of(name),
            message: format!("{name} in {}: {why}", self.title),
        }
    }

    fn missing(&self, name: &str, example: &str) -> MappingError {
        MappingError {
            line: self.line,
            message: format!("{} needs {name}; for example {example}", self.title),
        }
    }

    fn text(&self, name: &str, example: &str) -> Result<Option<String>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let text = value.get_ref().as_str();
        match text.filter(|t| (1..=LONGEST_NAME).contains(&t.chars().count())) {
            Some(text) => Ok(Some(text.into())),
            None => Err(self.wrong(
                name,
                &format!("must be a text of 1 to {LONGEST_NAME} characters; for example {name} = {example}"),
            )),
        }
    }

    fn required_text(&self, name: &str, example: &str) -> Result<String> {
        let text = self.text(name, example)?;
        text.ok_or_else(|| self.missing(name, &format!("{name} = {example}")))
    }

    fn number(&self, name: &str, example: &str) -> Result<Option<f64>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let number = match value.get_ref() {
            DeValue::Integer(n) => n.as_str().parse().ok(),
            DeValue::Float(n) => n.as_str().parse().ok(),
            _ => None,
        };
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(
                name,
                &format!("must be a number; for example {name} = {example}"),
            )),
        }
    }

    fn whole(
        &self,
        name: &str,
        within: std::ops::RangeInclusive<u64>,
        example: &str,
    ) -> Result<Option<u64>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let number = whole(value.get_ref()).filter(|n| within.contains(n));
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(
                name,
                &format!(
                    "must be a whole number, {} to {}; for example {name} = {example}",
                    within.start(),
                    within.end()
                ),
            )),
        }
    }

    /// One column or several, by name or number.
    fn places(&self, name: &str) -> Result<Vec<ColumnPlace>> {
        let Some(value) = self.get(name) else {
            return Err(self.missing(name, &format!("{name} = \"time\"")));
        };
        let all = match value.get_ref() {
            DeValue::Array(items) => items.iter().map(|i| place(i.get_ref())).collect(),
            one => place(one).map(|place| vec![place]),
        };
        all.filter(|all| !all.is_empty()).ok_or_else(|| {
            self.wrong(
                name,
                &format!(
                    "must be a heading or a number from 1, or for a time a list of them; for \
                     example {name} = \"time\" or {name} = 3"
                ),
            )
        })
    }

    fn pairs(&self, name: &str) -> Result<BTreeMap<String, ColumnPlace>> {
        let Some(value) = self.get(name) else {
            return Ok(BTreeMap::new());
        };
        let wrong = || {
            self.wrong(
                name,
                &format!("must be a table of texts; for example {name} = {{ disk = \"sda\" }}"),
            )
        };
        let table = value.get_ref().as_table().ok_or_else(wrong)?;
        let pair = |(key, value): (&Spanned<_>, &Spanned<DeValue<'t>>)| {
            let key: &toml::de::DeString<'_> = key.get_ref();
            let place = place(value.get_ref()).ok_or_else(wrong)?;
            Ok::<_, MappingError>((key.to_string(), place))
        };
        table.iter().map(pair).collect()
    }

    fn table(&self, name: &str) -> Result<Option<(usize, &'a DeTable<'t>)>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match value.get_ref().as_table() {
            Some(table) => Ok(Some((self.line_of(name), table))),
            None => Err(self.wrong(name, &format!("must be a section [{name}]"))),
        }
    }

    fn tables(&self, name: &str) -> Result<Vec<(usize, &'a DeTable<'t>)>> {
        let Some(value) = self.get(name) else {
            return Ok(Vec::new());
        };
        let wrong = || self.wrong(name, &format!("must be sections [[{name}]]"));
        let items = value.get_ref().as_array().ok_or_else(wrong)?;
        let table = |item: &'a Spanned<DeValue<'t>>| {
            let line = line_at(self.text, item.span().start);
            let table = item.get_ref().as_table().ok_or_else(wrong)?;
            Ok::<_, MappingError>((line, table))
        };
        items.iter().map(table).collect()
    }
}

fn whole(value: &DeValue<'_>) -> Option<u64> {
    match value {
        DeValue::Integer(n) if n.radix() == 10 => n.as_str().parse().ok(),
        _ => None,
    }
}

fn place(value: &DeValue<'_>) -> Option<ColumnPlace> {
    match value {
        DeValue::String(name) if !name.trim().is_empty() => {
            Some(ColumnPlace::Name(name.trim().to_string()))
        }
        other => {
            let number = usize::try_from(whole(other)?).ok()?;
            (1..=10_000)
                .contains(&number)
                .then_some(ColumnPlace::Number(number))
        }
    }
}
