//! Lua's messages in words that say what is missing.

/// A message of Lua's or of the script's; where it says that something called is nil, with the name as
/// the script writes it and where that stands.
pub(crate) fn explained(message: &str) -> String {
    let known = missing(message).or_else(|| out_of_memory(message));
    known.unwrap_or_else(|| message.to_string())
}

fn out_of_memory(message: &str) -> Option<String> {
    let is_memory = message.contains("not enough memory");
    is_memory.then(|| {
        "the script used more memory than --lua-memory allows; for example --lua-memory=4G".into()
    })
}

/// `file.lua:12: attempt to call field 'x' (a nil value)`.
fn missing(message: &str) -> Option<String> {
    let (place, what) = message.split_once(": attempt to call ")?;
    let (kind, rest) = what.split_once(" '")?;
    let (name, rest) = rest.split_once('\'')?;
    if !rest.starts_with(" (a nil value)") {
        return None;
    }
    let (file, line) = place.rsplit_once(':')?;
    let written = as_written(file, line.parse().ok()?, name).unwrap_or_else(|| name.to_string());
    Some(match kind {
        "method" => format!("`{written}` is not a method of sysbench's: {place}"),
        _ if written.starts_with("sysbench.") => format!("`{written}` is not in sysbench: {place}"),
        _ => format!("`{written}` is neither in the script nor in sysbench: {place}"),
    })
}

/// The name with what stands before it on its line: `sysbench.rand.x`.
fn as_written(file: &str, line: usize, name: &str) -> Option<String> {
    let line = crate::sources::line_of(file, line)?;
    let is_part = |c: char| c.is_alphanumeric() || "_.:".contains(c);
    let found = line.split(|c: char| !is_part(c));
    let mut ends = found.filter(|word| {
        let before = word.strip_suffix(name);
        before.is_some_and(|b| b.is_empty() || b.ends_with(['.', ':']))
    });
    ends.next().map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_as_the_script_writes_it() {
        let path = "explained/s.lua";
        crate::sources::remember(path, b"local x = 1\nreturn sysbench.rand.continent(x)\n");
        let said = explained(&format!(
            "{path}:2: attempt to call field 'continent' (a nil value)"
        ));
        assert_eq!(
            said,
            format!("`sysbench.rand.continent` is not in sysbench: {path}:2")
        );
        let said = explained("gone.lua:9: attempt to call global 'db_magic' (a nil value)");
        assert_eq!(
            said,
            "`db_magic` is neither in the script nor in sysbench: gone.lua:9"
        );
        let own = "s.lua:1: attempt to index a nil value";
        assert_eq!(explained(own), own);
        assert!(explained("not enough memory").contains("--lua-memory"));
    }
}
