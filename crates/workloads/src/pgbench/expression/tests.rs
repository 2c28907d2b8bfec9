//! Expressions are read and evaluated as the manual has it.

use super::*;
use crate::random::Rng;
use proptest::prelude::*;

fn value_of(text: &str) -> Result<String, String> {
    let mut names = Names::default();
    let expr = parse(text, &mut names).map_err(|e| e.to_string())?;
    let mut variables = vec![None; names.len()];
    for (name, value) in [
        ("x", ExprValue::Int(7)),
        ("half", ExprValue::Text("0.5".into())),
        ("default_seed", ExprValue::Int(5432)),
    ] {
        if let Some(slot) = names.find(name) {
            variables[slot] = Some(value);
        }
    }
    let mut rng = Rng::of(&[1]);
    let value = Scope::new(&variables, &mut rng, (0, 1))
        .value(&expr)
        .map_err(|e| e.to_string())?;
    let mut shown = String::new();
    value.write_to(&mut shown);
    Ok(shown)
}

#[test]
fn values_are_those_of_the_manual() {
    for (text, value) in [
        ("5 / 3", "1"),
        ("-5 / 3", "-1"),
        ("3 - 2.0", "1"),
        ("3 % 2", "1"),
        ("1 | 2", "3"),
        ("1 # 3", "2"),
        ("1 & 3", "1"),
        ("~ 1", "-2"),
        ("1 << 2", "4"),
        ("8 >> 2", "2"),
        ("2 + 3 * 4", "14"),
        ("2 - 3 - 4", "-5"),
        ("1 | 2 + 4", "7"),
        ("~1 + 2", "-4"),
        ("- - 3", "3"),
        ("5 = 4", "false"),
        ("5 <> 4", "true"),
        ("5 != 5", "false"),
        ("1 + 1 = 2 and 2 < 3", "true"),
        ("not false", "true"),
        ("not 1 = 2", "true"),
        ("1 is null", "false"),
        ("null is null", "true"),
        ("1 notnull", "true"),
        ("null isnull", "true"),
        ("1 is not null is true", "true"),
        ("null + 1", "NULL"),
        ("null and false", "NULL"),
        ("false and null", "false"),
        ("true or null", "true"),
        ("case when 0 then 1 when 2.5 then 2 else 3 end", "2"),
        ("case when null then 1 end", "NULL"),
        ("abs(-17)", "17"),
        ("abs(-1.5)", "1.5"),
        ("double(5432)", "5432"),
        ("exp(1.0)", "2.71828182845905"),
        ("greatest(5, 4, 3, 2)", "5"),
        ("least(5, 4, 3, 2.1)", "2.1"),
        ("hash(10, 5432)", "-5817877081768721676"),
        ("hash(10)", "-5817877081768721676"),
        ("hash_fnv1a(10)", "-7793829335365542153"),
        ("int(5.4 + 3.8)", "9"),
        ("int(2.5)", "2"),
        ("mod(54, 32)", "22"),
        ("pi()", "3.14159265358979"),
        ("POW(2.0, 10)", "1024"),
        ("sqrt(2.0)", "1.4142135623731"),
        ("random(3, 3)", "3"),
        (":x * 2", "14"),
        (":half + 1", "1.5"),
        ("-9223372036854775808", "-9223372036854775808"),
        (".5 + 1e1", "10.5"),
        ("1 \\\n + 1", "2"),
    ] {
        assert_eq!(value_of(text).as_deref(), Ok(value), "{text}");
    }
}

#[test]
fn what_has_no_value_says_why() {
    for (text, why) in [
        ("1 / 0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("9223372036854775807 + 1", "bigint add out of range"),
        (
            "9223372036854775808",
            "bigint constant overflow at column 1",
        ),
        ("1e999", "double constant overflow at column 1"),
        ("int(1e30)", "double to int overflow"),
        ("true + 1", "cannot coerce boolean to int"),
        ("5 or 0", "cannot coerce int to boolean"),
        (":y", "undefined variable \"y\""),
        ("1 +", "unexpected end of the expression at column 4"),
        ("1 < 2 < 3", "unexpected < at column 7"),
        ("(1", "unexpected end"),
        ("1 2", "unexpected 2 at column 3"),
        (
            "rnadom(1, 2)",
            "unknown function rnadom; did you mean random?",
        ),
        ("abs(1, 2)", "abs takes 1 argument, not 2"),
        ("hash()", "hash takes 1 or 2 arguments, not 0"),
        ("case else 1 end", "unexpected else"),
        ("1 ? 2", "unexpected character at column 3"),
    ] {
        let said = value_of(text).unwrap_err();
        assert!(said.contains(why), "{text}: {said}");
    }
}

#[test]
fn a_long_expression_is_refused_and_overflows_no_stack() {
    let long = vec!["1"; 100_000].join("+");
    let deep = "(".repeat(100_000);
    let minus = "-".repeat(100_000);
    for text in [long, deep, minus] {
        let said = value_of(&text).unwrap_err();
        assert!(said.contains("at most 500 parts"), "{said}");
    }
}

fn any_expression() -> impl Strategy<Value = Expr> {
    let name = "[a-z_][a-z0-9_]{0,5}";
    let leaf = prop_oneof![
        Just(Expr::Constant(ExprValue::Null)),
        any::<bool>().prop_map(|b| Expr::Constant(ExprValue::Bool(b))),
        (0..=i64::MAX).prop_map(|i| Expr::Constant(ExprValue::Int(i))),
        (0.0..1e300f64).prop_map(|d| Expr::Constant(ExprValue::Double(d))),
        name.prop_map(|name| Expr::Variable(Variable {
            slot: 0,
            name: name.as_str().into(),
        })),
    ];
    let unary = prop::sample::select(vec![Unary::Minus, Unary::BitNot, Unary::Not]);
    let binary = prop::sample::select(vec![
        Binary::Or,
        Binary::And,
        Binary::Equal,
        Binary::NotEqual,
        Binary::Less,
        Binary::AtMost,
        Binary::Greater,
        Binary::AtLeast,
        Binary::BitOr,
        Binary::BitXor,
        Binary::BitAnd,
        Binary::Left,
        Binary::Right,
        Binary::Add,
        Binary::Subtract,
        Binary::Multiply,
        Binary::Divide,
        Binary::Modulo,
    ]);
    let tested = prop::sample::select(vec![
        ExprValue::Null,
        ExprValue::Bool(true),
        ExprValue::Bool(false),
    ]);
    leaf.prop_recursive(4, 40, 3, move |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let function = prop::sample::select(vec!["greatest", "least"]);
        prop_oneof![
            (unary.clone(), boxed.clone()).prop_map(|(u, of)| Expr::Unary(u, of)),
            (binary.clone(), boxed.clone(), boxed.clone())
                .prop_map(|(b, left, right)| Expr::Binary(b, left, right)),
            (boxed.clone(), tested.clone(), any::<bool>())
                .prop_map(|(of, what, negated)| Expr::Is { of, what, negated }),
            (
                prop::collection::vec((inner.clone(), inner.clone()), 1..3),
                prop::option::of(boxed.clone())
            )
                .prop_map(|(branches, otherwise)| Expr::Case {
                    branches,
                    otherwise
                }),
            (function, prop::collection::vec(inner, 1..4))
                .prop_filter_map("a function", |(name, arguments)| {
                    Function::named(name).map(|f| Expr::Call(f, arguments))
                }),
        ]
    })
}

/// With places of variables as a reader gives them.
fn placed(text: &str) -> Result<Expr, ExpressionError> {
    let read = parse(text, &mut Names::default())?;
    Ok(read)
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
        let _read_or_not = placed(&text);
    }

    #[test]
    fn words_of_expressions_are_read_or_refused(
        words in prop::collection::vec(prop::sample::select(vec![
            "1", "2.5", ":x", "(", ")", ",", "+", "-", "*", "/", "%", "<", ">=", "=", "<<", "~",
            "not", "and", "or", "is", "null", "true", "case", "when", "then", "else", "end",
            "isnull", "notnull", "abs", "random", "hash", "9223372036854775808", "|", "#",
        ]), 0..25)
    ) {
        let mut names = Names::default();
        if let Ok(expr) = parse(&words.join(" "), &mut names) {
            let variables = vec![Some(ExprValue::Int(3)); names.len()];
            let mut rng = Rng::of(&[1]);
            let _value_or_not = Scope::new(&variables, &mut rng, (0, 1)).value(&expr);
        }
    }

    #[test]
    fn what_is_shown_is_read_as_the_same(expr in any_expression()) {
        let shown = expr.to_string();
        let again = placed(&shown).map_err(|e| TestCaseError::fail(format!("{shown}: {e}")))?;
        // Places of variables are the reader's.
        prop_assert_eq!(again.to_string(), shown);
    }
}
