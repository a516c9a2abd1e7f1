//! Tokens of a profile, each with its place.

use crate::seatbelt::error::{Problem, ProfileError};

/// Where something stands in a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::seatbelt) struct Place {
    /// The line, from 1.
    pub(in crate::seatbelt) line: usize,
    /// The column, from 1, in characters.
    pub(in crate::seatbelt) column: usize,
}

/// One token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Open,
    Close,
    Quote,
    Text(String),
    Number(i64),
    Boolean(bool),
    Symbol(String),
}

/// Every token of a text, in order.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Place)>, ProfileError> {
    let mut lexer = Lexer {
        rest: text.chars().collect(),
        next: 0,
        place: Place { line: 1, column: 1 },
    };
    let mut found = Vec::new();
    while let Some(token) = lexer.token()? {
        found.push(token);
    }
    Ok(found)
}

struct Lexer {
    rest: Vec<char>,
    next: usize,
    place: Place,
}

impl Lexer {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.next).copied()
    }

    fn take(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.next += 1;
        if letter == '\n' {
            self.place.line += 1;
            self.place.column = 1;
        } else {
            self.place.column += 1;
        }
        Some(letter)
    }

    fn skip_blanks(&mut self) {
        while let Some(letter) = self.peek() {
            if letter == ';' {
                while self.peek().is_some_and(|letter| letter != '\n') {
                    self.take();
                }
            } else if letter.is_ascii_whitespace() {
                self.take();
            } else {
                return;
            }
        }
    }

    fn token(&mut self) -> Result<Option<(Token, Place)>, ProfileError> {
        self.skip_blanks();
        let place = self.place;
        let Some(letter) = self.take() else {
            return Ok(None);
        };
        let token = match letter {
            '(' => Token::Open,
            ')' => Token::Close,
            '\'' => Token::Quote,
            '"' => Token::Text(self.text(place)?),
            '#' => self.sharp(place)?,
            _ => self.atom(letter, place)?,
        };
        Ok(Some((token, place)))
    }

    /// The rest of a string with escapes.
    fn text(&mut self, start: Place) -> Result<String, ProfileError> {
        let mut text = String::new();
        loop {
            let place = self.place;
            match self.take() {
                None => return Err(unended(start)),
                Some('"') => return Ok(text),
                Some('\\') => text.push(match self.take() {
                    None => return Err(unended(start)),
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    Some(letter @ ('"' | '\\')) => letter,
                    Some(letter) => {
                        let problem = format!(
                            "the escape \\{letter} in a string; write \\\\ for a backslash, or #\"...\" for a pattern"
                        );
                        return Err(Problem::Outside(problem).at(place));
                    }
                }),
                Some(letter) => text.push(letter),
            }
        }
    }

    /// What follows a `#`: a raw string, a truth value or a number in octal or
    /// hexadecimal.
    fn sharp(&mut self, start: Place) -> Result<Token, ProfileError> {
        if self.peek() == Some('"') {
            self.take();
            let mut text = String::new();
            loop {
                match self.take() {
                    None => return Err(unended(start)),
                    Some('"') => return Ok(Token::Text(text)),
                    // Only the quote itself needs an escape in a raw string.
                    Some('\\') if self.peek() == Some('"') => {
                        self.take();
                        text.push('"');
                    }
                    Some(letter) => text.push(letter),
                }
            }
        }
        let word = self.word(String::new());
        let number = |digits: &str, radix| i64::from_str_radix(digits, radix).ok();
        let token = match word.split_at_checked(1) {
            Some(("t", "")) => Some(Token::Boolean(true)),
            Some(("f", "")) => Some(Token::Boolean(false)),
            Some(("x", digits)) => number(digits, 16).map(Token::Number),
            Some(("o", digits)) => number(digits, 8).map(Token::Number),
            Some(("b", digits)) => number(digits, 2).map(Token::Number),
            Some(("d", digits)) => number(digits, 10).map(Token::Number),
            _ => None,
        };
        token
            .ok_or_else(|| Problem::Syntax(format!("undefined sharp expression #{word}")).at(start))
    }

    fn word(&mut self, mut word: String) -> String {
        while let Some(letter) = self.peek() {
            if letter.is_ascii_whitespace() || "()\";'".contains(letter) {
                break;
            }
            word.push(letter);
            self.take();
        }
        word
    }

    fn atom(&mut self, first: char, place: Place) -> Result<Token, ProfileError> {
        if first.is_control() {
            let problem = format!("the control character U+{:04X}", u32::from(first));
            return Err(Problem::Outside(problem).at(place));
        }
        if "`,[]{}|".contains(first) {
            return Err(Problem::Outside(format!("the character {first}")).at(place));
        }
        let word = self.word(String::from(first));
        Ok(match word.parse() {
            Ok(number) => Token::Number(number),
            Err(_) => Token::Symbol(word),
        })
    }
}

fn unended(start: Place) -> ProfileError {
    Problem::Syntax("a string that does not end".to_owned()).at(start)
}
