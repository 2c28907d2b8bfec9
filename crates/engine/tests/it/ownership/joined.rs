//! A load that others help with is nobody's alone.

use super::loads::Load;
use super::place::Place;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use tidemark_core::{LeftBehind, StudyLoad};
use tidemark_engine::{LoadObserver, Replace};

/// Waits with the first row until another client has joined.
struct Waits(Option<Receiver<()>>);

impl LoadObserver for Waits {
    fn creating(&mut self, _: &str, _: u64, _: u64) {}
    fn progress(&mut self, _: u64, _: u64) {
        if let Some(joined) = self.0.take() {
            joined.recv_timeout(Duration::from_secs(60)).unwrap();
        }
    }
    fn indexing(&mut self, _: &str) {}
    fn verifying(&mut self) {}
}

/// Tells that it has joined.
struct Joins(Sender<()>);

impl LoadObserver for Joins {
    fn creating(&mut self, _: &str, _: u64, _: u64) {}
    fn joining(&mut self, others: usize) {
        assert_eq!(others, 1);
        // The other one may have given up.
        let _told = self.0.send(());
    }
    fn progress(&mut self, _: u64, _: u64) {}
    fn indexing(&mut self, _: &str) {}
    fn verifying(&mut self) {}
}

/// A study's load with which a client helps that is none of the study's: the study's next load may not
/// drop what both made.
pub fn play(place: &Place) {
    let of_study = Load {
        tables: 1,
        rows: 200,
        chunk_rows: 2,
        seed: 1,
        replace: Replace::Nothing,
        study: Some(StudyLoad {
            study: "study-joined".into(),
            left: LeftBehind::AsLoaded,
            sums: true,
        }),
        summed_rows: u64::MAX,
    };
    let (told, joined) = channel();
    let connector = place.connector();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| of_study.observed(&connector, &mut Waits(Some(joined))));
        while place.describe("sbtest1").is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let by_hand = Load {
            study: None,
            ..of_study.clone()
        };
        by_hand.observed(&connector, &mut Joins(told)).unwrap();
        first.join().unwrap().unwrap();
    });
    let next = Load {
        rows: 5,
        ..of_study.clone()
    };
    let said = next.run(place).unwrap_err().to_string();
    assert!(said.contains("which this study did not load"), "{said}");
    place.clear();
}
