//! Reading what Prometheus reads: lines of `name{label="value"} number`.

/// One line.
#[derive(Debug, PartialEq)]
pub(super) struct Line<'t> {
    pub name: &'t str,
    labels: &'t str,
    pub value: f64,
}

impl Line<'_> {
    /// A label's value. Backslashes before quotes are taken off.
    pub fn label(&self, name: &str) -> Option<String> {
        let mut rest = self.labels;
        loop {
            let (label, after) = rest.split_once("=\"")?;
            let end = end_of(after)?;
            let (value, after) = after.split_at_checked(end)?;
            if label.trim_start_matches([',', ' ']) == name {
                return Some(value.replace("\\\"", "\"").replace("\\\\", "\\"));
            }
            rest = after.get(1..)?;
        }
    }
}

/// Where a quoted value ends.
fn end_of(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

/// The lines that have a number.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.lines().filter_map(|line| {
        if line.starts_with('#') {
            return None;
        }
        let (name, labels, rest) = match line.find('{') {
            None => {
                let (name, rest) = line.split_once(' ')?;
                (name, "", rest)
            }
            Some(at) => {
                let (name, rest) = line.split_at(at);
                let end = rest.rfind('}')?;
                (name, rest.get(1..end)?, rest.get(end + 1..)?)
            }
        };
        // A time may follow.
        let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
        Some(Line {
            name,
            labels,
            value,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_with_their_labels() {
        let text =
            "# HELP x y\nx 1\nx{cpu=\"0\",mode=\"a\\\"},b\"} 2.5e+03 1700\nbroken{\nnan NaN\n\n";
        let all: Vec<Line> = lines(text).collect();
        assert_eq!(all.len(), 3);
        assert_eq!((all[0].name, all[0].value), ("x", 1.0));
        assert_eq!(all[1].label("cpu").as_deref(), Some("0"));
        assert_eq!(all[1].label("mode").as_deref(), Some("a\"},b"));
        assert_eq!(all[1].label("none"), None);
        assert_eq!(all[1].value, 2500.0);
    }
}
