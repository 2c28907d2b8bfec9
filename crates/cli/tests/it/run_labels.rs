//! Tags and a note that a run is given when it is made.

use super::common::Workdir;

const RUN: [&str; 5] = [
    "sysbench",
    "oltp_point_select",
    "--db-driver=sqlite",
    "--table-size=100",
    "--time=1",
];

#[test]
fn a_run_is_recorded_with_its_tags_and_its_note() {
    let work = Workdir::new();
    work.ok(&[&RUN[..4], &["prepare"]].concat());
    let labels = ["--tag=before,基线", "--note=as delivered", "run"];
    work.ok(&[&RUN[..], &labels].concat());
    let shown = work.ok(&["show", "last"]).out;
    assert!(
        shown.contains("as delivered") && shown.contains("before, 基线"),
        "{shown}"
    );
    // A repetition is another run, and is labelled by itself.
    work.ok(&["exec", "--from=last", "--tag=after"]);
    assert_eq!(work.ok(&["note", "last"]).out, "");
    assert_eq!(work.ok(&["tag"]).out, "after\nbefore\n基线\n");
}

#[test]
fn a_word_that_can_be_no_tag_is_refused_before_the_run() {
    let work = Workdir::new();
    work.ok(&[&RUN[..4], &["prepare"]].concat());
    for bad in ["--tag=+before", "--tag=two words"] {
        let refused = work.run(&[&RUN[..], &[bad, "run"]].concat());
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.err.contains(&bad[6..]), "{refused:?}");
    }
    assert!(!work.path().join("store.db").exists());
}
