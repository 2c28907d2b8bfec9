//! Frames that are drawn with the characters of boxes (Unicode 2500 to 257F), as ASCII draws them.

/// The line as a client without such characters prints it; `None` where it has none.
pub(crate) fn in_ascii(text: &str) -> Option<String> {
    if text.is_ascii() || !text.contains(is_drawn) {
        return None;
    }
    let line = text.trim();
    let begins = ['┌', '╭', '┏', '╔', '╒', '╓'];
    if line.starts_with(begins) && line.contains(char::is_alphanumeric) {
        // ClickHouse writes the headings into the frame: `┌─threads─┬──tps─┐`.
        let parts = line.split(|c| is_drawn(c) && sign(c) == '+');
        let names: Vec<&str> = parts
            .map(|part| part.trim_matches(|c| is_drawn(c) || c == ' '))
            .filter(|name| !name.is_empty())
            .collect();
        return Some(format!("| {} |", names.join(" | ")));
    }
    let plain = |c| if is_drawn(c) { sign(c) } else { c };
    Some(text.chars().map(plain).collect())
}

fn is_drawn(c: char) -> bool {
    matches!(c, '\u{2500}'..='\u{257f}')
}

/// Lines, light or heavy, double or dashed; everything else is where they meet.
fn sign(c: char) -> char {
    match c {
        '│' | '┃' | '┆' | '┇' | '┊' | '┋' | '║' | '╎' | '╏' | '╵' | '╷' | '╹' | '╻' | '╽' | '╿' => {
            '|'
        }
        '─' | '━' | '┄' | '┅' | '┈' | '┉' | '═' | '╌' | '╍' | '╴' | '╶' | '╸' | '╺' | '╼' | '╾' => {
            '-'
        }
        _ => '+',
    }
}

#[cfg(test)]
mod tests {
    use super::in_ascii;

    #[test]
    fn frames_become_ascii_and_words_stay() {
        for (drawn, plain) in [
            ("┌─────┬─────┐", "+-----+-----+"),
            ("│  16 │ 9.5 │", "|  16 | 9.5 |"),
            ("╞═════╪═════╡", "+-----+-----+"),
            ("┃ tps ┃ p95 ┃", "| tps | p95 |"),
            ("┌─threads─┬──tps─┐", "| threads | tps |"),
            ("├── 线程", "+-- 线程"),
        ] {
            assert_eq!(in_ascii(drawn).as_deref(), Some(plain), "{drawn}");
        }
        assert_eq!(in_ascii("| a | b |"), None);
        assert_eq!(in_ascii("线程 ✓"), None);
    }
}
