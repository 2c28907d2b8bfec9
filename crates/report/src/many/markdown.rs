//! The document as Markdown, for wikis and issue trackers.

use super::block::Block;
use super::document::Document;
use crate::markdown::{code_block, escaped, section, table};

pub(super) fn text(document: &Document) -> String {
    let mut out = format!("# {}\n\n{}\n", escaped(&document.title), document.when);
    for part in &document.parts {
        let mut body = String::new();
        blocks(&mut body, &part.blocks, document.colon);
        out += &section(&escaped(&part.title), body.trim_start());
    }
    out += &format!("\n{}\n", escaped(&document.made_by));
    out
}

fn blocks(out: &mut String, blocks: &[Block], colon: &str) {
    for block in blocks {
        let text = one(block, colon);
        if !text.is_empty() {
            out.push('\n');
            out.push_str(&text);
        }
    }
}

/// Pictures are left out; what they say in words stays.
fn one(block: &Block, colon: &str) -> String {
    let item = |text: &str| format!("- {}\n", escaped(text));
    match block {
        Block::Heading(text) => format!("### {}\n", escaped(text)),
        Block::Lead(text) => format!("**{}**\n", escaped(text)),
        Block::Say(text) | Block::Fine(text) => format!("{}\n", escaped(text)),
        Block::List(items) => items.iter().map(|i| item(i)).collect(),
        Block::Table(grid) => table(&grid.head, &grid.rows),
        Block::Findings(found) => found
            .iter()
            .map(|f| {
                format!(
                    "- **{}** `{}` {} {} {}\n",
                    f.said.severity,
                    f.said.rule,
                    escaped(&f.said.says),
                    escaped(&f.said.instead),
                    escaped(&f.runs)
                )
            })
            .collect(),
        Block::Figures(figures) => figures
            .iter()
            .map(|f| item(&format!("{}{colon}{}", f.title, f.says)))
            .collect(),
        Block::Panels(panels) => panels.iter().map(|p| item(&p.says)).collect(),
        Block::Code(language, text) => code_block(language, text),
        Block::Fold(title, inner) => {
            let mut out = format!("{}\n", escaped(title));
            blocks(&mut out, inner, colon);
            out
        }
    }
}
