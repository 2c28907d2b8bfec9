//! The view of streams of queries, drawn on terminals that are not there.

use super::common::drawing::{drawn, must_be};
use super::common::{error, info};
use std::time::Duration;
use tidemark_live::{Asking, QueriesPicture, RunInfo, Scene};
use tidemark_observe::ClientLoad;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn called(stream: u64) -> String {
    format!("stream {stream}")
}

/// So many streams, each of which has asked the 22 queries once and Q1 to Q3 again.
fn picture(streams: u64) -> QueriesPicture {
    let info = RunInfo {
        workload: "tpch".into(),
        types: (1..=22).map(|n| format!("Q{n}")).collect(),
        ..info(false)
    };
    let mut picture = QueriesPicture::new(info, Some(streams * 44));
    picture.set_cores(2);
    picture.set_host(ClientLoad {
        cpu_busy: 0.5,
        process_cpus: 0.02,
        awake_cpus: 0.0,
        load_average: 1.5,
        memory_used_bytes: 1 << 30,
    });
    for stream in 1..=streams {
        for n in (1..=22).chain(1..=3) {
            picture.ends(stream, &format!("Q{n}"), ms(n * 100 + stream), Asking::Done);
        }
        picture.begins(stream, &called(stream), "Q4", ms(60_000 + stream * 1000));
    }
    picture.ends(1, "Q4", ms(7000), Asking::TimedOut);
    picture.ends(2, "Q5", ms(10), Asking::Failed);
    picture.errors(&[error("1105", 1, "no memory left")]);
    picture.set_time(ms(75_500), false);
    picture
}

#[test]
fn pictures_are_as_they_were() {
    must_be("queries-80x24", &drawn(&picture(4), 80, 24));
    must_be("queries-120x40", &drawn(&picture(4), 120, 40));
}

#[test]
fn everything_that_is_promised_is_there() {
    let mut picture = picture(4);
    for (width, height) in [(80, 24), (120, 40)] {
        let screen = drawn(&picture, width, height);
        for part in [
            "tpch on MariaDB 10.11.19  asking",
            "102 of 176 queries, 1:15",
            // Eight times, at last of stream 4; half of them are not above.
            "Q3     8  304 ms  302 ms",
            "Q22    4   2.20 s  2.20 s",
            "Q4     5 timeout  402 ms",
            "Q5     5  failed  502 ms",
            // Stream 3 has asked since 1:03.
            "stream 3     Q4    0:12",
            "Failed 1 · timed out 1",
            "1 × 1105: no memory left",
            "Client 0.02 of 2 processors · host 50 % busy",
            "q closes the view, the run continues",
        ] {
            let is_there = screen.contains(part) || {
                let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                words(&screen).contains(&words(part))
            };
            assert!(is_there, "{part:?} is not in\n{screen}");
        }
        // What has ended goes on no more.
        assert!(
            screen.contains("stream 1") && screen.contains('–'),
            "{screen}"
        );
    }
    picture.set_time(ms(80_000), true);
    assert!(drawn(&picture, 80, 24).contains("ending"));
}

#[test]
fn any_size_can_be_drawn_and_what_has_no_room_is_counted() {
    let none = QueriesPicture::new(info(false), None);
    for picture in [&none, &picture(2), &picture(40)] {
        for width in [1, 10, 49, 50, 51, 80, 120, 300] {
            for height in [1, 13, 14, 15, 20, 24, 40, 100] {
                drawn(picture, width, height);
            }
        }
    }
    let screen = drawn(&picture(40), 50, 20);
    // Of 40 streams and 22 queries.
    for part in ["31 more", "13 more"] {
        assert!(screen.contains(part), "{part:?} is not in\n{screen}");
    }
    let small = drawn(&picture(2), 49, 24);
    assert!(small.contains("too small"), "{small}");
}
