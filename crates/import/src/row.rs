//! A row of a table while its cells are read: what they become, and which were not understood.

use crate::cell::{CellNumber, QuantityKind, TableCell, cell};
use crate::changes::{Sign, are_in_order, sign};
use crate::draft::{Draft, From};
use crate::groups::Of;
use crate::headings::{ColumnMeaning, SUCCESS_SHARE, THREADS_EACH};
use crate::numeral::Notation;
use crate::scan::Number;
use std::collections::{BTreeMap, BTreeSet};

/// A figure whose only separator may be of thousands or of decimals.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ambiguous {
    pub line: u64,
    pub name: String,
    /// Its cell, as it is told where it turns out to be unclear.
    pub shown: String,
}

/// What tells apart runs whose figures stand side by side.
const VARIANT: &str = "variant";
/// Ends of the names of figures: by how many percent a figure differs from another run's, and that.
const CHANGE: &str = "_change_percent";
/// The same of the second one's multiple of the first.
const RATIO: &str = "_ratio";
const BASE: &str = "_base";
/// That the sign of a change says whether the figure rose.
const SIGNED: &str = "_change_signed";

/// A row.
pub(crate) struct DraftRow {
    run: Draft,
    /// Whether a column says what was run.
    is_named: bool,
    /// Whether it may be a moment of a run.
    is_over_time: bool,
    line: u64,
    notation: Notation,
    /// Figures of one of several runs, by what tells them apart.
    of_runs: BTreeMap<String, Draft>,
    /// The runs in the order of their columns.
    order: Vec<String>,
    /// How much a figure of the second run differs from the first one's: in percent, or a multiple.
    changes: Vec<(Option<String>, &'static str, Number, Sign)>,
    /// Figures that not every client's column states.
    incomplete: BTreeSet<String>,
    /// Options of which two columns state another: none of them is known.
    denied: BTreeSet<&'static str>,
    /// The heading and the cell that an option is from.
    options: BTreeMap<&'static str, (String, String)>,
    unclear: Vec<String>,
    ambiguous: Vec<Ambiguous>,
}

impl DraftRow {
    pub fn of(run: Draft, line: u64, notation: Notation) -> Self {
        Self {
            run,
            is_named: false,
            is_over_time: false,
            line,
            notation,
            of_runs: BTreeMap::new(),
            order: Vec::new(),
            changes: Vec::new(),
            incomplete: BTreeSet::new(),
            denied: BTreeSet::new(),
            options: BTreeMap::new(),
            unclear: Vec::new(),
            ambiguous: Vec::new(),
        }
    }

    /// What was run: of several columns together, or rows of two tests would be repeats of one.
    pub fn label(&mut self, cell: &str) {
        let named = match std::mem::replace(&mut self.is_named, true) {
            true => format!("{} {cell}", self.run.workload),
            false => cell.into(),
        };
        self.run.workload = named.chars().take(60).collect();
    }

    /// It may be a moment of a run.
    pub fn over_time(&mut self) {
        self.is_over_time = true;
    }

    /// How many sessions there were.
    pub fn sessions(&mut self, sessions: f64) {
        let sessions = sessions.to_string();
        self.run
            .option("threads", &sessions, self.line, From::Output);
    }

    /// Whose row it is.
    pub fn client(&mut self, client: Option<String>) {
        self.run.client = client;
    }

    /// What is kept beside the figures.
    pub fn aside(&mut self, name: &str, cell: &str) {
        self.run.option(name, cell, self.line, From::Output);
    }

    /// What has a name that is not known.
    pub fn unknown(&mut self, name: &str, cell: &str, is_told: bool) {
        if is_told {
            self.unclear(name, cell);
        }
        if !name.is_empty() {
            self.aside(name, cell);
        }
    }

    /// By how much two columns are said to differ: kept beside the figures, and to be checked.
    pub fn change(&mut self, name: &str, of: Option<&str>, cell: &str) {
        let before = self.run.options.get(name);
        match before.is_some_and(|o| o.line == self.line && o.value != cell.trim()) {
            // Columns of one name are of several figures.
            true => self.aside(&format!("{name} ({})", of.unwrap_or("2")), cell),
            false => self.aside(name, cell),
        }
        if let Some(number) = multiple(cell) {
            let of = of.map(String::from);
            self.changes.push((of, RATIO, number, Sign::Unclear));
            return;
        }
        let by = match cell.contains(['↓', '▼']) {
            true => -1.0,
            false => 1.0,
        };
        let text = cell.trim_matches(|c: char| c.is_whitespace() || "↑↓▲▼%+".contains(c));
        let is_percent = cell.contains('%') || name.contains('%');
        if let (Some(number), true) = (decimal(text), is_percent) {
            let number = Number {
                value: number.value * by,
                ..number
            };
            let of = of.map(String::from);
            self.changes.push((of, CHANGE, number, sign(name, cell)));
        }
    }

    /// Puts what two runs are said to differ by beside the second one's figure.
    fn place_changes(&mut self) {
        let [first, second] = self.order.as_slice() else {
            return;
        };
        let Some(base) = self.of_runs.get(first).map(|d| d.figures.clone()) else {
            return;
        };
        let Some(run) = self.of_runs.get_mut(second) else {
            return;
        };
        let in_order = are_in_order(first, second);
        for (of, end, number, sign) in self.changes.drain(..) {
            let mut both = base.iter().filter(|f| run.has("", &f.name));
            let name = match (of, both.next(), both.next()) {
                (Some(name), ..) => name,
                (None, Some(only), None) => only.name.clone(),
                _ => continue,
            };
            let Some(from) = base.iter().find(|f| f.name == name && f.of.is_empty()) else {
                continue;
            };
            run.figure("", &format!("{name}{end}"), number, self.line);
            if in_order && sign.is_of(&name) {
                let yes = Number {
                    value: 1.0,
                    decimals: 0,
                };
                run.figure("", &format!("{name}{SIGNED}"), yes, self.line);
            }
            let before = Number {
                value: from.value,
                decimals: 0,
            };
            run.figure("", &format!("{name}{BASE}"), before, self.line);
            if let Some(last) = run.figures.last_mut() {
                last.rounding = from.rounding;
            }
        }
    }

    /// Its figures are those of all clients together.
    pub fn total(&mut self) {
        self.run.is_total = self.run.has_figures();
    }

    fn unclear(&mut self, name: &str, cell: &str) {
        self.unclear.push(format!("{name}: {cell}"));
    }

    /// A cell of a figure or an option.
    pub fn take(&mut self, name: &str, column: &ColumnMeaning, of: &Of, text: &str) {
        let taken = match column {
            ColumnMeaning::Option(option) => self.option(name, option, text),
            ColumnMeaning::Figure(figure, factor) => self.figure(name, figure, *factor, of, text),
            ColumnMeaning::Several(figures) => {
                let parts: Vec<&str> = text.split('/').map(str::trim).collect();
                let is_whole = parts.len() == figures.len();
                let begun = self.run.figures.len();
                let taken = is_whole
                    && figures.iter().zip(&parts).all(|((figure, factor), part)| {
                        self.figure(name, figure, *factor, of, part)
                    });
                if !taken {
                    self.run.figures.truncate(begun);
                }
                taken || crate::cell::is_missing(text)
            }
            _ => true,
        };
        if !taken {
            self.unclear(name, text);
        }
    }

    fn option(&mut self, heading: &str, option: &'static str, text: &str) -> bool {
        let all = match cell(text, QuantityKind::of(option), self.notation) {
            TableCell::Missing => return true,
            TableCell::Unclear => return false,
            TableCell::One(value) => amount(&value, 1.0),
            TableCell::Sum(terms, sum) => {
                // Warehouses are shared or not; sessions never are.
                let all: f64 = terms.iter().map(|v| amount(v, 1.0)).sum();
                if sum.is_some_and(|sum| amount(&sum, 1.0) != all) {
                    return false;
                }
                all
            }
        };
        let value = match option {
            "think-time" => format!("{all}s"),
            _ => all.to_string(),
        };
        let value = if all == 0.0 { "0".into() } else { value };
        // Two columns may both be named so: clients and the threads of each, or of all.
        let stated = self.run.options.get(option);
        let is_other = stated.is_some_and(|o| o.line == self.line && o.value != value);
        if is_other || self.denied.contains(option) {
            self.run.options.remove(option);
            self.denied.insert(option);
            if let Some((first, cell)) = self.options.remove(option) {
                self.aside(&first, &cell);
                self.unclear(&first, &cell);
            }
            self.aside(heading, text);
            return false;
        }
        self.run.option(option, &value, self.line, From::Output);
        self.options.insert(option, (heading.into(), text.into()));
        true
    }

    fn figure(&mut self, heading: &str, name: &str, factor: f64, of: &Of, text: &str) -> bool {
        // `10:15:00` below `Time` is when it was, not how long.
        let is_clock = text.matches(':').count() == 2 && !text.starts_with("00:");
        let is_bare = matches!(heading.to_lowercase().as_str(), "time" | "时间");
        if name == "elapsed_s" && is_clock && is_bare {
            self.aside(heading, text);
            return self.is_over_time;
        }
        let read = cell(text, QuantityKind::of(name), self.notation);
        // Seconds since 1970 are none of a run; in a table over time their steps count.
        let is_stamp = |v: &CellNumber| v.number.value >= 1e9 && v.factor.is_none();
        if name == "elapsed_s" && matches!(&read, TableCell::One(v) if is_stamp(v)) {
            self.aside(heading, text);
            return self.is_over_time;
        }
        let (terms, sum) = match read {
            TableCell::One(value) => (vec![value], None),
            TableCell::Sum(terms, sum) => (terms, sum),
            none => {
                if matches!(of, Of::Client(_)) {
                    self.incomplete.insert(name.into());
                }
                return none == TableCell::Missing;
            }
        };
        let all = || terms.iter().chain(&sum);
        let percents = all().filter(|v| v.percent).count();
        let name = match percents > 0 && name == "ignored_errors" {
            true => "error_share",
            false => name,
        };
        let is_share = QuantityKind::of(name) == QuantityKind::Share;
        if percents > 0 && (!is_share || percents < all().count()) {
            return false;
        }
        // 0.4 may be a share or a percentage.
        let is_small = all().any(|v| v.number.value > 0.0 && v.number.value <= 1.0);
        let is_error = name == "error_share";
        if is_share && percents == 0 && !heading.contains('%') {
            let unsure = is_small || is_error && all().any(|v| v.number.value > 0.0);
            if unsure {
                return false;
            }
        }
        let is_success = name == SUCCESS_SHARE;
        if is_success && all().any(|v| !(0.0..=100.0).contains(&v.number.value)) {
            return false;
        }
        let (name, terms, sum) = match is_success {
            true => {
                let terms: Vec<CellNumber> = terms.into_iter().map(failures).collect();
                ("error_share", terms, sum.map(failures))
            }
            false => (name, terms, sum),
        };
        let all = || terms.iter().chain(&sum);
        let draft = match of {
            Of::Unclear => return false,
            Of::Run(run) => {
                if !self.order.contains(run) {
                    self.order.push(run.clone());
                }
                self.of_runs.entry(run.clone()).or_default()
            }
            Of::Row | Of::Client(_) => &mut self.run,
        };
        let part = match of {
            Of::Client(client) => client.as_str(),
            _ => "",
        };
        if all().any(|v| v.ambiguous) {
            self.ambiguous.push(Ambiguous {
                line: self.line,
                name: name.into(),
                shown: format!("{heading}: {text}"),
            });
        }
        let each = |v: &CellNumber| v.factor.unwrap_or(factor);
        if let ([one], None) = (terms.as_slice(), sum) {
            draft.scaled(part, name, one.number, each(one), self.line);
            return true;
        }
        // Clients within a client are none.
        if !part.is_empty() {
            return false;
        }
        for (at, one) in terms.iter().enumerate() {
            let client = format!("client {}", at + 1);
            draft.scaled(&client, name, one.number, each(one), self.line);
        }
        if let Some(sum) = sum {
            draft.scaled("", name, sum.number, each(&sum), self.line);
        } else if adds_up(name) {
            let value = terms.iter().map(|v| amount(v, factor)).sum();
            let decimals = terms.iter().map(|v| v.number.decimals).min().unwrap_or(0);
            draft.figure("", name, Number { value, decimals }, self.line);
            draft.derived.insert(name.into());
        }
        true
    }

    /// The run alone, though it has no figures yet, and what was not understood.
    pub fn end_one(self) -> (Draft, Vec<String>, Vec<Ambiguous>) {
        (self.run, self.unclear, self.ambiguous)
    }

    /// The runs that have figures, and what was not understood.
    pub fn end(mut self) -> (Vec<Draft>, Vec<String>, Vec<Ambiguous>) {
        self.add_clients_up();
        self.count_sessions();
        self.place_changes();
        let mut runs = Vec::new();
        for name in self.order {
            let Some(of_run) = self.of_runs.remove(&name) else {
                continue;
            };
            let mut run = self.run.clone();
            run.figures.extend(of_run.figures);
            run.types.extend(of_run.types);
            run.derived.extend(of_run.derived);
            run.option(VARIANT, &name, self.line, From::Output);
            runs.push(run);
        }
        if runs.is_empty() {
            runs.push(self.run);
        }
        runs.retain(Draft::has_figures);
        (runs, self.unclear, self.ambiguous)
    }

    /// Sessions of all clients, where the row states those of each and how many clients it is of: by
    /// their columns, or because it stands in one client's part of the document.
    fn count_sessions(&mut self) {
        let Some(each) = self.run.option_number(THREADS_EACH) else {
            return;
        };
        let of_clients = self.run.figures.iter().map(|f| f.of.as_str());
        let clients: BTreeSet<&str> = of_clients.filter(|of| of.starts_with("client ")).collect();
        let clients = match (clients.len(), &self.run.client) {
            (0, Some(_)) => 1,
            (n, _) => n,
        };
        if clients > 0 {
            let all = (each * clients as f64).to_string();
            self.run.option("threads", &all, self.line, From::Output);
        }
    }

    /// What clients in columns of their own have together, where no column states it.
    fn add_clients_up(&mut self) {
        let of_clients = self
            .run
            .figures
            .iter()
            .filter(|f| f.of.starts_with("client "));
        let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        for figure in of_clients.filter(|f| adds_up(&f.name)) {
            let (sum, rounding) = sums.entry(figure.name.clone()).or_default();
            *sum += figure.value;
            *rounding += figure.rounding;
        }
        for (name, (value, rounding)) in sums {
            if self.run.has("", &name) || self.incomplete.contains(&name) {
                continue;
            }
            let number = Number { value, decimals: 0 };
            self.run.figure("", &name, number, self.line);
            if let Some(last) = self.run.figures.last_mut() {
                last.rounding = rounding;
            }
            self.run.derived.insert(name);
        }
    }
}

/// A number of plain digits.
fn decimal(text: &str) -> Option<Number> {
    let decimals = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    Some(Number {
        value: text.parse().ok()?,
        decimals: decimals.min(9) as u8,
    })
}

/// `1.2x`, `1.2 倍`: how many times one figure is the other.
pub(crate) fn multiple(cell: &str) -> Option<Number> {
    let text = cell.trim().strip_suffix(['x', 'X', '×', '倍'])?;
    decimal(text.trim_end()).filter(|n| n.value > 0.0)
}

fn amount(value: &CellNumber, factor: f64) -> f64 {
    value.number.value * value.factor.unwrap_or(factor)
}

/// A percentage of successes as that of failures, with as many digits.
fn failures(mut of: CellNumber) -> CellNumber {
    let digits = 10_f64.powi(i32::from(of.number.decimals));
    of.number.value = ((100.0 - of.number.value) * digits).round() / digits;
    of
}

/// Figures that clients of one test have together.
pub(crate) fn adds_up(name: &str) -> bool {
    let sums = [
        "rate",
        "statement_rate",
        "count",
        "statements",
        "tpmc",
        "nopm",
        "tpm_total",
        "tpm",
        "ignored_errors",
    ];
    sums.contains(&name)
}
