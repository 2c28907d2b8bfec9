//! What a run would observe of hosts and database: each source is asked once.

use super::basics::KnownTarget;
use super::told::{Area, CheckLevel, Teller};
use crate::texts::doctor as texts;
use std::time::Duration;
use tidemark_core::Observe;
use tidemark_core::record::{GapKind, Observed};
use tidemark_drivers::Connector;
use tidemark_observe::{EndpointAccess, Observing, look, sources};

/// Longer than a session and a statement of a source may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Tells of each source whether it can be had, and what it can't see.
pub fn examine(connector: &Connector, known: &KnownTarget, teller: &Teller) {
    let all = sources(&Observing {
        observe: &Observe::Auto,
        host: None,
        nodes: None,
        prometheus: None,
        access: EndpointAccess::default(),
        connector,
        engine: Some(known.server.engine),
        on_client: known.on_client,
        pid: None,
        makes_load: false,
        by_clients: false,
    });
    let seen = look(all.sources, PATIENCE);
    for observed in seen.iter().chain(&all.unseen) {
        tell(observed, teller);
    }
}

fn tell(observed: &Observed, teller: &Teller) {
    let (source, lang) = (observed.source.as_str(), teller.lang);
    let has_failed = observed.gaps.iter().any(|gap| gap.kind == GapKind::Failed);
    if observed.sampled && !has_failed {
        let says = texts::observable(lang, source);
        teller.tell(Area::Sources, CheckLevel::Ok, source, &says);
    }
    for gap in &observed.gaps {
        let says = match gap.kind {
            // The report's words are of a run that ended.
            GapKind::Stalled => texts::source_stalled(lang, source, PATIENCE.as_secs()),
            _ => tidemark_report::unseen(source, gap, lang),
        };
        teller.tell(Area::Sources, CheckLevel::Note, source, &says);
    }
}
