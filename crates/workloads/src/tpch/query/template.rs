//! From a query's text with marks in it to a dialect's SQL.
//!
//! `[1]` is the first parameter. In braces stands what engines write differently:
//! `{date 1998-12-01 - 90 day}`, `{year o_orderdate}`, `{prefix c_phone 2}`,
//! `{decimal 0.06 + 0.01}`.

use tidemark_drivers::{CalendarSpan, Dialect};

/// The SQL of a template. A mark that is none is left as it stands, which no engine takes for SQL.
pub(super) fn render(template: &str, parameters: &[String], dialect: &Dialect) -> String {
    let mut text = template.trim_end().to_string();
    // From the last, so that [1] is not looked for in [10]; values hold no brackets.
    for (index, value) in parameters.iter().enumerate().rev() {
        text = text.replace(&format!("[{}]", index + 1), value);
    }
    let mut sql = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        sql.push_str(before);
        let Some((mark, behind)) = after.split_once('}') else {
            rest = after;
            break;
        };
        match expression(mark, dialect) {
            Some(expression) => sql.push_str(&expression),
            None => sql.push_str(&format!("{{{mark}}}")),
        }
        rest = behind;
    }
    sql + rest
}

fn expression(mark: &str, dialect: &Dialect) -> Option<String> {
    let words: Vec<&str> = mark.split_whitespace().collect();
    match *words.as_slice() {
        ["date", date] => Some(dialect.date(date)),
        ["date", date, sign, number, unit] => {
            let number = number.parse().ok()?;
            let span = match unit {
                "day" => CalendarSpan::Days(number),
                "month" => CalendarSpan::Months(number),
                "year" => CalendarSpan::Years(number),
                _ => return None,
            };
            Some(dialect.date_moved(date, span, sign == "-"))
        }
        ["year", column] => Some(dialect.year_of(column)),
        ["prefix", column, length] => Some(dialect.prefix_of(column, length.parse().ok()?)),
        ["decimal", left, sign, right] if dialect.decimals_are_exact() => {
            Some(format!("{left} {sign} {right}"))
        }
        ["decimal", left, sign, right] => {
            let right = cents(right)?;
            let sum = cents(left)? + if sign == "-" { -right } else { right };
            Some(format!("{}.{:02}", sum / 100, sum % 100))
        }
        _ => None,
    }
}

/// Hundredths of a number with two digits after the point.
fn cents(number: &str) -> Option<i64> {
    let (whole, fraction) = number.split_once('.')?;
    if fraction.len() != 2 {
        return None;
    }
    format!("{whole}{fraction}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Engine;

    #[test]
    fn marks_become_sql() {
        let template = "a = '[1]' AND b BETWEEN {decimal [2] - 0.01} AND {decimal [2] + 0.01} AND \
                        [10] AND {date 1995-01-01} AND {year d}\n";
        let mut parameters = vec!["x".to_string(), "0.06".to_string()];
        parameters.extend((3..=10).map(|n| n.to_string()));
        let sqlite = render(template, &parameters, &Dialect::new(Engine::Sqlite));
        assert_eq!(
            sqlite,
            "a = 'x' AND b BETWEEN 0.05 AND 0.07 AND 10 AND '1995-01-01' AND \
             CAST(strftime('%Y', d) AS INTEGER)"
        );
        let postgres = render(template, &parameters, &Dialect::new(Engine::Postgres));
        assert!(postgres.contains("BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND 10"));
    }

    #[test]
    fn what_is_no_mark_stays() {
        let dialect = Dialect::new(Engine::Mariadb);
        assert_eq!(render("{dote x}", &[], &dialect), "{dote x}");
        assert_eq!(
            render("{date a + 1 week}", &[], &dialect),
            "{date a + 1 week}"
        );
    }
}
