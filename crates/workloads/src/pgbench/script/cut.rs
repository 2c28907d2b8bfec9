//! Where statements and commands end, as `psql` has it: a semicolon that is in no quotes, comment or
//! parentheses ends a statement, a line a command.

/// A part of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScriptPart {
    /// A statement, with its semicolon if it has one.
    Sql(String),
    /// A command without its backslash.
    Meta(String),
}

/// The parts of a script, each with the line that it begins in, from 1.
pub(super) fn parts(text: &str) -> Vec<(usize, ScriptPart)> {
    let mut cutter = Cutter {
        text,
        at: 0,
        line: 1,
        sql: String::new(),
        sql_line: 1,
        depth: 0,
        parts: Vec::new(),
    };
    while cutter.at < text.len() {
        cutter.step();
    }
    cutter.end_sql();
    cutter.parts
}

struct Cutter<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    /// The statement so far, without the blanks and comments before it.
    sql: String,
    sql_line: usize,
    /// Open parentheses.
    depth: usize,
    parts: Vec<(usize, ScriptPart)>,
}

impl<'t> Cutter<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Goes so many bytes further.
    fn skip(&mut self, length: usize) -> &'t str {
        let piece = self.rest().get(..length).unwrap_or(self.rest());
        self.at += piece.len();
        self.line += piece.matches('\n').count();
        piece
    }

    /// Takes so many bytes into the statement.
    fn take(&mut self, length: usize) {
        if self.sql.is_empty() {
            self.sql_line = self.line;
        }
        let piece = self.skip(length);
        self.sql.push_str(piece);
    }

    /// The same of blanks and comments, which begin no statement.
    fn pass(&mut self, length: usize) {
        match self.sql.is_empty() {
            true => drop(self.skip(length)),
            false => self.take(length),
        }
    }

    fn step(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return;
        };
        match first {
            c if c.is_whitespace() => self.pass(c.len_utf8()),
            '-' if rest.starts_with("--") => self.pass(rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => self.pass(comment(rest)),
            '\'' => {
                let escapes = is_escape_string(&self.sql);
                self.take(quoted(rest, '\'', escapes));
            }
            '"' => self.take(quoted(rest, '"', false)),
            '$' if !ends_in_name(&self.sql) => self.take(dollar_quoted(rest)),
            '(' => {
                self.depth += 1;
                self.take(1);
            }
            ')' => {
                self.depth = self.depth.saturating_sub(1);
                self.take(1);
            }
            ';' if self.depth == 0 => {
                if self.sql.is_empty() {
                    self.skip(1);
                } else {
                    self.take(1);
                    self.end_sql();
                }
            }
            // Joins statements to be sent together.
            '\\' if rest.starts_with("\\;") => {
                self.skip(1);
                self.take(1);
            }
            '\\' => {
                self.end_sql();
                self.meta();
            }
            c => self.take(c.len_utf8()),
        }
    }

    fn end_sql(&mut self) {
        self.depth = 0;
        let sql = std::mem::take(&mut self.sql);
        let sql = sql.trim_end();
        if !sql.is_empty() {
            self.parts
                .push((self.sql_line, ScriptPart::Sql(sql.into())));
        }
    }

    /// A command: up to the end of its line, or of those that a backslash joins to it.
    fn meta(&mut self) {
        let line = self.line;
        self.skip(1);
        let mut command = String::new();
        loop {
            let rest = self.rest();
            let end = rest.find('\n').unwrap_or(rest.len());
            let one = rest.get(..end).unwrap_or_default();
            let one = one.strip_suffix('\r').unwrap_or(one);
            let is_joined = one.ends_with('\\') && end < rest.len();
            command.push_str(one);
            self.skip(end + 1);
            if !is_joined {
                break;
            }
            command.push('\n');
        }
        self.parts
            .push((line, ScriptPart::Meta(command.trim().into())));
    }
}

/// The length of a comment, which others may be in.
fn comment(text: &str) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|r| !r.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth = depth.saturating_sub(1);
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of what is in quotes: two of them stand for one, and a backslash may keep one.
fn quoted(text: &str, quote: char, escapes: bool) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if escapes && c == '\\' {
            chars.next();
        } else if c == quote {
            if chars.peek().is_some_and(|(_, next)| *next == quote) {
                chars.next();
            } else {
                return at + 1;
            }
        }
    }
    text.len()
}

/// Whether a string that follows has backslashes of its own (`E'…'`).
fn is_escape_string(before: &str) -> bool {
    let bare = before.strip_suffix(['e', 'E']);
    bare.is_some_and(|bare| !ends_in_name(bare))
}

fn ends_in_name(text: &str) -> bool {
    text.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$')
}

/// The length of `$tag$…$tag$`; of the dollar alone where there is no such thing.
fn dollar_quoted(text: &str) -> usize {
    let Some((tag, _)) = text.get(1..).and_then(|t| t.split_once('$')) else {
        return 1;
    };
    let is_tag = tag.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !tag.starts_with(|c: char| c.is_ascii_digit());
    if !is_tag {
        return 1;
    }
    let mark = &text[..tag.len() + 2];
    let inner = &text[mark.len()..];
    let end = inner.find(mark);
    end.map_or(text.len(), |end| mark.len() * 2 + end)
}
