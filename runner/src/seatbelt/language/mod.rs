//! The profile language: text to expressions, expressions to rules.

mod builtins;
mod evaluate;
mod expression;
mod lexer;
mod scope;
mod value;

pub(super) use evaluate::read;
pub(super) use lexer::Place;
