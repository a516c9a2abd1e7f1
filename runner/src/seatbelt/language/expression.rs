//! Expressions of a profile, each with its place.

use super::lexer::{Place, Token, tokens};
use crate::seatbelt::error::{Problem, ProfileError};

/// Deeper nesting than any profile has; it bounds the stack.
const DEEPEST: usize = 100;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expression {
    pub(super) place: Place,
    pub(super) kind: Kind,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Text(String),
    Number(i64),
    Boolean(bool),
    Symbol(String),
    List(Vec<Expression>),
}

impl Expression {
    /// The word, if it is one.
    pub(super) fn symbol(&self) -> Option<&str> {
        match &self.kind {
            Kind::Symbol(word) => Some(word),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub(super) fn list(&self) -> Option<&[Expression]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }
}

/// Every expression of a text, in order.
pub(super) fn parse(text: &str) -> Result<Vec<Expression>, ProfileError> {
    let tokens = tokens(text)?;
    let mut rest = tokens.into_iter();
    let mut found = Vec::new();
    while let Some((token, place)) = rest.next() {
        found.push(expression(token, place, &mut rest, 0)?);
    }
    Ok(found)
}

fn expression(
    token: Token,
    place: Place,
    rest: &mut std::vec::IntoIter<(Token, Place)>,
    depth: usize,
) -> Result<Expression, ProfileError> {
    let syntax = |problem: &str| Problem::Syntax(problem.to_owned()).at(place);
    if depth > DEEPEST {
        return Err(Problem::Outside(format!("nesting deeper than {DEEPEST}")).at(place));
    }
    let kind = match token {
        Token::Text(text) => Kind::Text(text),
        Token::Number(number) => Kind::Number(number),
        Token::Boolean(truth) => Kind::Boolean(truth),
        Token::Symbol(word) => Kind::Symbol(word),
        Token::Close => return Err(syntax("a closing parenthesis without an opening one")),
        Token::Quote => {
            let Some((token, inner)) = rest.next() else {
                return Err(syntax("a quote of nothing"));
            };
            let quote = Kind::Symbol("quote".to_owned());
            Kind::List(vec![
                Expression { place, kind: quote },
                expression(token, inner, rest, depth + 1)?,
            ])
        }
        Token::Open => {
            let mut items = Vec::new();
            loop {
                match rest.next() {
                    None => return Err(syntax("a parenthesis that is not closed")),
                    Some((Token::Close, _)) => break Kind::List(items),
                    Some((token, inner)) => {
                        items.push(expression(token, inner, rest, depth + 1)?);
                    }
                }
            }
        }
    };
    Ok(Expression { place, kind })
}
