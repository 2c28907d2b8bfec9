//! pgbench's expressions (PostgreSQL manual, "pgbench", "Built-in Operators" and "Built-In
//! Functions"): what stands behind `\set`, `\if` and `\elif`.

mod draw;
mod eval;
mod function;
mod lex;
mod parse;
#[cfg(test)]
mod tests;
mod value;

pub(super) use draw::Draws;
pub use eval::{EvalError, Scope};
pub use function::Function;
pub(super) use function::seed_of;
pub(super) use lex::is_of_name;
pub use parse::{ExpressionError, parse};
pub use value::ExprValue;

use std::fmt;
use std::sync::Arc;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A constant: of numbers, one without a sign.
    Constant(ExprValue),
    /// `:name`.
    Variable(Variable),
    /// `- x`, `~ x`, `NOT x`.
    Unary(Unary, Box<Expr>),
    /// Two operands and what joins them.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `x IS [NOT] NULL|TRUE|FALSE`.
    Is {
        /// The operand.
        of: Box<Expr>,
        /// What it is compared with.
        what: ExprValue,
        /// Whether there is a NOT.
        negated: bool,
    },
    /// `CASE WHEN … THEN … [ELSE …] END`.
    Case {
        /// Conditions, and the value of the first that is true.
        branches: Vec<(Expr, Expr)>,
        /// The value when none is; NULL when there is none.
        otherwise: Option<Box<Expr>>,
    },
    /// `name(…)`.
    Call(Function, Vec<Expr>),
}

/// A variable, by its place in the client's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its place.
    pub slot: usize,
    /// Its name, without the colon.
    pub name: Arc<str>,
}

/// An operator before its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Minus,
    /// `~`
    BitNot,
    /// `NOT`
    Not,
}

/// An operator between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// `OR`
    Or,
    /// `AND`
    And,
    /// `=`
    Equal,
    /// `<>`, `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `|`
    BitOr,
    /// `#`
    BitXor,
    /// `&`
    BitAnd,
    /// `<<`
    Left,
    /// `>>`
    Right,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

impl Binary {
    /// As it is written.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Binary::Or => "OR",
            Binary::And => "AND",
            Binary::Equal => "=",
            Binary::NotEqual => "<>",
            Binary::Less => "<",
            Binary::AtMost => "<=",
            Binary::Greater => ">",
            Binary::AtLeast => ">=",
            Binary::BitOr => "|",
            Binary::BitXor => "#",
            Binary::BitAnd => "&",
            Binary::Left => "<<",
            Binary::Right => ">>",
            Binary::Add => "+",
            Binary::Subtract => "-",
            Binary::Multiply => "*",
            Binary::Divide => "/",
            Binary::Modulo => "%",
        }
    }
}

/// The variables of a client by name: those that its scripts name, and no others.
#[derive(Debug, Clone, Default)]
pub struct Names(Vec<Arc<str>>);

impl Names {
    /// The place of a name, which is made if it is new.
    pub fn slot(&mut self, name: &str) -> Variable {
        let known = self.find(name);
        let slot = known.unwrap_or_else(|| {
            self.0.push(name.into());
            self.0.len() - 1
        });
        let name = self.0.get(slot).map_or_else(|| name.into(), Arc::clone);
        Variable { slot, name }
    }

    /// The place of a name that is known.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|known| **known == *name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// With parentheses around everything, so that what is read again is the same.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Constant(value) => value.write_constant(f),
            Expr::Variable(variable) => write!(f, ":{}", variable.name),
            Expr::Unary(unary, of) => {
                let word = match unary {
                    Unary::Minus => "-",
                    Unary::BitNot => "~",
                    Unary::Not => "NOT",
                };
                write!(f, "({word} {of})")
            }
            Expr::Binary(binary, left, right) => {
                write!(f, "({left} {} {right})", binary.word())
            }
            Expr::Is { of, what, negated } => {
                let not = if *negated { "NOT " } else { "" };
                write!(f, "({of} IS {not}")?;
                what.write_constant(f)?;
                f.write_str(")")
            }
            Expr::Case {
                branches,
                otherwise,
            } => {
                f.write_str("CASE")?;
                for (when, then) in branches {
                    write!(f, " WHEN {when} THEN {then}")?;
                }
                if let Some(otherwise) = otherwise {
                    write!(f, " ELSE {otherwise}")?;
                }
                f.write_str(" END")
            }
            Expr::Call(function, arguments) => {
                write!(f, "{}(", function.name)?;
                for (at, argument) in arguments.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    write!(f, "{comma}{argument}")?;
                }
                f.write_str(")")
            }
        }
    }
}
