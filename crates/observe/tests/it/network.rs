//! The way between client and database: sockets and pings.

use super::kept::{mean, named, points};
use super::servers::{LOAD, load, observed, of, prepare};
use std::time::Duration;
use tidemark_core::record::GapKind;
use tidemark_testkit::Server;

#[test]
fn sockets_and_pings_tell_of_the_way_and_leave_their_own_out() {
    for server in [Server::mariadb().unwrap(), Server::postgres().unwrap()] {
        prepare(server.endpoint());
        let url = server.url();
        let (series, ended, _) = observed(&url, "network", || {
            load(&url, &LOAD, Duration::from_millis(4300));
        });
        let network = of(&ended, "network");
        assert!(network.sampled && network.gaps.is_empty(), "{ended:?}");
        let of_name = |name: &str| {
            let found = named(&series, "network", name);
            assert_eq!(found.len(), 1, "{name}: {series:?}");
            mean(found[0])
        };
        let (least, rtt, most) = (
            of_name("network.rtt.min"),
            of_name("network.rtt"),
            of_name("network.rtt.max"),
        );
        // One session: its mean is its least and its most.
        assert!(least > 0.0 && (least - rtt).abs() < 0.002 && (most - rtt).abs() < 0.002);
        // A round trip on one host.
        let shortest = of_name("network.min_rtt");
        assert!(
            shortest > 0.0 && shortest <= rtt + 0.001,
            "{shortest} of {rtt}"
        );
        let ping = of_name("ping.latency");
        assert!(ping > 0.0 && ping < 500.0, "{ping}");
        assert_eq!(of_name("network.retransmits"), 0.0);
        for name in ["network.session-sent", "network.session-received"] {
            assert!(of_name(name) > 0.0, "{name}: {series:?}");
        }

        // Without the run's sessions there are those that observe, and they are no news.
        let (series, _, _) = observed(&url, "network,server-status", || {
            std::thread::sleep(Duration::from_millis(2300));
        });
        assert!(
            named(&series, "network", "network.rtt").is_empty(),
            "{series:?}"
        );
        let pings = points(named(&series, "network", "ping.latency")[0]);
        assert!((1..=3).contains(&pings.len()), "{pings:?}");
    }
}

#[test]
fn a_unix_socket_has_pings_alone() {
    let server = Server::mariadb().unwrap();
    prepare(server.endpoint());
    let url = server.socket_url();
    let (series, ended, _) = observed(&url, "network", || {
        load(&url, &LOAD, Duration::from_millis(2300));
    });
    let network = of(&ended, "network");
    assert!(network.sampled, "{ended:?}");
    assert_eq!(network.gaps[0].kind, GapKind::NoTcp, "{ended:?}");
    assert!(!named(&series, "network", "ping.latency").is_empty());
    assert!(named(&series, "network", "network.rtt").is_empty());
}

#[test]
fn a_server_that_hangs_answers_its_ping_late() {
    let server = Server::postgres().unwrap();
    let (series, _, took) = observed(&server.url(), "network", || {
        std::thread::sleep(Duration::from_millis(1300));
        server.pause().unwrap();
        std::thread::sleep(Duration::from_millis(1200));
        server.resume().unwrap();
        std::thread::sleep(Duration::from_millis(2000));
    });
    assert!(took < Duration::from_millis(1500), "{took:?}");
    let pings = named(&series, "network", "ping.latency");
    let longest = pings[0].summary().unwrap().unwrap().max;
    assert!((300.0..2500.0).contains(&longest), "{longest}");
}
