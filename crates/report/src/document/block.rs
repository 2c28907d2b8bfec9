//! What a document is made of, the same for every format.

use crate::charts::ChartFigure;
use crate::findings::Said;
use tidemark_core::ReportPlace;

/// A table; its first column names the row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grid {
    pub caption: Option<&'static str>,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// For each column whether it holds numbers.
    pub numbers: Vec<bool>,
    /// So many columns are names and values as they are typed.
    pub code: usize,
    /// Whether the last row is the sum of the others.
    pub totals: bool,
    /// Whether a page sorts it by the column that is clicked.
    pub sortable: bool,
}

impl Grid {
    pub fn new(head: impl IntoIterator<Item = (String, bool)>) -> Self {
        let (head, numbers) = head.into_iter().unzip();
        Self {
            head,
            numbers,
            ..Self::default()
        }
    }

    /// With columns of text, then columns of numbers.
    pub fn of(texts: &[&str], numbers: &[&str]) -> Self {
        let texts = texts.iter().map(|head| (head.to_string(), false));
        let numbers = numbers.iter().map(|head| (head.to_string(), true));
        Self::new(texts.chain(numbers))
    }

    /// Whether a column holds numbers.
    pub fn is_number(&self, column: &usize) -> bool {
        self.numbers.get(*column).copied().unwrap_or(false)
    }

    /// Leaves out columns in which no row says anything.
    pub fn without_empty_columns(mut self) -> Self {
        let says = |column: usize| {
            let cell =
                |row: &Vec<String>| row.get(column).is_some_and(|c| c != "–" && !c.is_empty());
            self.rows.iter().any(cell)
        };
        let keep: Vec<bool> = (0..self.head.len()).map(|c| c == 0 || says(c)).collect();
        fn kept<T>(cells: &mut Vec<T>, keep: &[bool]) {
            let mut keep = keep.iter();
            cells.retain(|_| keep.next().copied().unwrap_or(true));
        }
        kept(&mut self.head, &keep);
        kept(&mut self.numbers, &keep);
        self.rows.iter_mut().for_each(|row| kept(row, &keep));
        self
    }
}

/// A small picture over time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Panel {
    pub label: String,
    /// The `<svg>` element.
    pub svg: String,
    /// The same in words.
    pub says: String,
    /// Of each line its sign, an `<svg>` element, and its name with its figures; empty where there is one.
    pub legend: Vec<(String, String)>,
    /// Beside the label.
    pub figures: Vec<String>,
    /// Whether it takes a page's width, with its times below those of charts.
    pub wide: bool,
}

/// A rule's finding.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    pub said: Said,
    /// In which runs; empty in a document of one.
    pub runs: String,
}

/// A piece of a sentence, and whether it is a value.
#[derive(Debug, Clone)]
pub(crate) struct TextPiece {
    pub text: String,
    pub is_value: bool,
}

/// A piece of a document.
#[derive(Debug)]
pub(crate) enum Block {
    /// A heading within a part.
    Heading(String),
    /// What must be known before the figures are used.
    Warning(String),
    /// The result in one sentence.
    Headline(Vec<TextPiece>),
    /// A sentence that stands out.
    Lead(String),
    /// A paragraph.
    Say(String),
    /// A paragraph of several sentences, which a terminal gets one by one.
    Sentences(Vec<String>),
    /// A remark.
    Fine(String),
    /// A list of sentences.
    List(Vec<String>),
    /// Key figures: names and values.
    Tiles(Vec<(String, String)>),
    /// Names and values.
    Facts(Vec<(&'static str, String)>),
    Table(Grid),
    Findings(Vec<Judged>),
    Figures(Vec<ChartFigure>),
    Panels(Vec<Panel>),
    /// How panels are read: only where they are drawn.
    OfPanels(String),
    /// Lines as they are, in a language (`sh`, `toml`, `text`).
    Code(&'static str, String),
    /// What is shown on demand.
    Fold(String, Vec<Block>),
    /// An author's own text, its references resolved: as Markdown, and as HTML without anything that
    /// runs.
    Authored {
        markdown: String,
        html: String,
    },
}

/// What a part is in the whole, for what is to stand beside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// What the reader came for.
    Answer,
    /// What it was measured with and on.
    Environment,
    /// Figures and what they say.
    Results,
    /// An author's own text.
    Authored(ReportPlace),
    #[default]
    Other,
}

/// How much of a page's width a part takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Width {
    #[default]
    Whole,
    Half,
    Third,
}

/// A part of a document with a heading of its own; without one its blocks stand alone.
#[derive(Debug)]
pub(crate) struct DocumentPart {
    pub title: String,
    pub blocks: Vec<Block>,
    /// Whether it is left out on paper.
    pub screen_only: bool,
    pub width: Width,
    pub role: Role,
}

impl DocumentPart {
    pub fn new(title: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self {
            title: title.into(),
            blocks,
            screen_only: false,
            width: Width::Whole,
            role: Role::Other,
        }
    }

    pub fn role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    pub fn width(self, width: Width) -> Self {
        Self { width, ..self }
    }

    /// Its element's class.
    pub fn class(&self) -> &'static str {
        match (self.width, self.screen_only) {
            (Width::Whole, false) => "chapter",
            (Width::Whole, true) => "chapter screen-only",
            (Width::Half, _) => "chapter half",
            (Width::Third, _) => "chapter third",
        }
    }
}
