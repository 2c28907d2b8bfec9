//! A time for people.

use std::time::Duration;

/// A time for people: `45 s`, `12 min`, `3 h 20 min`.
pub fn time_text(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 10.0 && s.fract() > 0.05 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => {
            let minutes = (s / 60.0).round();
            format!(
                "{:.0} h {:.0} min",
                (minutes / 60.0).floor(),
                minutes % 60.0
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_well() {
        for (seconds, said) in [
            (0.0, "0 s"),
            (1.5, "1.5 s"),
            (60.0, "60 s"),
            (720.0, "12 min"),
            (12_000.0, "3 h 20 min"),
        ] {
            assert_eq!(time_text(Duration::from_secs_f64(seconds)), said);
        }
    }
}
