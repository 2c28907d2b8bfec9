//! Findings of runs that several clients made.

use super::common::{both_languages_use_the_figures, clean, histogram, rules, stats};
use tidemark_analysis::{Figure, Finding, Severity, findings};
use tidemark_core::record::{
    ClientHost, ClientPart, ClientState, ClientUsage, MissingSpan, RunRecord,
};

/// A clean run of four clients that are alike.
fn of_four() -> RunRecord {
    let mut record = clean();
    let client = |index: u32| ClientPart {
        name: format!("c{index}"),
        index,
        host: ClientHost {
            hostname: format!("host-{index}"),
            cores: 4,
            ..ClientHost::default()
        },
        sessions: 2,
        elapsed_s: 20.0,
        all: stats(&histogram(5000, 7.9)),
        usage: ClientUsage {
            cpu_user_s: 20.0,
            seconds: Some(20.0),
            host_busy: Some(0.3),
            ..ClientUsage::default()
        },
        start_late_ms: Some(1.0),
        longest_lag_ms: 20.0,
        ..ClientPart::default()
    };
    record.clients = (0..4).map(client).collect();
    record
}

fn only(record: &RunRecord, rule: &str) -> Finding {
    let found = findings(record).unwrap();
    found.iter().for_each(both_languages_use_the_figures);
    let [only] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(only.rule, rule);
    only.clone()
}

fn text(found: &Finding, name: &str) -> String {
    match found.figure(name) {
        Some(Figure::Text(text)) => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn clients_that_are_alike_are_no_finding() {
    assert_eq!(rules(&of_four()), [""; 0]);
}

#[test]
fn a_client_that_was_lost_is_told_with_its_sessions_and_times() {
    let mut record = of_four();
    record.clients[1].state = ClientState::Lost("no heartbeat".into());
    record.clients[1].missing = vec![MissingSpan {
        start_ms: 12_500,
        length_ms: 7500.0,
        sessions: 2,
    }];
    record.clients[3].state = ClientState::Absent;
    let found = only(&record, "clients-missing");
    assert_eq!(found.severity, Severity::Suspect);
    assert_eq!(text(&found, "which"), "c1 12.5–20.0 s; c3");
    assert!(matches!(found.figure("sessions"), Some(Figure::Count(4))));
    // An interval that came late is no loss, and that users were fewer is told once.
    record = of_four();
    record.clients[0].missing = vec![MissingSpan {
        start_ms: 3000,
        length_ms: 600.0,
        sessions: 2,
    }];
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn a_client_that_is_full_while_another_is_not_is_told() {
    let mut record = of_four();
    record.clients[2].usage.host_busy = Some(0.97);
    let found = only(&record, "one-client-bound");
    assert_eq!(text(&found, "client"), "c2");
    // Where the system does not tell, what the client used is known.
    record.clients[2].usage.host_busy = None;
    record.clients[2].usage.cpu_user_s = 78.0;
    assert_eq!(text(&only(&record, "one-client-bound"), "client"), "c2");
    record.clients[2].usage.cpu_user_s = 60.0;
    assert_eq!(rules(&record), [""; 0]);
    // All are full: that is no skew. Nor are two clients of one machine.
    for client in &mut record.clients {
        client.usage.host_busy = Some(0.95);
    }
    assert_eq!(rules(&record), [""; 0]);
    record.clients[0].usage.host_busy = Some(0.1);
    for client in &mut record.clients {
        client.host.hostname = "one".into();
    }
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn a_client_that_was_late_or_did_not_run_is_told() {
    let mut record = of_four();
    record.clients[1].start_late_ms = Some(99.0);
    record.clients[2].longest_lag_ms = 499.0;
    assert_eq!(rules(&record), [""; 0]);
    record.clients[1].start_late_ms = Some(150.0);
    let found = only(&record, "client-lagged");
    assert_eq!(
        (found.severity, text(&found, "client")),
        (Severity::Note, "c1".into())
    );
    record.clients[2].longest_lag_ms = 2500.0;
    let found = only(&record, "client-lagged");
    assert_eq!(
        (found.severity, text(&found, "client")),
        (Severity::Suspect, "c2".into())
    );
}

#[test]
fn clients_of_equal_shares_that_did_not_the_same_are_told() {
    let mut record = of_four();
    record.clients[3].all = stats(&histogram(4400, 7.9));
    assert_eq!(rules(&record), [""; 0]);
    record.clients[3].all = stats(&histogram(4000, 7.9));
    let found = only(&record, "clients-unequal");
    assert_eq!(
        (found.severity, text(&found, "low")),
        (Severity::Note, "c3".into())
    );
    // With sessions to its share it is no less than the others.
    record.clients[3].sessions_opened = Some(1);
    record.clients[3].all = stats(&histogram(2500, 7.9));
    assert_eq!(rules(&record), [""; 0]);
    record.clients[3].all = stats(&histogram(2500, 16.0));
    let found = only(&record, "clients-unequal");
    assert_eq!(
        (found.severity, text(&found, "high")),
        (Severity::Suspect, "c3".into())
    );
    // Of few transactions nothing can be said.
    record.clients[3].all = stats(&histogram(100, 16.0));
    assert_eq!(rules(&record), [""; 0]);
}
