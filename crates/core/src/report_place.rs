//! Where in a report its author's own text stands.

use crate::did_you_mean;
use std::str::FromStr;

/// A place in a report for its author's own text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReportPlace {
    /// What follows: behind the summary.
    Conclusion,
    /// What the test was made for: behind the conclusion.
    Purpose,
    /// Which components are where: behind the environment.
    Topology,
    /// What they run on: behind the topology.
    Machines,
    /// What was changed, and why: behind the machines.
    Changes,
    /// What the results mean: behind them.
    Analysis,
}

/// Names, and words of a heading that mean the place, in English and Chinese.
const PLACES: [(ReportPlace, &str, &[&str]); 6] = [
    (
        ReportPlace::Conclusion,
        "conclusion",
        &["conclusion", "summary", "结论", "总结"],
    ),
    (
        ReportPlace::Purpose,
        "purpose",
        &[
            "purpose",
            "goal",
            "background",
            "introduction",
            "目的",
            "背景",
            "目标",
        ],
    ),
    (
        ReportPlace::Topology,
        "topology",
        &["topology", "architecture", "拓扑", "架构"],
    ),
    (
        ReportPlace::Machines,
        "machines",
        &[
            "machine",
            "hardware",
            "host",
            "environment",
            "机器",
            "硬件",
            "主机",
            "环境",
        ],
    ),
    (
        ReportPlace::Changes,
        "changes",
        &[
            "change",
            "tuning",
            "configuration",
            "调整",
            "调优",
            "参数",
            "配置",
            "修改",
        ],
    ),
    (
        ReportPlace::Analysis,
        "analysis",
        &["analysis", "bottleneck", "discussion", "分析", "瓶颈"],
    ),
];

impl ReportPlace {
    /// Every name, in the order of the report.
    pub fn names() -> [&'static str; 6] {
        PLACES.map(|(_, name, _)| name)
    }

    /// The place that a heading's words mean.
    ///
    /// ```
    /// use tidemark_core::ReportPlace;
    /// assert_eq!(ReportPlace::of_heading("2. 测试目的"), Some(ReportPlace::Purpose));
    /// assert_eq!(ReportPlace::of_heading("Cluster topology"), Some(ReportPlace::Topology));
    /// assert_eq!(ReportPlace::of_heading("Thanks"), None);
    /// ```
    pub fn of_heading(heading: &str) -> Option<Self> {
        let heading = heading.to_lowercase();
        let means = |words: &[&str]| words.iter().any(|word| heading.contains(word));
        let found = PLACES.iter().find(|(_, _, words)| means(words));
        found.map(|(place, ..)| *place)
    }
}

impl FromStr for ReportPlace {
    type Err = String;

    /// By its name; the error names all places, and the nearest.
    fn from_str(name: &str) -> Result<Self, String> {
        let found = PLACES.iter().find(|(_, known, _)| *known == name);
        found.map(|(place, ..)| *place).ok_or_else(|| {
            format!(
                "place {name:?} is not known; there are {}{}",
                Self::names().join(", "),
                did_you_mean(name, Self::names())
            )
        })
    }
}
