//! One run as Markdown, for issue trackers and wikis.

use crate::by_hand::{self, OneRun};
use crate::digest::Digest;
use crate::findings::said;
use crate::merge::per_second;
use crate::number::{percent, three, whole};
use crate::section::Section;
use crate::texts::Lang;
use crate::words::Words;
use crate::{ReportError, TypeLatency, series};
use tidemark_analysis::telling_settings;
use tidemark_core::Source;
use tidemark_core::record::RunRecord;

/// A summary with tables as GitHub's Markdown has them. What came from outside is escaped: it can
/// make no heading, link, image or HTML.
///
/// # Errors
/// [`ReportError::Histogram`] when a latency distribution of the record can't be read.
pub fn markdown(record: &RunRecord, lang: Lang) -> Result<String, ReportError> {
    markdown_of(record.into(), lang)
}

/// The same, with what the run's command needs.
pub(crate) fn markdown_of(run: OneRun<'_>, lang: Lang) -> Result<String, ReportError> {
    let record = run.record;
    let digest = Digest::of(record)?;
    let w = Words {
        d: &digest,
        t: lang.texts(),
    };
    let t = w.t;
    let mut out = format!("# {}\n\n**{}**\n\n", escaped(&w.title()), w.headline());
    for warning in w.warnings() {
        out += &format!("> **!** {}\n\n", escaped(&warning));
    }
    out += &format!("{}\n\n", escaped(&w.how()));
    let (names, values): (Vec<_>, Vec<_>) = w.key_figures().into_iter().unzip();
    if !names.is_empty() {
        out += &table(&names, &[values]);
        out += &format!("\n{}\n", w.latency_kind());
    }
    let found = said(record, lang)?;
    if !found.is_empty() {
        let item = |f: &crate::findings::Said| {
            format!(
                "- **{}** `{}` {} {}\n",
                f.severity,
                f.rule,
                escaped(&f.says),
                escaped(&f.instead)
            )
        };
        out += &section(t.findings, &found.iter().map(item).collect::<String>());
    }

    if let Some(part) = Section::of(&digest, lang) {
        let sentences: String = part
            .sentences
            .iter()
            .map(|s| format!("\n{}\n", escaped(s)))
            .collect();
        let mut body = facts_list(&part.facts);
        if !part.types.rows.is_empty() {
            body += &format!("\n{}", table(&part.types.head, &part.types.rows));
        }
        body += &sentences;
        for (title, text) in &part.texts {
            body += &format!("\n{}\n\n{}", escaped(title), code_block("text", text));
        }
        out += &section(part.title, &body);
    }
    if digest.types.len() > 1 {
        let head = [
            t.transaction_type,
            t.count,
            t.share,
            t.per_second,
            t.mean_ms,
            t.p50_ms,
            t.p95_ms,
            t.p99_ms,
            t.max_ms,
        ];
        let all: (&str, &TypeLatency) = (t.total, &digest.all);
        let types = digest.types.iter().map(|(n, l)| (*n, l)).chain([all]);
        let rows: Vec<_> = types.map(|(name, l)| type_row(&w, name, l)).collect();
        out += &section(t.types, &table(&head, &rows));
    }
    let load = w.load_facts();
    if !load.is_empty() {
        out += &section(t.load, &facts_list(&load));
    }
    let watched = series::table(record, lang, false);
    for load_table in w.load_tables().into_iter().chain(watched) {
        let mut body = table(&load_table.head, &load_table.rows);
        if !load_table.says.is_empty() {
            body += &format!("\n{}\n", escaped(&load_table.says));
        }
        out += &section(load_table.title, &body);
    }
    if !record.errors.is_empty() {
        let rows: Vec<Vec<String>> = record
            .errors
            .iter()
            .map(|e| {
                let class = w.error_class(e.class).to_string();
                vec![
                    e.code.clone(),
                    class,
                    whole(e.count),
                    e.first_message.clone(),
                ]
            })
            .collect();
        let head = [t.error_code, t.error_class, t.count, t.first_message];
        out += &section(t.errors, &table(&head, &rows));
    }
    for (head, facts) in [
        (t.run, w.run_facts()),
        (t.target, w.target_facts()),
        (t.client, w.client_facts()),
    ] {
        out += &section(head, &facts_list(&facts));
    }
    let settings = telling_settings(record).map(|s| {
        let default = s.default.clone().unwrap_or("–".into());
        vec![s.name.clone(), s.value.clone(), default]
    });
    let rows: Vec<Vec<String>> = settings.collect();
    if !rows.is_empty() {
        out += &section(
            t.settings,
            &table(&[t.setting, t.value, t.default_value], &rows),
        );
    }
    let given = record
        .options
        .iter()
        .filter(|(_, o)| o.source != Source::Default);
    let rows: Vec<Vec<String>> = given
        .map(|(name, o)| vec![name.clone(), o.value.clone(), w.source(o.source).into()])
        .collect();
    if !rows.is_empty() {
        out += &section(t.options, &table(&[t.option, t.value, t.source], &rows));
    }
    out += &tables(&w);
    if !record.notes.is_empty() {
        let notes: String = record
            .notes
            .iter()
            .map(|n| format!("- {}\n", escaped(n)))
            .collect();
        out += &section(t.notes, &notes);
    }
    if !record.command.is_empty() {
        out += &section(t.repeat, &code_block("sh", &by_hand::of_run(run, w.t)));
    }
    out += &format!("\n{}\n", escaped(&w.made_by()));
    Ok(out)
}

fn facts_list(facts: &[(&str, String)]) -> String {
    facts
        .iter()
        .map(|(name, value)| format!("- {name}: {}\n", escaped(value)))
        .collect()
}

fn type_row(w: &Words<'_>, name: &str, latency: &TypeLatency) -> Vec<String> {
    let ms = |p| latency.percentile_ms(p).map_or("–".into(), three);
    vec![
        name.into(),
        whole(latency.count),
        percent(latency.count as f64, w.d.all.count as f64),
        three(per_second(latency.count, w.d.totals.elapsed_s)),
        latency.mean_ms().map_or("–".into(), three),
        ms(50.0),
        ms(95.0),
        ms(99.0),
        ms(100.0),
    ]
}

fn tables(w: &Words<'_>) -> String {
    let t = w.t;
    let rows: Vec<Vec<String>> =
        w.d.record
            .tables_after
            .iter()
            .map(|after| {
                let before = w.d.record.tables_before.iter();
                let before = before
                    .filter(|b| b.table == after.table)
                    .map(|b| b.rows)
                    .next();
                vec![
                    after.table.clone(),
                    before.map_or("–".into(), whole),
                    whole(after.rows),
                    after.expected_rows.map_or("–".into(), whole),
                ]
            })
            .collect();
    if rows.is_empty() {
        return String::new();
    }
    let head = [t.table, t.rows_before, t.rows_after, t.rows_expected];
    section(t.tables, &table(&head, &rows))
}

pub(crate) fn section(head: &str, body: &str) -> String {
    format!("\n## {head}\n\n{body}")
}

pub(crate) fn table<H: AsRef<str>>(head: &[H], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut text = line(&mut head.iter().map(|h| escaped(h.as_ref())));
    text += &line(&mut head.iter().map(|_| "---".to_string()));
    for row in rows {
        text += &line(&mut row.iter().map(|cell| escaped(cell)));
    }
    text
}

/// A fence longer than any run of backticks inside (CommonMark 4.5).
pub(crate) fn code_block(language: &str, code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let code: String = code
        .chars()
        .filter(|c| *c == '\n' || !c.is_control())
        .collect();
    format!("{fence}{language}\n{code}\n{fence}\n")
}

/// On one line, with every character that could begin markup escaped (CommonMark 2.4), and no bare
/// address left for GitHub to make a link of.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '!' | '&' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.replace("://", "\\://").replace("www.", "www\\.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(
            escaped("a|b\n# [x](y) <script> **"),
            r"a\|b \# \[x\](y) \<script\> \*\*"
        );
        assert_eq!(escaped("http://x www.y"), r"http\://x www\.y");
    }

    #[test]
    fn a_code_block_cannot_be_left() {
        assert_eq!(code_block("sh", "a ``` b"), "````sh\na ``` b\n````\n");
        assert_eq!(code_block("sh", "a"), "```sh\na\n```\n");
    }
}
