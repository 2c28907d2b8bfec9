//! The 22 queries' SQL as each engine is sent it. `tpch_sql/` holds it: `standard.sql` for all that
//! have dates and decimals, `sqlite.sql`.

use tidemark_core::Engine;
use tidemark_drivers::Dialect;
use tidemark_workloads::tpch::{Parameters, query};

fn sql(engine: Engine) -> String {
    let one = |query: &query::Query| {
        let parameters = Parameters::validation(query.number, 1.0);
        let sql = query.sql(&parameters, &Dialect::new(engine));
        assert!(
            !sql.contains(['[', ']', '{', '}', '?']),
            "{engine} {query}: {sql}"
        );
        format!("-- {query}\n{sql};\n\n")
    };
    query::ALL.iter().map(one).collect()
}

#[test]
fn queries_are_sent_in_each_engines_words() {
    for engine in Engine::ALL {
        let expected = match engine {
            Engine::Sqlite => include_str!("../tpch_sql/sqlite.sql"),
            _ => include_str!("../tpch_sql/standard.sql"),
        };
        assert_eq!(sql(engine), expected, "{engine}");
    }
}
