//! From words to an expression, by the binding of its operators (Pratt, "Top down operator
//! precedence", 1973).

use super::lex::{Token, tokens};
use super::{Binary, Expr, ExprValue, Function, Names, Unary};
use std::fmt;
use tidemark_core::nearest;

/// Operators, constants and calls of one expression: reading, evaluating and dropping go down by one
/// call for each.
const MOST_PARTS: usize = 500;

// How strongly operators bind, in the manual's order.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const IS: u8 = 4;
const COMPARE: u8 = 5;
const BITS: u8 = 6;
const SUM: u8 = 7;
const PRODUCT: u8 = 8;
const SIGN: u8 = 9;

/// Why a text is no expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} at column {}", .at + 1)]
pub struct ExpressionError {
    /// The byte at which it was seen, from 0.
    pub at: usize,
    /// What is wrong.
    pub what: String,
}

impl ExpressionError {
    pub(super) fn at(at: usize, what: impl Into<String>) -> Self {
        Self {
            at,
            what: what.into(),
        }
    }
}

/// Reads an expression; names of variables are added to `names`.
///
/// # Errors
/// [`ExpressionError`] with the column.
pub fn parse(text: &str, names: &mut Names) -> Result<Expr, ExpressionError> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        end: text.len(),
        next: 0,
        parts: 0,
        names,
    };
    let expr = parser.expr(0)?;
    match parser.peek() {
        None => Ok(expr),
        Some(_) => Err(parser.unexpected()),
    }
}

struct Parser<'t, 'n> {
    tokens: Vec<(usize, Token<'t>)>,
    end: usize,
    next: usize,
    parts: usize,
    names: &'n mut Names,
}

impl<'t> Parser<'t, '_> {
    fn peek(&self) -> Option<&Token<'t>> {
        self.tokens.get(self.next).map(|(_, token)| token)
    }

    fn place(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(at, _)| *at)
    }

    fn unexpected(&self) -> ExpressionError {
        let what = match self.peek() {
            None => "unexpected end of the expression".to_string(),
            Some(token) => format!("unexpected {}", Shown(token)),
        };
        ExpressionError::at(self.place(), what)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(w)) if w.eq_ignore_ascii_case(word))
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        self.next += usize::from(is);
        is
    }

    fn take_symbol(&mut self, symbol: &str) -> bool {
        let is = matches!(self.peek(), Some(Token::Symbol(s)) if *s == symbol);
        self.next += usize::from(is);
        is
    }

    fn need(&mut self, taken: bool) -> Result<(), ExpressionError> {
        match taken {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    fn count(&mut self) -> Result<(), ExpressionError> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            let what = format!("an expression has at most {MOST_PARTS} parts; use several \\set");
            return Err(ExpressionError::at(self.place(), what));
        }
        Ok(())
    }

    /// An expression whose operators bind at least so strongly.
    fn expr(&mut self, least: u8) -> Result<Expr, ExpressionError> {
        let mut left = self.prefix()?;
        let mut compared = false;
        loop {
            if least <= IS
                && let Some(test) = self.test()?
            {
                let (what, negated) = test;
                let of = Box::new(left);
                left = Expr::Is { of, what, negated };
                compared = false;
                continue;
            }
            let Some((binary, binds)) = self.binary() else {
                return Ok(left);
            };
            if binds < least {
                return Ok(left);
            }
            // `1 < 2 < 3` means nothing.
            if binds == COMPARE && compared {
                return Err(self.unexpected());
            }
            compared = binds == COMPARE;
            self.next += 1;
            self.count()?;
            let right = self.expr(binds + 1)?;
            left = Expr::Binary(binary, Box::new(left), Box::new(right));
        }
    }

    /// `IS [NOT] NULL|TRUE|FALSE`, `ISNULL`, `NOTNULL`.
    fn test(&mut self) -> Result<Option<(ExprValue, bool)>, ExpressionError> {
        if self.take_word("isnull") {
            self.count()?;
            return Ok(Some((ExprValue::Null, false)));
        }
        if self.take_word("notnull") {
            self.count()?;
            return Ok(Some((ExprValue::Null, true)));
        }
        if !self.take_word("is") {
            return Ok(None);
        }
        self.count()?;
        let negated = self.take_word("not");
        for (word, value) in CONSTANTS {
            if self.take_word(word) {
                return Ok(Some((value, negated)));
            }
        }
        Err(self.unexpected())
    }

    fn binary(&self) -> Option<(Binary, u8)> {
        Some(match self.peek()? {
            Token::Word(w) if w.eq_ignore_ascii_case("or") => (Binary::Or, OR),
            Token::Word(w) if w.eq_ignore_ascii_case("and") => (Binary::And, AND),
            Token::Symbol(symbol) => match *symbol {
                "=" => (Binary::Equal, COMPARE),
                "<>" => (Binary::NotEqual, COMPARE),
                "<" => (Binary::Less, COMPARE),
                "<=" => (Binary::AtMost, COMPARE),
                ">" => (Binary::Greater, COMPARE),
                ">=" => (Binary::AtLeast, COMPARE),
                "|" => (Binary::BitOr, BITS),
                "#" => (Binary::BitXor, BITS),
                "&" => (Binary::BitAnd, BITS),
                "<<" => (Binary::Left, BITS),
                ">>" => (Binary::Right, BITS),
                "+" => (Binary::Add, SUM),
                "-" => (Binary::Subtract, SUM),
                "*" => (Binary::Multiply, PRODUCT),
                "/" => (Binary::Divide, PRODUCT),
                "%" => (Binary::Modulo, PRODUCT),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// What an expression begins with.
    fn prefix(&mut self) -> Result<Expr, ExpressionError> {
        self.count()?;
        let Some(token) = self.peek().cloned() else {
            return Err(self.unexpected());
        };
        match token {
            Token::Symbol("(") => {
                self.next += 1;
                let inner = self.expr(0)?;
                let closed = self.take_symbol(")");
                self.need(closed)?;
                Ok(inner)
            }
            Token::Symbol("+") => {
                self.next += 1;
                self.expr(SIGN)
            }
            Token::Symbol("-") => {
                self.next += 1;
                if self.peek() == Some(&Token::BeyondInt) {
                    self.next += 1;
                    return Ok(Expr::Constant(ExprValue::Int(i64::MIN)));
                }
                let of = self.expr(SIGN)?;
                Ok(Expr::Unary(Unary::Minus, Box::new(of)))
            }
            Token::Symbol("~") => {
                self.next += 1;
                let of = self.expr(BITS + 1)?;
                Ok(Expr::Unary(Unary::BitNot, Box::new(of)))
            }
            Token::Int(n) => self.constant(ExprValue::Int(n)),
            Token::Double(d) => self.constant(ExprValue::Double(d)),
            Token::BeyondInt => Err(ExpressionError::at(
                self.place(),
                "bigint constant overflow",
            )),
            Token::Variable(name) => {
                self.next += 1;
                Ok(Expr::Variable(self.names.slot(name)))
            }
            Token::Word(word) => self.word(word),
            Token::Symbol(_) => Err(self.unexpected()),
        }
    }

    fn constant(&mut self, value: ExprValue) -> Result<Expr, ExpressionError> {
        self.next += 1;
        Ok(Expr::Constant(value))
    }

    fn word(&mut self, word: &str) -> Result<Expr, ExpressionError> {
        if self.take_word("not") {
            let of = self.expr(NOT + 1)?;
            return Ok(Expr::Unary(Unary::Not, Box::new(of)));
        }
        if self.take_word("case") {
            return self.case();
        }
        for (name, value) in CONSTANTS {
            if self.is_word(name) {
                return self.constant(value);
            }
        }
        if KEYWORDS.iter().any(|k| word.eq_ignore_ascii_case(k)) {
            return Err(self.unexpected());
        }
        self.call(word)
    }

    fn case(&mut self) -> Result<Expr, ExpressionError> {
        let mut branches = Vec::new();
        while self.take_word("when") {
            let when = self.expr(0)?;
            let then = self.take_word("then");
            self.need(then)?;
            branches.push((when, self.expr(0)?));
        }
        if branches.is_empty() {
            return Err(self.unexpected());
        }
        let otherwise = match self.take_word("else") {
            true => Some(Box::new(self.expr(0)?)),
            false => None,
        };
        let ended = self.take_word("end");
        self.need(ended)?;
        Ok(Expr::Case {
            branches,
            otherwise,
        })
    }

    fn call(&mut self, word: &str) -> Result<Expr, ExpressionError> {
        let at = self.place();
        let Some(function) = Function::named(word) else {
            let names = Function::ALL.iter().map(|f| f.name);
            let hint = nearest(&word.to_ascii_lowercase(), names)
                .map(|n| format!("; did you mean {n}?"))
                .unwrap_or_default();
            let what = format!("unknown function {word}{hint}");
            return Err(ExpressionError::at(at, what));
        };
        self.next += 1;
        let opened = self.take_symbol("(");
        self.need(opened)?;
        let mut arguments = Vec::new();
        if !self.take_symbol(")") {
            loop {
                arguments.push(self.expr(0)?);
                if !self.take_symbol(",") {
                    break;
                }
            }
            let closed = self.take_symbol(")");
            self.need(closed)?;
        }
        if !function.takes(arguments.len()) {
            let what = format!(
                "{} takes {}, not {}",
                function.name,
                function.arguments(),
                arguments.len()
            );
            return Err(ExpressionError::at(at, what));
        }
        if function.seeds(arguments.len()) {
            let seed = self.names.slot(crate::pgbench::DEFAULT_SEED);
            arguments.push(Expr::Variable(seed));
        }
        Ok(Expr::Call(function, arguments))
    }
}

const CONSTANTS: [(&str, ExprValue); 3] = [
    ("null", ExprValue::Null),
    ("true", ExprValue::Bool(true)),
    ("false", ExprValue::Bool(false)),
];

const KEYWORDS: [&str; 10] = [
    "and", "or", "is", "isnull", "notnull", "when", "then", "else", "end", "not",
];

struct Shown<'a, 't>(&'a Token<'t>);

impl fmt::Display for Shown<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Token::Int(n) => write!(f, "{n}"),
            Token::BeyondInt => f.write_str("9223372036854775808"),
            Token::Double(d) => write!(f, "{d:?}"),
            Token::Variable(name) => write!(f, ":{name}"),
            Token::Word(word) => f.write_str(word),
            Token::Symbol(symbol) => f.write_str(symbol),
        }
    }
}
