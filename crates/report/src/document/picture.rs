//! A chart as a file of its own, for documents that can't hold it: on a white ground, so that it is
//! read on light and dark pages, with its legend inside, and without anything that runs.

use crate::ReportError;
use crate::charts::ChartFigure;
use askama::Template;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tidemark_core::fnv1a;

/// What stands in a chart file before [`marked_chart`].
pub const CHART_MARK: &str = "<metadata>Made by Tidemark</metadata>";
/// What stands there afterwards, with a digest between.
const MARK_WITH_DIGEST: (&str, &str) = ("<metadata>Made by Tidemark, ", "</metadata>");

/// A chart as a file of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartFile {
    /// Its name in the folder that the document links.
    pub name: String,
    /// An SVG document.
    pub svg: String,
}

/// A document as Markdown, and the charts that it links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Illustrated {
    /// The document.
    pub markdown: String,
    /// In the order in which it links them.
    pub charts: Vec<ChartFile>,
}

/// Pixels of a unit of the drawing, where nothing else says how large it is.
const SHOWN: f64 = 0.4;
/// Height of a line of the legend, in units of the drawing.
const LINE: f64 = 56.0;
/// Where a legend's lines begin, and where their names do.
const LEFT: (f64, f64) = (40.0, 190.0);

#[derive(Template)]
#[template(path = "picture.svg", escape = "html")]
struct Picture<'f> {
    figure: &'f ChartFigure,
    mark: &'static str,
    wide: f64,
    high: f64,
    /// Its width and height where it is shown, in pixels.
    shown: (f64, f64),
    /// What is drawn, as elements.
    drawn: &'f str,
    legend: Vec<LegendLine<'f>>,
}

struct LegendLine<'f> {
    /// An element.
    key: String,
    x: f64,
    /// Of the name's base line.
    y: f64,
    name: &'f str,
}

/// The name of the chart file that is so many behind the first.
pub(super) fn file_name(number: usize) -> String {
    format!("chart-{:02}.svg", number + 1)
}

/// The chart as an SVG document.
///
/// # Errors
/// [`ReportError::Chart`] for a drawing without a size.
pub(super) fn standalone(figure: &ChartFigure) -> Result<String, ReportError> {
    let (wide, high, drawn) = parted(&figure.drawing.svg).ok_or_else(|| {
        ReportError::Chart(format!("the drawing of {:?} has no size", figure.title))
    })?;
    let legend = figure.keys().enumerate().map(|(n, (key, name))| {
        let top = high + LINE * n as f64;
        let placed = format!(
            "<svg x=\"{}\" y=\"{top}\" width=\"120\" height=\"40\" ",
            LEFT.0
        );
        LegendLine {
            key: key.replacen("<svg ", &placed, 1),
            x: LEFT.1,
            y: top + 34.0,
            name,
        }
    });
    let high_with_legend = high + LINE * figure.legend.len() as f64;
    let picture = Picture {
        figure,
        mark: CHART_MARK,
        wide,
        high: high_with_legend,
        shown: ((wide * SHOWN).round(), (high_with_legend * SHOWN).round()),
        drawn,
        legend: legend.collect(),
    };
    let mut svg = format!("{}\n", picture.render()?.trim_end());
    // XML has no other control characters, not even as references (XML 1.0, 2.2).
    svg.retain(|c| c == '\n' || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}')));
    Ok(marked_chart(&svg))
}

/// A chart file with a digest of itself in its mark, by which it is known again as long as nobody changes it.
///
/// ```
/// use tidemark_report::{CHART_MARK, is_unchanged_chart, marked_chart};
/// let chart = marked_chart(&format!("<svg >{CHART_MARK}<path/></svg>"));
/// assert!(is_unchanged_chart(&chart));
/// assert!(!is_unchanged_chart(&chart.replace("<path/>", "<rect/>")));
/// ```
pub fn marked_chart(svg: &str) -> String {
    let (begin, end) = MARK_WITH_DIGEST;
    let mark = format!("{begin}{}{end}", digest(svg));
    svg.replacen(CHART_MARK, &mark, 1)
}

/// Whether this is a chart file as Tidemark wrote it.
pub fn is_unchanged_chart(svg: &str) -> bool {
    let (begin, end) = MARK_WITH_DIGEST;
    let Some((before, rest)) = svg.split_once(begin) else {
        return false;
    };
    let Some((told, after)) = rest.split_once(end) else {
        return false;
    };
    before.starts_with("<svg ") && told == digest(&format!("{before}{CHART_MARK}{after}"))
}

fn digest(svg: &str) -> String {
    format!("{:016x}", fnv1a(svg))
}

/// Width and height of a drawing, and what is inside its element.
fn parted(svg: &str) -> Option<(f64, f64, &str)> {
    let (head, inside) = svg.split_once('>')?;
    let (_, size) = head.split_once("viewBox=\"0 0 ")?;
    let (size, _) = size.split_once('"')?;
    let (wide, high) = size.split_once(' ')?;
    let inside = inside.trim_end().strip_suffix("</svg>")?;
    Some((wide.parse().ok()?, high.parse().ok()?, inside))
}

/// All but what is unreserved in an address (RFC 3986, 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A file's name as a link has it.
pub(super) fn address(name: &str) -> String {
    utf8_percent_encode(name, RESERVED).to_string()
}

/// Whether a document as Markdown links the chart of this name in this folder beside it.
///
/// ```
/// assert!(tidemark_report::links_chart("![a](my%20run-files/chart-01.svg)", "my run-files", "chart-01.svg"));
/// assert!(!tidemark_report::links_chart("![a](run-files/chart-01.svg)", "my run-files", "chart-01.svg"));
/// ```
pub fn links_chart(markdown: &str, folder: &str, chart: &str) -> bool {
    markdown.contains(&format!("]({}/{chart})", address(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::{ChartWidth, Drawing};

    fn figure(svg: &str, legend: &[&str]) -> ChartFigure {
        ChartFigure {
            title: "a </title><script>".into(),
            says: String::new(),
            drawing: Drawing {
                svg: svg.into(),
                rows: Vec::new(),
                plot: (0, 0),
            },
            head: Vec::new(),
            rows: Vec::new(),
            span: ChartWidth::Whole,
            legend: legend.iter().map(|name| name.to_string()).collect(),
        }
    }

    #[test]
    fn a_chart_file_holds_its_ground_its_legend_and_nothing_that_runs() {
        let drawing = "<svg aria-hidden=\"true\" viewBox=\"0 0 800 660\" \
                       xmlns=\"http://www.w3.org/2000/svg\"><text>\u{1b}x</text></svg>";
        let svg = standalone(&figure(drawing, &["<b>", "two"])).unwrap();
        assert!(
            svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"),
            "{svg}"
        );
        assert!(
            is_unchanged_chart(&svg) && svg.contains("<text>x</text>"),
            "{svg}"
        );
        for changed in [
            svg.replace(">x<", ">y<"),
            format!("{svg}<!-- -->"),
            String::new(),
        ] {
            assert!(!is_unchanged_chart(&changed), "{changed}");
        }
        // Two lines below the drawing.
        assert!(svg.contains("viewBox=\"0 0 800 772\""), "{svg}");
        assert!(
            svg.contains("<rect width=\"800\" height=\"772\" fill=\"#FFFFFF\"/>"),
            "{svg}"
        );
        assert!(!svg.contains("<script") && !svg.contains("<b>"), "{svg}");
        assert!(svg.contains(">two</text>"), "{svg}");
        assert!(standalone(&figure("<svg></svg>", &[])).is_err());
    }

    #[test]
    fn every_name_is_an_address() {
        assert_eq!(address("a-1_b.files~"), "a-1_b.files~");
        assert_eq!(address("a b)"), "a%20b%29");
        assert_eq!(address("报"), "%E6%8A%A5");
    }
}
