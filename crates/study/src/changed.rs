//! What is different between two texts of a file.

/// The lines that differ, at most so many: `line 3: was "a", is "b"`. Lines before and after all
/// differences are left out.
pub fn changed_lines(before: &str, now: &str, most: usize) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    let same_start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[same_start..], &new[same_start..]);
    let same_end = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let old_part = &old_rest[..old_rest.len() - same_end];
    let new_part = &new_rest[..new_rest.len() - same_end];
    let mut told = Vec::new();
    for at in 0..old_part.len().max(new_part.len()) {
        let line = same_start + at + 1;
        let said = match (old_part.get(at), new_part.get(at)) {
            (Some(a), Some(b)) if a == b => continue,
            (Some(a), Some(b)) => format!("line {line}: was {a:?}, is {b:?}"),
            (Some(a), None) => format!("line {line}: {a:?} is gone"),
            (None, Some(b)) => format!("line {line}: {b:?} is new"),
            (None, None) => continue,
        };
        told.push(said);
    }
    let more = told.len().saturating_sub(most);
    told.truncate(most);
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_told_by_line() {
        let told = |a: &str, b: &str| changed_lines(a, b, 2);
        assert!(told("a\nb\n", "a\nb").is_empty());
        assert_eq!(told("a\nb\nc", "a\nx\nc"), ["line 2: was \"b\", is \"x\""]);
        assert_eq!(told("a\nc", "a\nb\nc"), ["line 2: \"b\" is new"]);
        assert_eq!(told("a\nb\nc", "a\nc"), ["line 2: \"b\" is gone"]);
        assert_eq!(told("1\n2\n3", "a\nb\nc").len(), 3);
    }
}
