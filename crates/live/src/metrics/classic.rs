//! OpenMetrics text as the older text format of Prometheus, for readers that know no other.
//!
//! What differs (exposition formats, "Text-based format" 0.0.4): counters and infos are named with
//! their suffix in the lines that describe them, there is no type `info` and no `# UNIT`, and
//! nothing ends with `# EOF`.

/// The same samples in the older format.
pub(super) fn classic(open_metrics: &str) -> String {
    let mut text = String::with_capacity(open_metrics.len());
    let mut help = String::new();
    for line in open_metrics.lines() {
        if let Some(described) = line.strip_prefix("# HELP ") {
            // Its name is that of the type, which comes next.
            help = described.split_once(' ').map_or("", |(_, h)| h).to_string();
        } else if let Some(typed) = line.strip_prefix("# TYPE ") {
            let (name, kind) = typed.rsplit_once(' ').unwrap_or((typed, "untyped"));
            let (suffix, kind) = match kind {
                "counter" => ("_total", kind),
                "info" => ("_info", "gauge"),
                _ => ("", kind),
            };
            text += &format!("# HELP {name}{suffix} {help}\n# TYPE {name}{suffix} {kind}\n");
        } else if !line.starts_with('#') {
            text += line;
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_types_are_those_of_the_older_format() {
        let open = "# HELP a Things.\n# TYPE a counter\na_total{t=\"# EOF\"} 1\n\
                    # HELP b_seconds Time.\n# TYPE b_seconds histogram\n# UNIT b_seconds seconds\n\
                    b_seconds_count 2\n# HELP r Run.\n# TYPE r info\nr_info{x=\"y\"} 1\n# EOF\n";
        assert_eq!(
            classic(open),
            "# HELP a_total Things.\n# TYPE a_total counter\na_total{t=\"# EOF\"} 1\n\
             # HELP b_seconds Time.\n# TYPE b_seconds histogram\nb_seconds_count 2\n\
             # HELP r_info Run.\n# TYPE r_info gauge\nr_info{x=\"y\"} 1\n"
        );
    }
}
