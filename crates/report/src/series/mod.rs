//! What watched a run beside its load: a flat chart of each figure, and their means and extremes.

pub(crate) mod exported;

use crate::ReportError;
use crate::charts::{MOST_SERIES, StripLine, Timeline, line_key, short_label, strip};
use crate::document::Panel;
use crate::number::{bytes, percent, three, whole};
use crate::report_table::ReportTable;
use crate::texts::{Lang, diagnosis, fill};
use std::collections::BTreeMap;
use tidemark_core::Engine;
use tidemark_core::observe::{CLIENT_HOST, SERVER_HOST, SERVER_NODES, SERVER_PROCESS, SOURCES};
use tidemark_core::record::RunRecord;
use tidemark_core::series::{Bucket, Series};
use tidemark_diagnosis::{Diagnosis, Evidence, SERIES_NAMES};

/// So many points of a line can be told apart on a picture.
const POINTS: usize = 240;
/// Of more series of one name, what those alike (processors of a big host) are together is told.
const MOST_APART: usize = 4;
/// Labels that tell apart what does the same work, so that a mean of all says something.
const ALIKE: [&str; 4] = ["core", "disk", "instance", "interface"];
/// So many names are drawn and listed.
const MOST_NAMES: usize = 100;
/// Labels of what has no points before it was first seen. Their longest is there at every sample.
const SEEN_LATE: [&str; 3] = ["state", "program", "blocker"];
/// So many states of sessions, and other kinds of one name.
const MOST_STATES: usize = 10;

/// Whom series are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The client's host.
    Client,
    /// The database's host.
    Host,
    /// The server's processes.
    Processes,
    /// The database.
    Server,
    /// The nodes of its cluster.
    Nodes,
    /// What other collectors wrote of it.
    Other,
}

impl Side {
    /// In the order of a report.
    pub const ALL: [Side; 6] = [
        Side::Client,
        Side::Host,
        Side::Processes,
        Side::Server,
        Side::Nodes,
        Side::Other,
    ];

    fn has(self, source: &str) -> bool {
        self == match source {
            CLIENT_HOST => Side::Client,
            SERVER_HOST => Side::Host,
            SERVER_PROCESS => Side::Processes,
            SERVER_NODES => Side::Nodes,
            ours if SOURCES.contains(&ours) => Side::Server,
            _ => Side::Other,
        }
    }

    fn title(self, record: &RunRecord, lang: Lang) -> &'static str {
        let t = lang.texts();
        let (of_run, of_watch) = match self {
            Side::Other => (t.other_series, t.other_series),
            Side::Client => (t.run_client, t.watch_client),
            Side::Host => (t.run_host, t.watch_host),
            Side::Processes => (t.run_processes, t.watch_processes),
            Side::Server => (t.run_server, t.watch_server),
            Side::Nodes => (t.run_nodes, t.watch_nodes),
        };
        match record.is_watch() {
            true => of_watch,
            false => of_run,
        }
    }
}

/// Series of one name and source.
struct SeriesGroup<'r> {
    /// Its place in [`SERIES_NAMES`]; those of other sources come last.
    place: usize,
    called: String,
    series: Vec<&'r Series>,
    /// Points of the longest, where its series begin when what they are of is first seen.
    longest: Option<u64>,
}

impl<'r> SeriesGroup<'r> {
    fn is_drawn(&self) -> bool {
        SERIES_NAMES.get(self.place).is_none_or(|name| name.drawn)
    }

    /// Whether its series are parts of a whole, each of which is told.
    fn is_of_states(&self) -> bool {
        self.series
            .iter()
            .all(|s| s.key.labels.contains_key("state"))
    }

    /// With what a state or a program was before it was first seen: nothing.
    fn whole(&self, mut all: Bucket) -> Bucket {
        if let Some(longest) = self.longest.filter(|longest| *longest > all.count) {
            all.mean *= all.count as f64 / longest as f64;
            all.min = all.min.min(0.0);
            all.count = longest;
        }
        all
    }

    fn count_longest(&mut self, record: &RunRecord) {
        let of = |label: &str| self.series.iter().all(|s| s.key.labels.contains_key(label));
        let longest = |series: &[&Series]| {
            let counts = series.iter().filter_map(|series| measured(&[series]));
            counts.map(|one| one.count).max()
        };
        let Some(one) = self.series.first() else {
            return;
        };
        if SEEN_LATE.into_iter().any(of) {
            self.longest = longest(&self.series);
        } else if of("disk") {
            // The only disk may have come late: a host's other figures are sampled with its disks'.
            let is_peer = |s: &&Series| s.key.source == one.key.source && s.step_ms == one.step_ms;
            let peers: Vec<&Series> = record.series.iter().filter(is_peer).collect();
            self.longest = longest(&peers);
        }
    }

    fn keep_largest(&mut self) {
        // One that was seen late was nothing before.
        let sum = |s: &&Series| s.summary().ok().flatten().map_or(0.0, |all| sum(&all));
        self.series.sort_by(|a, b| sum(b).total_cmp(&sum(a)));
        self.series.truncate(MOST_STATES);
    }

    /// Whether nothing ever happened.
    fn is_nothing(&self) -> bool {
        together(&self.series, i64::MIN).is_some_and(|all| all.min == 0.0 && all.max == 0.0)
    }

    /// Whether a mean of them all says something.
    fn is_alike(&self) -> bool {
        let mut kinds = self.series.iter().map(|series| kind(series));
        let first = kinds.next();
        kinds.all(|of| Some(&of) == first.as_ref())
    }

    /// Its series as a table tells them: each, or of many those together that are alike.
    fn apart(&self) -> Vec<Vec<&'r Series>> {
        if self.series.len() <= MOST_APART || self.is_of_states() {
            return self.series.iter().map(|series| vec![*series]).collect();
        }
        let mut kinds: BTreeMap<Vec<(&str, &str)>, Vec<&'r Series>> = BTreeMap::new();
        for series in self.series.iter().copied() {
            kinds.entry(kind(series)).or_default().push(series);
        }
        let mut kinds: Vec<Vec<&'r Series>> = kinds.into_values().collect();
        if kinds.len() > MOST_STATES {
            let mean = |of: &[&Series]| together(of, 0).map_or(0.0, |all| all.mean);
            kinds.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
            kinds.truncate(MOST_STATES);
        }
        kinds
    }
}

fn sum(all: &Bucket) -> f64 {
    all.mean * all.count as f64
}

fn groups(record: &RunRecord, side: Side, lang: Lang) -> Vec<SeriesGroup<'_>> {
    let mut groups: BTreeMap<(usize, &str, &str), SeriesGroup<'_>> = BTreeMap::new();
    for series in record.series.iter().filter(|s| side.has(&s.key.source)) {
        let key = &series.key;
        // Names of others say what they mean by them.
        let place = SERIES_NAMES.iter().position(|n| n.name == key.name);
        let place = place.filter(|_| side != Side::Other);
        let place = place.unwrap_or(SERIES_NAMES.len());
        let called = || match SERIES_NAMES.get(place) {
            Some(name) => name.called(lang.into()).to_string(),
            None => format!("{}: {}", key.source, key.name),
        };
        let group = (place, key.source.as_str(), key.name.as_str());
        let group = groups.entry(group).or_insert_with(|| SeriesGroup {
            place,
            called: called(),
            series: Vec::new(),
            longest: None,
        });
        group.series.push(series);
    }
    let mut groups: Vec<SeriesGroup<'_>> = groups.into_values().take(MOST_NAMES).collect();
    for group in &mut groups {
        if group.is_of_states() {
            group.keep_largest();
        }
        group.count_longest(record);
    }
    groups
}

/// Flat charts over the run's time; those that a finding rests on say so.
///
/// # Errors
/// [`ReportError::Chart`].
pub(crate) fn panels(
    time: &Timeline<'_>,
    record: &RunRecord,
    side: Side,
    limits: Option<&Diagnosis>,
    lang: Lang,
) -> Result<Vec<Panel>, ReportError> {
    let groups = groups(record, side, lang);
    let drawn = groups.iter().filter(|group| group.is_drawn());
    let drawn = drawn.filter(|group| side == Side::Client || !group.is_nothing());
    let mut panels = Vec::new();
    for group in drawn {
        let Some(mut panel) = panel(group, time, lang)? else {
            continue;
        };
        let evidence = limits.and_then(|limits| evidence_of(group, limits, lang));
        panel.figures.extend(evidence);
        panels.push(panel);
    }
    Ok(panels)
}

/// Which findings rest on these series; `None` where none does.
fn evidence_of(group: &SeriesGroup<'_>, limits: &Diagnosis, lang: Lang) -> Option<String> {
    let t = diagnosis::of(lang);
    let key = &group.series.first()?.key;
    // `SOURCE NAME`, `SOURCE NAME + NAME`, `SOURCE NAME (STATE, STATE)`.
    let rests = |evidence: &Evidence| {
        let mut words = evidence.metric.split([' ', ',']);
        words.next() == Some(key.source.as_str()) && words.any(|word| word == key.name)
    };
    let findings = limits.findings.iter();
    let causes = findings.filter(|finding| finding.evidence.iter().any(rests));
    let causes: Vec<&str> = causes.map(|f| f.cause.title(lang.into())).collect();
    (!causes.is_empty()).then(|| fill(t.evidence_of, &[("causes", &causes.join(t.comma))]))
}

/// A series as a line of a chart.
struct ObservedLine<'r> {
    series: &'r Series,
    points: Vec<(f64, Option<f64>)>,
    /// When it begins and when its last point does.
    span_ms: (i64, i64),
    /// While it was measured.
    all: Bucket,
}

impl<'r> ObservedLine<'r> {
    /// `None` where nothing is to be drawn.
    fn of(series: &'r Series, time: &Timeline<'_>) -> Option<Self> {
        let buckets = series.downsampled(POINTS).ok()?;
        let points = broken(&buckets, time);
        let span_ms = (buckets.first()?.at_ms, buckets.last()?.at_ms);
        let all = measured(&[series])?;
        (!points.is_empty()).then_some(Self {
            series,
            points,
            span_ms,
            all,
        })
    }

    /// Its name and its own figures: a mean of it and of others would be of nothing.
    fn said(&self, group: &SeriesGroup<'_>, unit: &str, lang: Lang) -> String {
        let name = match named(self.series, lang) {
            name if name.is_empty() => group.called.clone(),
            // A number alone says nothing beside figures.
            name if name.bytes().all(|c| c.is_ascii_digit()) => {
                let labels: Vec<&str> = self.series.key.labels.keys().map(String::as_str).collect();
                format!("{} {name}", labels.join(" "))
            }
            name => name,
        };
        let colon = lang.texts().colon;
        format!(
            "{name}{colon}{}",
            figures(&group.whole(self.all), unit, lang)
        )
    }
}

/// `None` where nothing is to be drawn, or a series can't be read: that is said in the table.
fn panel(
    group: &SeriesGroup<'_>,
    time: &Timeline<'_>,
    lang: Lang,
) -> Result<Option<Panel>, ReportError> {
    let t = lang.texts();
    let lines = group.series.iter();
    let lines = lines.filter_map(|series| ObservedLine::of(series, time));
    let mut lines: Vec<ObservedLine<'_>> = lines.collect();
    let begins = lines.iter().map(|line| line.span_ms.0).min();
    let ends = lines.iter().map(|line| line.span_ms.1).max();
    let (Some(begins), Some(ends), Some(all)) = (begins, ends, measured(&group.series)) else {
        return Ok(None);
    };
    let first = group.series.first();
    let step = first.map_or(1, |s| u64::from(s.step_ms.max(1)));
    let unit = first.map_or("", |s| s.key.unit.as_str());
    let least = if unit == "ratio" { 1.0 } else { 0.0 };
    let count = lines.len();
    let mut panel = Panel {
        label: group.called.clone(),
        wide: true,
        ..Panel::default()
    };
    let drawn: Vec<StripLine> = if count > MOST_SERIES && group.is_alike() {
        let (count, all) = (whole(count as u64), figures(&all, unit, lang));
        let values = [("count", count.as_str()), ("figures", all.as_str())];
        panel.figures = vec![fill(t.lines_together, &values)];
        let lines = lines.into_iter();
        lines.map(|line| (line.points, Some(0))).collect()
    } else if group.series.len() == 1 {
        panel.figures = vec![figures(&all, unit, lang)];
        let lines = lines.into_iter();
        lines.map(|line| (line.points, Some(0))).collect()
    } else {
        if count > MOST_SERIES {
            lines.sort_by(|a, b| sum(&b.all).total_cmp(&sum(&a.all)));
        }
        let in_legend = lines.iter().take(MOST_SERIES).enumerate();
        panel.legend = in_legend
            .map(|(n, line)| (line_key(Some(n)), line.said(group, unit, lang)))
            .collect();
        if count > MOST_SERIES {
            let others = whole((count - MOST_SERIES) as u64);
            let others = fill(t.lines_others, &[("count", &others)]);
            panel.legend.push((line_key(None), others));
        }
        let lines = lines.into_iter().enumerate();
        let lines = lines.map(|(n, line)| (line.points, (n < MOST_SERIES).then_some(n)));
        lines.collect()
    };
    let of_lines = panel.legend.iter().map(|(_, said)| said);
    let said: Vec<&str> = of_lines.chain(&panel.figures).map(String::as_str).collect();
    let between = match lang {
        Lang::En => "; ",
        Lang::Zh => "；",
    };
    let seconds = ends.abs_diff(begins).saturating_add(step) / 1000;
    panel.says = format!(
        "{}{}{} ({} s)",
        group.called,
        t.colon,
        said.join(between),
        whole(seconds)
    );
    panel.svg = strip(time, drawn, least, |v| at_edge(v, unit), &panel.says)?;
    Ok(Some(panel))
}

/// A round value at the edge of a chart, where there is no room for its unit.
fn at_edge(value: f64, unit: &str) -> String {
    match unit {
        "ratio" => percent(value, 1.0),
        // Out of bounds is the nearest bound.
        "bytes" | "bytes/s" if value > 0.0 => bytes(value as u64),
        _ => short_label(value),
    }
}

/// Seconds of the measurement, each the middle of its point's time, and values; a gap where points are
/// missing. What is not of the run's time is left out.
fn broken(buckets: &[Bucket], time: &Timeline<'_>) -> Vec<(f64, Option<f64>)> {
    let widths = buckets.windows(2).map(|w| match w {
        [a, b] => a.at_ms.abs_diff(b.at_ms),
        _ => 0,
    });
    let mut widths: Vec<u64> = widths.collect();
    widths.sort_unstable();
    // A bucket whose first point is missing is shorter than others.
    let usual = widths.get(widths.len() / 2).copied().unwrap_or(0).max(1);
    let middle = |bucket: &Bucket| (bucket.at_ms as f64 + usual as f64 / 2.0) / 1000.0;
    let mut line = Vec::new();
    let mut last: Option<&Bucket> = None;
    for bucket in buckets.iter().filter(|b| time.has(middle(b))) {
        if last.is_some_and(|l| l.at_ms.abs_diff(bucket.at_ms) / usual > 1) {
            line.push((middle(bucket), None));
        }
        line.push((middle(bucket), Some(bucket.mean)));
        last = Some(bucket);
    }
    line
}

/// A label of ours in the reader's language; those of servers stay as they are.
fn label<'v>(name: &str, value: &'v str, lang: Lang) -> &'v str {
    match (lang, name, value) {
        // A state of those that block, and not of the sessions that are counted.
        (Lang::En, "blocker", "active") => "by active sessions",
        (Lang::En, "blocker", "idle-in-transaction") => "by sessions idle in transaction",
        (Lang::En, "blocker", "waiting") => "by sessions that wait, too",
        (Lang::En, "blocker", "other") => "by prepared transactions or hidden sessions",
        (Lang::Zh, "blocker", "active") => "阻塞者正在执行",
        (Lang::Zh, "blocker", "idle-in-transaction") => "阻塞者在事务中空闲",
        (Lang::Zh, "blocker", "waiting") => "阻塞者也在等锁",
        (Lang::Zh, "blocker", "other") => "阻塞者为预备事务或不可见的会话",
        (Lang::Zh, _, "load") => "施压",
        (Lang::Zh, _, "observing") => "观测",
        (Lang::Zh, _, "other") => "其他",
        _ => value,
    }
}

/// What tells a series from others of its name.
fn named(series: &Series, lang: Lang) -> String {
    let values = series.key.labels.iter();
    let values = values.map(|(name, value)| label(name, value, lang));
    let values: Vec<&str> = values.collect();
    values.join(", ")
}

/// What a series is of, whichever of several alike it is.
fn kind(series: &Series) -> Vec<(&str, &str)> {
    let labels = series.key.labels.iter();
    let labels = labels.map(|(name, value)| (name.as_str(), value.as_str()));
    labels.filter(|(name, _)| !ALIKE.contains(name)).collect()
}

/// A second at an end is a large part of shorter runs.
const LONG_S: f64 = 60.0;

/// Whether sessions report what they did so late that means differ from what was done.
fn counts_late(record: &RunRecord) -> bool {
    let server = record.server.as_ref();
    let is_postgres = server.is_some_and(|server| server.engine == Engine::Postgres);
    is_postgres && !record.is_watch() && record.totals.elapsed_s < LONG_S
}

/// Means and extremes while it was measured; in brief of what has a picture.
pub(crate) fn table(
    record: &RunRecord,
    side: Side,
    lang: Lang,
    brief: bool,
) -> Option<ReportTable> {
    let mut rows = Vec::new();
    let told = |group: &SeriesGroup<'_>| {
        !brief || group.is_drawn() && (side == Side::Client || !group.is_nothing())
    };
    for group in groups(record, side, lang).into_iter().filter(told) {
        let unit = group.series.first().map_or("", |s| s.key.unit.as_str());
        for series in &group.apart() {
            let labels = match series.as_slice() {
                [one] => named(one, lang),
                [first, ..] => {
                    let of_kind = kind(first).into_iter();
                    let of_kind: Vec<&str> =
                        of_kind.map(|(name, v)| label(name, v, lang)).collect();
                    of_kind.join(", ")
                }
                [] => String::new(),
            };
            let mut called = group.called.clone();
            if !labels.is_empty() {
                called += &format!(" [{labels}]");
            }
            let cells = match together(series, 0).map(|all| match series.len() {
                1 => group.whole(all),
                _ => all,
            }) {
                Some(all) => [all.mean, all.min, all.max].map(|v| shown(v, unit, lang)),
                None if unreadable(series) => cannot_be_read(lang),
                None => continue,
            };
            rows.push([called].into_iter().chain(cells).collect());
        }
    }
    (!rows.is_empty()).then(|| ReportTable {
        title: side.title(record, lang),
        says: match side == Side::Server && counts_late(record) {
            true => lang.texts().run_server_late.into(),
            false => String::new(),
        },
        head: match lang {
            Lang::En => vec!["Series", "Mean", "Min", "Max"],
            Lang::Zh => vec!["指标", "平均", "最小", "最大"],
        },
        rows,
        numbers: 3,
    })
}

fn unreadable(series: &[&Series]) -> bool {
    series.iter().any(|s| s.summary().is_err())
}

fn cannot_be_read(lang: Lang) -> [String; 3] {
    let said = match lang {
        Lang::En => "can't be read",
        Lang::Zh => "无法读取",
    };
    [said, "–", "–"].map(String::from)
}

/// Points of all of them from a moment on; `None` where there are none, or one can't be read.
fn together(series: &[&Series], from_ms: i64) -> Option<Bucket> {
    let mut all: Option<Bucket> = None;
    for series in series {
        for point in series.points().ok()? {
            let point = point.ok()?;
            if point.at_ms >= from_ms {
                match &mut all {
                    Some(all) => all.add(point.value),
                    none => *none = Some(Bucket::of(point)),
                }
            }
        }
    }
    all
}

/// [`together`] while it was measured, or over all of the time where nothing was.
fn measured(series: &[&Series]) -> Option<Bucket> {
    together(series, 0).or_else(|| together(series, i64::MIN))
}

fn figures(all: &Bucket, unit: &str, lang: Lang) -> String {
    let (mean, max) = (shown(all.mean, unit, lang), shown(all.max, unit, lang));
    match lang {
        Lang::En => format!("mean {mean}, max {max}"),
        Lang::Zh => format!("平均 {mean}，最大 {max}"),
    }
}

fn shown(value: f64, unit: &str, lang: Lang) -> String {
    match unit {
        "ratio" if value >= 0.0 => match value > 0.0 {
            true => percent(value, 1.0),
            false => "0%".into(),
        },
        // Out of bounds is the nearest bound.
        "bytes" => bytes(value as u64),
        "bytes/s" => format!("{}/s", bytes(value as u64)),
        "1/s" => format!("{}/s", three(value)),
        _ => format!("{} {}", three(value), crate::texts::unit_in(unit, lang)),
    }
}
