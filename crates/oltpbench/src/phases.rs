//! Transaction types and phases of a workload file.

use crate::element::Element;
use crate::error::FileError;
use crate::file::{LoadPhase, Rate, Transaction, WorkloadFile};
use crate::read::ConfigReader;
use crate::transactions::{TPCC, allowed, index_of};
use std::time::Duration;
use tidemark_core::{Arrivals, did_you_mean};

const YEAR_S: u64 = 365 * 86_400;
/// The share of each type in the family's files, in percent.
const WEIGHTS: &str = "45,43,4,4,4";

impl ConfigReader {
    pub fn transactions(&mut self, types: Element<'_>) -> Result<Vec<Transaction>, FileError> {
        const MANY: &[&str] = &["transactiontype", "transaction"];
        let mut transactions: Vec<Transaction> = Vec::new();
        for element in types.children(MANY, &mut self.remarks) {
            if !MANY.contains(&element.name()) {
                self.other(element, MANY);
                continue;
            }
            let place = transactions.len() as u32 + 1;
            let transaction = self.transaction(element, place)?;
            let same = |t: &Transaction| t.kind == transaction.kind || t.id == transaction.id;
            if transactions.iter().any(same) {
                let name = TPCC[transaction.kind];
                let allowed = "each name and each id once".to_string();
                return Err(element.wrong_value(name, allowed, "<name>Payment</name>"));
            }
            transactions.push(transaction);
        }
        if transactions.is_empty() {
            return Err(types.lacks("transactiontype", "<name>NewOrder</name>"));
        }
        Ok(transactions)
    }

    fn transaction(&mut self, element: Element<'_>, place: u32) -> Result<Transaction, FileError> {
        const WITHIN: &[&str] = &[
            "name",
            "id",
            "weight",
            "preExecutionWait",
            "postExecutionWait",
        ];
        let mut read = Transaction {
            kind: usize::MAX,
            id: place,
            weight: None,
            before: None,
            after: None,
        };
        for inner in element.children(&[], &mut self.remarks) {
            let wait = || {
                let ms = inner.whole(0..=86_400_000, "12000")?;
                Ok::<_, FileError>(Some(Duration::from_millis(ms)))
            };
            match inner.name() {
                "name" => {
                    let name = inner.text();
                    read.kind =
                        index_of(&name).ok_or_else(|| inner.wrong(allowed(&name), "NewOrder"))?;
                }
                "id" => read.id = inner.count(1..=65_535, "1")?,
                "weight" => read.weight = Some(weight(inner, &inner.text())?),
                "preExecutionWait" => read.before = wait()?,
                "postExecutionWait" => read.after = wait()?,
                _ => self.other(inner, WITHIN),
            }
        }
        if read.kind == usize::MAX {
            return Err(element.lacks("name", "NewOrder"));
        }
        Ok(read)
    }

    pub fn works(
        &mut self,
        works: Element<'_>,
        file: &WorkloadFile,
    ) -> Result<Vec<LoadPhase>, FileError> {
        let mut read = Vec::new();
        for element in works.children(&["work"], &mut self.remarks) {
            match element.name() {
                "work" => read.push(self.work(element, file)?),
                _ => self.other(element, &["work"]),
            }
        }
        if read.is_empty() {
            let example =
                format!("<time>60</time><rate>unlimited</rate><weights>{WEIGHTS}</weights>");
            return Err(works.lacks("work", &example));
        }
        Ok(read)
    }

    fn work(&mut self, work: Element<'_>, file: &WorkloadFile) -> Result<LoadPhase, FileError> {
        const WITHIN: &[&str] = &[
            "time",
            "warmup",
            "rate",
            "ratelimited",
            "weights",
            "active_terminals",
            "serial",
            "arrival",
        ];
        let (mut time, mut rate_of, mut weights) = (None, None, None);
        let mut read = LoadPhase {
            line: work.line(),
            time: Duration::ZERO,
            warmup: Duration::ZERO,
            rate: Rate::Unlimited,
            arrivals: Arrivals::Constant,
            weights: [0.0; 5],
            active_terminals: None,
        };
        if let Some(word) = work.attribute("arrival") {
            read.arrivals = arrivals(work, word)?;
        }
        for name in work
            .attributes()
            .filter(|a| !["arrival", "bench"].contains(a))
        {
            let name: String = name.chars().take(60).collect();
            let hint = did_you_mean(&name, ["arrival", "bench"]);
            self.remark(work, format!("unknown attribute {name} is ignored{hint}"));
        }
        let mut limited = true;
        for inner in work.children(&[], &mut self.remarks) {
            match inner.name() {
                "time" => time = Some(inner.whole(1..=YEAR_S, "60")?),
                "warmup" => read.warmup = Duration::from_secs(inner.whole(0..=YEAR_S, "10")?),
                "rate" => rate_of = Some(rate(inner)?),
                "weights" => weights = Some(mix(inner, &file.transactions)?),
                "active_terminals" => {
                    let most = file.terminals.unwrap_or(10_000_000);
                    read.active_terminals = Some(inner.count(1..=most, &most.min(10).to_string())?);
                }
                "arrival" => read.arrivals = arrivals(inner, &inner.text())?,
                "ratelimited" => limited = inner.flag("true")?,
                "serial" => {
                    if inner.flag("false")? {
                        let allowed = "false: terminals run at the same time";
                        return Err(inner.wrong(allowed, "false"));
                    }
                }
                _ => self.other(inner, WITHIN),
            }
        }
        read.rate = match rate_of.ok_or_else(|| work.lacks("rate", "unlimited"))? {
            Rate::PerSecond(_) if !limited => Rate::Unlimited,
            rate => rate,
        };
        let time = time.ok_or_else(|| work.lacks("time", "60"))?;
        read.time = Duration::from_secs(time);
        read.weights = match weights {
            Some(weights) => weights,
            None => own_weights(work, &file.transactions)?,
        };
        Ok(read)
    }

    pub fn single(
        &mut self,
        runtime: Element<'_>,
        rate_of: Option<Element<'_>>,
        file: &WorkloadFile,
    ) -> Result<LoadPhase, FileError> {
        Ok(LoadPhase {
            line: runtime.line(),
            time: Duration::from_secs(runtime.whole(1..=YEAR_S, "1800")?),
            warmup: Duration::ZERO,
            rate: rate_of.map_or(Ok(Rate::Unlimited), rate)?,
            arrivals: Arrivals::Constant,
            weights: own_weights(runtime, &file.transactions)?,
            active_terminals: None,
        })
    }
}

/// What a file that names no types means.
pub(crate) fn the_five() -> Vec<Transaction> {
    (0u32..)
        .take(TPCC.len())
        .map(|n| Transaction {
            kind: n as usize,
            id: n + 1,
            weight: None,
            before: None,
            after: None,
        })
        .collect()
}

fn arrivals(element: Element<'_>, word: &str) -> Result<Arrivals, FileError> {
    match word.to_ascii_lowercase().as_str() {
        "regular" => Ok(Arrivals::Constant),
        "poisson" => Ok(Arrivals::Poisson),
        _ => Err(FileError::Value {
            line: element.line(),
            element: "arrival".into(),
            value: word.chars().take(60).collect(),
            allowed: "regular, poisson".into(),
            example: "<work arrival=\"poisson\">".into(),
        }),
    }
}

fn rate(element: Element<'_>) -> Result<Rate, FileError> {
    match element.text().to_ascii_lowercase().as_str() {
        "disabled" => Ok(Rate::Disabled),
        "unlimited" => Ok(Rate::Unlimited),
        text => {
            let number = text.parse::<f64>().ok();
            let number = number.filter(|n| *n > 0.0 && *n <= 1e6);
            number.map(Rate::PerSecond).ok_or_else(|| {
                let allowed = "disabled, unlimited, or a number of transactions per second above 0 \
                               and 1000000 at most";
                element.wrong(allowed, "10000")
            })
        }
    }
}

fn weight(element: Element<'_>, text: &str) -> Result<f64, FileError> {
    let number = text.trim().parse::<f64>().ok();
    number.filter(|n| (0.0..=100.0).contains(n)).ok_or_else(|| {
        let example = if element.name() == "weights" {
            WEIGHTS
        } else {
            "45"
        };
        element.wrong("numbers from 0 to 100", example)
    })
}

/// `<weights>` of a phase: one for each transaction type, in the order of `<transactiontypes>`.
fn mix(element: Element<'_>, transactions: &[Transaction]) -> Result<[f64; 5], FileError> {
    let text = element.text();
    let given = text.split(',').map(|w| weight(element, w));
    let given = given.collect::<Result<Vec<f64>, _>>()?;
    let asked = transactions.len();
    if given.len() != asked {
        let allowed = format!("{asked} numbers, one for each <transactiontype>");
        return Err(element.wrong(allowed, WEIGHTS));
    }
    spread(element, &given, transactions)
}

/// The weights that stand at the transaction types.
fn own_weights(at: Element<'_>, transactions: &[Transaction]) -> Result<[f64; 5], FileError> {
    let given: Option<Vec<f64>> = transactions.iter().map(|t| t.weight).collect();
    let given = given.ok_or_else(|| at.lacks("weights", WEIGHTS))?;
    spread(at, &given, transactions)
}

fn spread(
    element: Element<'_>,
    given: &[f64],
    transactions: &[Transaction],
) -> Result<[f64; 5], FileError> {
    let sum: f64 = given.iter().sum();
    if (sum - 100.0).abs() > 1e-6 {
        let shown: Vec<String> = given.iter().map(ToString::to_string).collect();
        let allowed = format!("weights with a sum of 100, not {sum}");
        return Err(element.wrong_value(&shown.join(","), allowed, WEIGHTS));
    }
    let mut weights = [0.0; 5];
    for (transaction, weight) in transactions.iter().zip(given) {
        weights[transaction.kind] = *weight;
    }
    Ok(weights)
}
