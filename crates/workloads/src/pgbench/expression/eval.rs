//! The value of an expression.

use super::{Binary, Draws, Expr, ExprValue, Unary};
use crate::random::Rng;
use std::io::Write;

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EvalError {
    /// A variable has no value.
    #[error("undefined variable \"{0}\"")]
    Undefined(String),
    /// What a server or a command line gave is no value.
    #[error("malformed variable \"{name}\" value: \"{value}\"")]
    Malformed {
        /// The variable.
        name: String,
        /// Its text.
        value: String,
    },
    /// A value is of another type than is needed.
    #[error("cannot coerce {given} to {wanted}")]
    NotA {
        /// Its type.
        given: &'static str,
        /// What is needed.
        wanted: &'static str,
    },
    /// A double is beyond integers.
    #[error("double to int overflow for {0:.6}")]
    IntOverflow(f64),
    /// An integer's sum, product or the like is beyond integers.
    #[error("bigint {0} out of range")]
    OutOfRange(&'static str),
    /// A divisor of 0.
    #[error("division by zero")]
    DivisionByZero,
    /// An argument that a function does not take.
    #[error("{0}")]
    Parameter(String),
}

/// What expressions are evaluated in: a client's variables and its generator.
pub struct Scope<'a> {
    variables: &'a [Option<ExprValue>],
    rng: &'a mut Rng,
    /// Where `debug()` is called: script and command.
    place: (usize, usize),
}

impl<'a> Scope<'a> {
    /// The variables by their places, the generator, and the script and command for `debug()`.
    pub fn new(
        variables: &'a [Option<ExprValue>],
        rng: &'a mut Rng,
        place: (usize, usize),
    ) -> Self {
        Self {
            variables,
            rng,
            place,
        }
    }

    #[cfg(test)]
    pub(super) fn bare(rng: &'a mut Rng) -> Self {
        Self::new(&[], rng, (0, 0))
    }

    pub(super) fn draws(&mut self) -> Draws<'_> {
        Draws(self.rng)
    }

    /// What `debug()` prints.
    pub(super) fn tell(&self, value: &ExprValue) {
        let (script, command) = self.place;
        let mut text = format!("debug(script={script},command={command}): ");
        match value {
            ExprValue::Null => text.push_str("null"),
            other => {
                text.push_str(other.type_name());
                text.push(' ');
                other.write_to(&mut text);
            }
        }
        // Nobody is told when the error output takes nothing.
        let _gone = writeln!(std::io::stderr(), "{text}");
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// [`EvalError`].
    pub fn value(&mut self, expr: &Expr) -> Result<ExprValue, EvalError> {
        match expr {
            Expr::Constant(value) => Ok(value.clone()),
            Expr::Variable(variable) => match self.variables.get(variable.slot) {
                Some(Some(value)) => value.typed(&variable.name),
                _ => Err(EvalError::Undefined(variable.name.to_string())),
            },
            Expr::Unary(unary, of) => {
                let value = self.value(of)?;
                apply(*unary, &value)
            }
            Expr::Binary(Binary::And, left, right) => self.lazy(left, right, false),
            Expr::Binary(Binary::Or, left, right) => self.lazy(left, right, true),
            Expr::Binary(binary, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                join(*binary, &left, &right)
            }
            Expr::Is { of, what, negated } => {
                let value = self.value(of)?;
                Ok(ExprValue::Bool((value == *what) != *negated))
            }
            Expr::Case {
                branches,
                otherwise,
            } => {
                for (when, then) in branches {
                    if self.value(when)?.holds() {
                        return self.value(then);
                    }
                }
                otherwise
                    .as_ref()
                    .map_or(Ok(ExprValue::Null), |otherwise| self.value(otherwise))
            }
            Expr::Call(function, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.value(argument)?);
                }
                if function.is_strict && values.contains(&ExprValue::Null) {
                    return Ok(ExprValue::Null);
                }
                (function.apply)(self, &values)
            }
        }
    }

    /// AND, or OR: the second operand does not matter when the first `decides`.
    fn lazy(&mut self, left: &Expr, right: &Expr, decides: bool) -> Result<ExprValue, EvalError> {
        let left = self.value(left)?;
        if left == ExprValue::Null {
            return Ok(ExprValue::Null);
        }
        if left.bool()? == decides {
            return Ok(ExprValue::Bool(decides));
        }
        match self.value(right)? {
            ExprValue::Null => Ok(ExprValue::Null),
            right => Ok(ExprValue::Bool(right.bool()?)),
        }
    }
}

fn apply(unary: Unary, of: &ExprValue) -> Result<ExprValue, EvalError> {
    if *of == ExprValue::Null {
        return Ok(ExprValue::Null);
    }
    match unary {
        Unary::Minus => join(Binary::Subtract, &ExprValue::Int(0), of),
        Unary::BitNot => Ok(ExprValue::Int(!of.int()?)),
        Unary::Not => Ok(ExprValue::Bool(!of.bool()?)),
    }
}

fn join(binary: Binary, left: &ExprValue, right: &ExprValue) -> Result<ExprValue, EvalError> {
    use Binary as B;
    if *left == ExprValue::Null || *right == ExprValue::Null {
        return Ok(ExprValue::Null);
    }
    let doubles = left.is_double() || right.is_double();
    if doubles
        && !matches!(
            binary,
            B::Modulo | B::BitAnd | B::BitOr | B::BitXor | B::Left | B::Right
        )
    {
        let (a, b) = (left.double()?, right.double()?);
        return Ok(match binary {
            B::Equal => ExprValue::Bool(a == b),
            B::NotEqual => ExprValue::Bool(a != b),
            B::Less => ExprValue::Bool(a < b),
            B::AtMost => ExprValue::Bool(a <= b),
            B::Greater => ExprValue::Bool(a > b),
            B::AtLeast => ExprValue::Bool(a >= b),
            B::Add => ExprValue::Double(a + b),
            B::Subtract => ExprValue::Double(a - b),
            B::Multiply => ExprValue::Double(a * b),
            _ => ExprValue::Double(a / b),
        });
    }
    let (a, b) = (left.int()?, right.int()?);
    let whole = |n: Option<i64>, what: &'static str| {
        n.map(ExprValue::Int).ok_or(EvalError::OutOfRange(what))
    };
    match binary {
        B::Equal => Ok(ExprValue::Bool(a == b)),
        B::NotEqual => Ok(ExprValue::Bool(a != b)),
        B::Less => Ok(ExprValue::Bool(a < b)),
        B::AtMost => Ok(ExprValue::Bool(a <= b)),
        B::Greater => Ok(ExprValue::Bool(a > b)),
        B::AtLeast => Ok(ExprValue::Bool(a >= b)),
        B::BitOr => Ok(ExprValue::Int(a | b)),
        B::BitXor => Ok(ExprValue::Int(a ^ b)),
        B::BitAnd => Ok(ExprValue::Int(a & b)),
        B::Left => Ok(ExprValue::Int(a.wrapping_shl(b as u32))),
        B::Right => Ok(ExprValue::Int(a.wrapping_shr(b as u32))),
        B::Add => whole(a.checked_add(b), "add"),
        B::Subtract => whole(a.checked_sub(b), "sub"),
        B::Multiply => whole(a.checked_mul(b), "mul"),
        B::Divide if b == 0 => Err(EvalError::DivisionByZero),
        B::Divide => whole(a.checked_div(b), "div"),
        B::Modulo => modulo(a, b),
        // Those are evaluated as far as they need to be, elsewhere.
        B::And => Ok(ExprValue::Bool(left.bool()? && right.bool()?)),
        B::Or => Ok(ExprValue::Bool(left.bool()? || right.bool()?)),
    }
}

/// The remainder, with the sign of the dividend.
pub(super) fn modulo(a: i64, b: i64) -> Result<ExprValue, EvalError> {
    match b {
        0 => Err(EvalError::DivisionByZero),
        _ => Ok(ExprValue::Int(a.wrapping_rem(b))),
    }
}
