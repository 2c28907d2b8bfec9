//! Scripts are cut and understood as pgbench does.

use super::*;
use proptest::prelude::*;

fn read_in(mode: Mode, text: &str) -> Result<Vec<PgbenchCommand>, String> {
    read("f.sql", text, mode, &mut Names::default(), &mut 0).map_err(|e| e.to_string())
}

fn lines(text: &str) -> Vec<String> {
    let commands = read_in(Mode::Extended, text).unwrap();
    commands.into_iter().map(|c| c.line).collect()
}

#[test]
fn statements_end_at_semicolons_and_commands_at_lines() {
    assert_eq!(
        lines("-- a comment; of one\nSELECT 1; SELECT 2\n;\n\\set x 1 \\\n + 2\nSELECT 3"),
        ["SELECT 1;", "SELECT 2", "\\set x 1 \\", "SELECT 3"]
    );
    for one in [
        "SELECT ';', \"a;b\", E'\\';', 'it''s;' FROM t;",
        "SELECT $$a;b$$, $x$ ; $$ ; $x$;",
        "SELECT 1 /* ; /* ; */ ; */ + 1;",
        "CREATE RULE r AS ON DELETE TO t DO (DELETE FROM a; DELETE FROM b);",
        "SELECT 1 -- not yet;\n + 1;",
        "SELECT '\\set';",
    ] {
        let read = read_in(Mode::Simple, one).unwrap();
        assert_eq!(read.len(), 1, "{one}: {read:?}");
    }
    assert_eq!(lines("SELECT 1 \\; SELECT 2;"), ["SELECT 1 ; SELECT 2;"]);
    assert!(read_in(Mode::Simple, ";;\n-- nothing\n").is_err());
}

fn sql(text: &str) -> Sql {
    match read_in(Mode::Prepared, text).unwrap().remove(0).what {
        CommandKind::Sql(sql) => sql,
        other => panic!("{other:?}"),
    }
}

#[test]
fn variables_are_numbered_and_casts_and_times_are_text() {
    let sql = sql("SELECT :a + :b_2 * :a, 1::int, '12:30:00', x[1:2];");
    assert_eq!(
        sql.numbered,
        "SELECT $1 + $2 * $3, 1::int, '12:30:00', x[1:2];"
    );
    assert_eq!(sql.values, [0, 1, 0]);
    assert_eq!(sql.pieces.len(), 7);
}

#[test]
fn rows_are_stored_with_a_prefix() {
    assert_eq!(
        sql("SELECT 1 AS a \\gset p_\n").store,
        Store::One("p_".into())
    );
    assert_eq!(sql("SELECT 1 AS a\n\\aset\n").store, Store::Last("".into()));
}

#[test]
fn branches_know_where_they_go_on() {
    let commands = read_in(
        Mode::Simple,
        "\\if 1\nSELECT 1;\n\\elif 2\nSELECT 2;\n\\else\nSELECT 3;\n\\endif\n",
    )
    .unwrap();
    let branch = |at: usize| match &commands[at].what {
        CommandKind::If {
            otherwise,
            after_branch,
            ..
        } => (*otherwise, *after_branch),
        other => panic!("{other:?}"),
    };
    assert_eq!(branch(0), (2, None));
    assert_eq!(branch(2), (4, Some(6)));
    assert_eq!(commands[4].what, CommandKind::Else { end: 6 });
    let bare = read_in(Mode::Simple, "\\if 1\nSELECT 1;\n\\endif").unwrap();
    assert!(matches!(bare[0].what, CommandKind::If { otherwise: 2, .. }));
}

#[test]
fn sleeps_have_units() {
    let sleep = |text: &str| match read_in(Mode::Simple, text).unwrap().remove(0).what {
        CommandKind::Sleep(sleep) => (sleep.count, sleep.unit.as_micros()),
        other => panic!("{other:?}"),
    };
    assert_eq!(sleep("\\sleep 10 ms"), (Ok(10), 1000));
    assert_eq!(sleep("\\sleep 10us"), (Ok(10), 1));
    assert_eq!(sleep("\\sleep :x"), (Err(0), 1_000_000));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    for (text, said) in [
        ("SELECT 1;\n\\foo", "f.sql:2: unknown command \\foo"),
        ("\\sett x 1", "did you mean set?"),
        (
            "\\setrandom a 1 2",
            "\\setrandom is not supported: PostgreSQL 9.6",
        ),
        ("\\shell ls", "\\shell is not supported"),
        ("\\set x", "\\set needs a variable and an expression"),
        ("\\set x 1 +", "\\set: unexpected end of the expression"),
        ("\\set a-b 1", "a variable's name"),
        ("\\if", "\\if needs an expression"),
        ("\\if 1\nSELECT 1;", "\\if without \\endif"),
        ("\\endif", "\\endif without \\if"),
        (
            "\\if 1\n\\else\n\\else\n\\endif",
            "f.sql:3: \\else after \\else",
        ),
        ("\\gset", "\\gset must follow an SQL statement"),
        ("SELECT 1;\n\\set x 1\n\\gset", "\\gset must follow"),
        ("\\sleep 1 h", "unknown unit h"),
        ("\\sleep x", "no number"),
        ("\\startpipeline\nSELECT 1;", "without \\endpipeline"),
        ("\\endpipeline", "without \\startpipeline"),
        (
            "\\startpipeline\nSELECT 1 \\gset\n\\endpipeline",
            "not allowed in a pipeline",
        ),
    ] {
        let error = read_in(Mode::Extended, text).unwrap_err();
        assert!(error.contains(said), "{text}: {error}");
    }
    let error = read_in(Mode::Simple, "\\startpipeline\n\\endpipeline").unwrap_err();
    assert!(error.contains("needs -M extended"), "{error}");
}

#[test]
fn builtins_are_scripts_and_may_be_shortened() {
    for one in BUILTINS {
        for mode in [Mode::Simple, Mode::Extended, Mode::Prepared] {
            assert!(read_in(mode, one.text).is_ok(), "{}", one.name);
        }
    }
    assert_eq!(builtin("t").map(|b| b.name), Some("tpcb-like"));
    assert_eq!(builtin("select-only").map(|b| b.name), Some("select-only"));
    // Two begin so.
    assert_eq!(builtin("s"), None);
    assert_eq!(builtin(""), None);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(
        text in prop::collection::vec(prop_oneof![
            Just("\\set x 1\n".to_string()),
            Just("\\if :x\n".to_string()),
            Just("\\elif 0\n".to_string()),
            Just("\\else\n".to_string()),
            Just("\\endif\n".to_string()),
            Just("SELECT :x;".to_string()),
            Just("$$".to_string()),
            Just("'".to_string()),
            Just("/*".to_string()),
            Just("\\gset a\n".to_string()),
            "\\PC{0,9}",
        ], 0..12)
    ) {
        let text = text.concat();
        if let Ok(commands) = read_in(Mode::Extended, &text) {
            let last = commands.len();
            for command in &commands {
                if let CommandKind::If { otherwise, .. } = command.what {
                    prop_assert!(otherwise > 0 && otherwise < last);
                }
            }
        }
    }
}
