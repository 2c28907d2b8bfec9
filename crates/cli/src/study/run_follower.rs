//! The run of the step in progress, as it writes itself into the store.

use tidemark_core::record::RunRecord;
use tidemark_live::{NowRunning, Picture, QueriesPicture, RunInfo, StudyPicture, View};
use tidemark_report::Lang;
use tidemark_store::Store;
use tidemark_workloads::Definition;

/// What of a run a view has been told.
#[derive(Debug, Default)]
pub struct RunFollower {
    /// Whether it was told what run it is.
    begun: bool,
    /// So many of its intervals.
    intervals: u64,
}

impl RunFollower {
    /// Tells a view what it does not know yet. What can't be read is left for the next look: what is
    /// only shown ends no study.
    pub fn look(&mut self, store: &Store, run: &str, view: &View<StudyPicture>, lang: Lang) {
        if !self.begun {
            let Ok(Some(record)) = store.record_so_far(run) else {
                return;
            };
            view.change(move |p| p.run_begins(now_running(&record, lang)));
            self.begun = true;
        }
        let Ok(new) = store.intervals_from(run, self.intervals) else {
            return;
        };
        self.intervals += new.len() as u64;
        if !new.is_empty() {
            view.change(move |p| p.intervals(&new));
        }
    }
}

fn now_running(record: &RunRecord, lang: Lang) -> NowRunning {
    let server = record.server.as_ref();
    let searches = record.options.get("find-max");
    let info = RunInfo {
        id: record.id.clone(),
        workload: record.workload.clone(),
        engine: server.map_or_else(String::new, |s| s.engine.to_string()),
        version: server.map_or_else(String::new, |s| s.version.clone()),
        tidemark_version: record.tidemark_version.clone(),
        sessions: record.sessions_opened.unwrap_or(record.sessions),
        terminals: record.terminals.unwrap_or(record.sessions),
        open_loop: record.rate.is_some() || searches.is_some_and(|o| !o.value.is_empty()),
        lang,
        ..RunInfo::default()
    };
    let definition = tidemark_workloads::find(&record.workload).ok();
    let family = definition.and_then(Definition::of_family);
    match family.is_some_and(|f| f.runs.are_queries()) {
        true => NowRunning::Queries(Box::new(QueriesPicture::of_other_process(info))),
        false => NowRunning::Run(Box::new(Picture::of_other_process(info))),
    }
}
