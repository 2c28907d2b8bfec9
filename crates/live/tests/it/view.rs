//! The view, drawn on terminals that are not there.

use super::common::drawing::{drawn, must_be};
use super::common::{error, info, second};
use std::time::Duration;
use tidemark_live::{ClientNow, ClientStage, Picture, Scene};
use tidemark_observe::ClientLoad;
use tidemark_report::Lang;

/// A run after so many seconds.
fn picture(seconds: u32, due: bool) -> Picture {
    let mut picture = Picture::new(info(due));
    picture.set_cores(2);
    (0..seconds).for_each(|n| picture.interval(&second(n, due)));
    picture.set_time(Duration::from_secs(seconds.into()), false);
    picture.set_host(ClientLoad {
        cpu_busy: 0.873,
        process_cpus: 0.61,
        awake_cpus: if due { 1.2 } else { 0.0 },
        load_average: 2.1,
        memory_used_bytes: 3 << 30,
    });
    picture
}

#[test]
fn pictures_are_as_they_were() {
    must_be("closed-loop-80x24", &drawn(&picture(32, false), 80, 24));
    must_be("open-loop-120x45", &drawn(&picture(32, true), 120, 45));
    must_be("warm-up-80x24", &drawn(&picture(1, false), 80, 24));
}

#[test]
fn everything_that_is_promised_is_there() {
    let mut picture = picture(32, true);
    picture.errors(&[
        error("1213", 3, "Deadlock found"),
        error("1205", 1, "Lock wait"),
    ]);
    picture.errors(&[error("1213", 4, "another message")]);
    let screen = drawn(&picture, 120, 40);
    for part in [
        "tpcc on MariaDB 10.11.19  measuring",
        "0:32 of 1:02, 0:30 left",
        "Transactions/s 421 of 500 asked",
        "Response time p50",
        "NewOrder",
        "Payment",
        "p99 so far",
        "Sessions 16 · in flight 12 · waiting arrivals 3 · dropped 30",
        // Of warm-up and measurement, every third second.
        "Errors 8 · ignored or retried 11 · reconnects 1",
        "7 × 1213: Deadlock found",
        "Client 0.61 (+ 1.20 busy polling) of 2 processors · host 87 % busy · load 2.10",
        "q closes the view",
    ] {
        assert!(screen.contains(part), "{part:?} is not in\n{screen}");
    }
    // Nothing of a type that did not happen.
    assert!(!screen.contains("OrderStatus"), "{screen}");
    picture.set_time(Duration::from_secs(40), true);
    assert!(drawn(&picture, 120, 40).contains("ending"));
}

#[test]
fn each_client_has_a_line_and_of_many_the_slowest() {
    let client = |n: u32| ClientNow {
        name: format!("c{n}"),
        rate: f64::from(100 + n),
        p95_ns: Some(3_000_000),
        cpus: Some(0.5),
        host_busy: Some(0.25),
        clock_error_ms: 0.25,
        stage: ClientStage::Running,
    };
    let mut some = picture(32, false);
    some.clients((0..3).map(client).collect());
    let screen = drawn(&some, 120, 50);
    for n in 0..3 {
        let line = format!(
            "Client c{n} running: {}/s · p95 3.00 ms · CPU 0.5 cores, host 25 % · clock ± 0.25 ms",
            100 + n
        );
        assert!(screen.contains(&line), "{line:?} is not in\n{screen}");
    }
    assert!(!screen.contains("more clients"), "{screen}");
    let mut many: Vec<ClientNow> = (0..300).map(client).collect();
    many[299].stage = ClientStage::Lost;
    many[298].rate = 1.0;
    some.clients(many);
    let screen = drawn(&some, 120, 50);
    for part in [
        "Client c299 lost",
        "Client c298 running: 1.00/s",
        "Client c5 ",
    ] {
        assert!(screen.contains(part), "{part:?} is not in\n{screen}");
    }
    assert!(!screen.contains("Client c6 "), "{screen}");
    assert!(screen.contains("292 more clients"), "{screen}");
    for (width, height) in [(50, 14), (80, 24), (300, 100)] {
        drawn(&some, width, height);
    }
}

#[test]
fn any_size_can_be_drawn() {
    let mut full = picture(400, true);
    full.errors(&[error("1213", 3, "Deadlock found")]);
    let pictures = [Picture::new(info(false)), picture(1, false), full];
    for picture in &pictures {
        for width in [1, 10, 49, 50, 51, 80, 300] {
            for height in [1, 13, 14, 15, 20, 39, 40, 100] {
                drawn(picture, width, height);
            }
        }
    }
    let small = drawn(&pictures[2], 49, 24);
    assert!(
        small.contains("too small") && small.contains("q closes"),
        "{small}"
    );
}

#[test]
fn what_a_server_says_can_not_steer_the_terminal() {
    let mut picture = picture(3, false);
    picture.errors(&[error(
        "\x1b[2J",
        1,
        "\x1b]0;owned\x07 \x1b[31mred\r\nnext \u{9b}1A",
    )]);
    let screen = drawn(&picture, 100, 30);
    assert!(
        !screen.chars().any(|c| c.is_control() && c != '\n'),
        "{screen:?}"
    );
    assert!(screen.contains("owned"), "{screen}");
}

#[test]
fn hours_take_no_more_than_minutes() {
    // Five hours and a half, with intervals that cost next to nothing to make.
    let mut picture = Picture::new(info(false));
    let mut one = second(2, false);
    for n in 0..20_000 {
        one.start_ms = n * 1000;
        if n > 310 {
            one.types.clear();
        }
        picture.interval(&one);
    }
    picture.set_time(Duration::from_secs(20_000), false);
    // Five minutes of points, and sums: as text it is small, too.
    let size = format!("{picture:?}").len();
    let mut short = Picture::new(info(false));
    for n in 0..301 {
        one.start_ms = n * 1000;
        short.interval(&one);
    }
    assert!(size < 2 * format!("{short:?}").len() + (1 << 20), "{size}");
    assert!(drawn(&picture, 80, 24).contains("5:33:22"));
}

#[test]
fn an_interval_that_can_not_be_read_is_left_out() {
    let mut picture = picture(3, false);
    let before = drawn(&picture, 80, 24);
    let mut broken = second(4, false);
    for stats in broken.types.values_mut() {
        stats.service.0 = "nonsense".into();
    }
    picture.interval(&broken);
    assert_eq!(drawn(&picture, 80, 24), before);
}

#[test]
fn captions_are_in_the_language() {
    let mut info = info(true);
    info.lang = Lang::Zh;
    let mut chinese = Picture::new(info);
    (0..32).for_each(|n| chinese.interval(&second(n, true)));
    chinese.set_time(Duration::from_secs(32), false);
    // The second cell of a wide character is a blank.
    let drawn = drawn(&chinese, 120, 45).replace(' ', "");
    for caption in [
        "测量中",
        "剩余",
        "会话16·执行中",
        "q关闭界面，压测继续运行",
        "累计p99",
    ] {
        assert!(drawn.contains(caption), "{caption}: {drawn}");
    }
    for word in ["Sessions", "measuring", "Errors", "Host", "closes"] {
        assert!(!drawn.contains(word), "{word}: {drawn}");
    }
}
