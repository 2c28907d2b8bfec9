//! The view of a study, drawn on terminals that are not there.

use super::common::drawing::{drawn, must_be};
use super::common::{histogram, info, second, stats};
use std::time::Duration;
use tidemark_core::record::Interval;
use tidemark_live::{NowRunning, Picture, QueriesPicture, Scene, StudyInfo, StudyPicture};
use tidemark_observe::ClientLoad;
use tidemark_report::Lang;

/// After eleven steps of 24, of which the third and the tenth failed.
fn between_steps() -> StudyPicture {
    let mut picture = StudyPicture::new(StudyInfo {
        name: "thread sweep".into(),
        steps: 24,
        over: 0,
        lang: Lang::En,
    });
    picture.set_host(ClientLoad {
        cpu_busy: 0.873,
        process_cpus: 0.01,
        awake_cpus: 0.0,
        load_average: 2.1,
        memory_used_bytes: 3 << 30,
    });
    for n in 1..=11 {
        let is_bad = n == 3 || n == 10;
        let said = match is_bad {
            true => format!("FAILED: reason {n} (exit code 1: it failed)"),
            false => "1,204 tx/s, p95 3.1 ms".into(),
        };
        picture.step_begins(n, "load".into(), Duration::from_secs(1));
        let line = format!("[{n:2}/24] mariadb/oltp_read_write/threads={n} repeat 1: {said}");
        picture.step_ended(n, line, is_bad);
    }
    picture
}

fn in_step() -> StudyPicture {
    let mut picture = between_steps();
    let name = "mariadb/oltp_read_only/threads=64 repeat 2";
    picture.step_begins(12, name.into(), Duration::from_secs(71));
    picture.goes_on(Duration::from_secs(34), Duration::from_secs(812));
    picture
}

/// With a run that has gone on for so many seconds.
fn running(seconds: u32) -> StudyPicture {
    let mut picture = in_step();
    let run = Picture::of_other_process(info(false));
    picture.run_begins(NowRunning::Run(Box::new(run)));
    let intervals: Vec<Interval> = (0..seconds).map(|n| second(n, false)).collect();
    picture.intervals(&intervals);
    picture
}

#[test]
fn pictures_are_as_they_were() {
    must_be("study-80x24", &drawn(&running(32), 80, 24));
    must_be("study-120x40", &drawn(&running(32), 120, 40));
}

#[test]
fn the_whole_stands_above_the_run_in_progress() {
    let mut picture = running(32);
    for (width, height) in [(80, 24), (120, 40)] {
        let screen = drawn(&picture, width, height);
        for part in [
            "Study thread sweep  step 12 of 24  2 failed or invalid",
            "11 of 24 steps done, 13:32 left",
            "0:34 of about 1:11  mariadb/oltp_read_only/threads=64 repeat 2",
            // The last steps, and what had failed before them.
            "[11/24] mariadb/oltp_read_write/threads=11 repeat 1: 1,204 tx/s, p95 3.1 ms",
            "[10/24] mariadb/oltp_read_write/threads=10 repeat 1: FAILED: reason 10",
            "before: [ 3/24] mariadb/oltp_read_write/threads=3 repeat 1: FAILED: reason 3",
            // The run's own.
            "tpcc on MariaDB 10.11.19  measuring",
            "Transactions/s 421",
            "NewOrder",
            "p99 so far",
            "q closes the view, the study continues · Ctrl-C stops the study",
        ] {
            assert!(screen.contains(part), "{part:?} is not in\n{screen}");
        }
    }
    let large = drawn(&picture, 120, 40);
    for part in [
        "Sessions 16 · in flight 12",
        "Errors ignored or retried 11 · reconnects 1",
        "Host 87 % busy · load 2.10 · 3.00 GiB in use",
    ] {
        assert!(large.contains(part), "{part:?} is not in\n{large}");
    }
    picture.set_time(Duration::from_secs(40), true);
    assert!(drawn(&picture, 80, 24).contains("ending"));

    // The next step has nothing of this one.
    picture.step_begins(13, "load".into(), Duration::from_secs(2));
    let next = drawn(&picture, 80, 24);
    assert!(
        next.contains("step 13 of 24") && !next.contains("tpcc"),
        "{next}"
    );
}

#[test]
fn the_warm_up_is_as_long_as_the_first_interval_says() {
    let begins = drawn(&running(0), 120, 40);
    assert!(
        begins.contains("tpcc on MariaDB 10.11.19  begins"),
        "{begins}"
    );
    let warms = drawn(&running(1), 120, 40);
    assert!(warms.contains("warm-up"), "{warms}");
    let mut study = in_step();
    let info = tidemark_live::RunInfo {
        warmup: Duration::ZERO,
        ..info(false)
    };
    study.run_begins(NowRunning::Run(Box::new(Picture::of_other_process(info))));
    study.intervals(&(0..32).map(|n| second(n, false)).collect::<Vec<_>>());
    assert_eq!(drawn(&study, 120, 40), drawn(&running(32), 120, 40));
}

#[test]
fn a_step_without_a_run_shows_what_it_prints() {
    let mut picture = in_step();
    let lines = (1..=60).map(|n| format!("table {n} \x1b[2J is loaded"));
    picture.printed(lines.collect());
    let screen = drawn(&picture, 80, 24);
    assert!(screen.contains("table 60 "), "{screen}");
    assert!(!screen.contains("table 1 "), "{screen}");
    let steers = |c: char| c.is_control() && c != '\n';
    assert!(!screen.contains(steers), "{screen:?}");
    assert!(screen.contains("Host 87 % busy"), "{screen}");
}

#[test]
fn of_tpch_it_shows_the_queries() {
    let mut picture = in_step();
    let run = QueriesPicture::of_other_process(info(false));
    picture.run_begins(NowRunning::Queries(Box::new(run)));
    let mut one = Interval::default();
    let took = histogram(1, Duration::from_millis(250));
    one.types.insert("Q17".into(), stats(&took, None));
    let lost = Interval {
        ignored_errors: 1,
        ..Interval::default()
    };
    picture.intervals(&[one, lost]);
    let screen = drawn(&picture, 80, 24);
    assert!(screen.contains("Q17    1  250 ms  250 ms"), "{screen}");
    assert!(screen.contains("Without a result 1"), "{screen}");
}

#[test]
fn any_size_can_be_drawn() {
    for picture in [
        StudyPicture::new(StudyInfo::default()),
        in_step(),
        running(400),
    ] {
        for width in [1, 10, 49, 50, 51, 80, 300] {
            for height in [1, 9, 10, 13, 14, 18, 20, 24, 39, 40, 100] {
                drawn(&picture, width, height);
            }
        }
    }
    let small = drawn(&running(3), 49, 24);
    assert!(
        small.contains("too small") && small.contains("the study continues"),
        "{small}"
    );
    // Where there is no room for the run there is for the study.
    let low = drawn(&running(3), 50, 10);
    assert!(low.contains("11 of 24 steps done"), "{low}");
}

#[test]
fn thousands_of_steps_take_no_more_than_hundreds() {
    let mut picture = between_steps();
    for n in 0..5000 {
        picture.step_ended(n, format!("step {n}"), n % 2 == 0);
    }
    let size = format!("{picture:?}").len();
    assert!(size < 100_000, "{size}");
}
