//! Monitoring that stops, or does not cover the run.

use super::common::{clean, of_rates, only, rules};
use tidemark_analysis::Severity;
use tidemark_core::record::RunRecord;
use tidemark_core::series::{Measures, Series, SeriesBuilder, SeriesKey};

fn series(seconds: impl Iterator<Item = i64>) -> Series {
    let key = SeriesKey::new("client-host", "cpu.busy", "ratio", Measures::Gauge);
    let mut builder = SeriesBuilder::new(key, 0, 1000);
    seconds.for_each(|s| {
        builder.push(s * 1000, 0.5);
    });
    builder.series().unwrap()
}

fn with(seconds: impl Iterator<Item = i64>) -> RunRecord {
    let mut record = clean();
    record.series = vec![series(seconds)];
    record
}

#[test]
fn a_sampler_that_stops_is_told() {
    // 20 s are measured.
    let gap = only(
        &with((0..20).filter(|s| !(8..16).contains(s))),
        "sampler-gaps",
    );
    assert_eq!(gap.severity, Severity::Note);
    let gap = only(
        &with((0..20).filter(|s| !(8..11).contains(s))),
        "sampler-gaps",
    );
    assert_eq!(gap.severity, Severity::Note);
    // One look is late, or every other second is looked at.
    assert_eq!(rules(&with((0..20).filter(|s| *s != 9))), [""; 0]);
    assert_eq!(rules(&with((0..20).step_by(2))), [""; 0]);
    // It stopped in the warm-up and after the end.
    let around = (-30..40).filter(|s| (-3..25).contains(s));
    assert_eq!(rules(&with(around)), [""; 0]);
}

#[test]
fn evidence_of_another_time_is_told() {
    assert_eq!(
        only(&with(0..12), "evidence-outside-run").severity,
        Severity::Note
    );
    assert_eq!(
        only(&with(4..20), "evidence-outside-run").severity,
        Severity::Note
    );
    assert_eq!(
        only(&with(30..50), "evidence-outside-run").severity,
        Severity::Note
    );
    // Taken just after the begin and up to just before the end.
    assert_eq!(rules(&with(1..19)), [""; 0]);
    // A label that came late is beside one that was there all the time.
    let mut record = with(0..20);
    let mut late = series(15..20);
    late.key = late.key.with("core", 7);
    record.series.push(late);
    assert_eq!(rules(&record), [""; 0]);
    let mut short = of_rates(&[1000; 20]);
    short.series = Vec::new();
    assert_eq!(rules(&short), [""; 0]);
}
