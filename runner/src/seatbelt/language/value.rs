//! What an expression of a profile comes to.

use std::rc::Rc;

use super::expression::Expression;
use super::scope::Scope;
use crate::seatbelt::filter::Filter;

/// A value.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// What a rule or a definition comes to.
    Nothing,
    Boolean(bool),
    Number(i64),
    Text(String),
    /// A word that only some filters know.
    Word(String),
    List(Vec<Value>),
    Operation(usize),
    Filter(Filter),
    /// What changes how a rule is reported, and not what it decides.
    Modifier,
    Function(Rc<Function>),
    Builtin(String),
}

/// A function of the profile's own.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) parameters: Vec<String>,
    pub(super) body: Vec<Expression>,
    pub(super) scope: Rc<Scope>,
}

impl Value {
    /// What the language calls such a value.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Nothing => "nothing",
            Value::Boolean(_) => "boolean",
            Value::Number(_) => "integer",
            Value::Text(_) => "string",
            Value::Word(_) => "symbol",
            Value::List(_) => "list",
            Value::Operation(_) => "operation",
            Value::Filter(_) => "filter",
            Value::Modifier => "modifier",
            Value::Function(_) | Value::Builtin(_) => "procedure",
        }
    }

    /// Whether a condition holds: all but `#f` does.
    pub(super) fn holds(&self) -> bool {
        !matches!(self, Value::Boolean(false))
    }

    /// Whether two values are the same text, number, truth, word or list of these.
    pub(super) fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Boolean(one), Value::Boolean(two)) => one == two,
            (Value::Number(one), Value::Number(two)) => one == two,
            (Value::Text(one), Value::Text(two)) | (Value::Word(one), Value::Word(two)) => {
                one == two
            }
            (Value::List(one), Value::List(two)) => {
                one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.equals(two))
            }
            _ => false,
        }
    }
}
