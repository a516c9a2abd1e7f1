//! Reading a profile back, strictly: what the launcher writes and nothing else.
// Each test program uses a part of it.
#![allow(dead_code, clippy::unwrap_used)]

pub mod policies;

/// An expression of the profile language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    Word(String),
    Text(String),
    List(Vec<Form>),
}

impl Form {
    pub fn list(&self) -> &[Form] {
        match self {
            Form::List(list) => list,
            other => panic!("{other:?} is no list"),
        }
    }

    pub fn word(&self) -> &str {
        match self {
            Form::Word(word) => word,
            other => panic!("{other:?} is no word"),
        }
    }
}

/// A rule: what it does, to what, and for which filters.
#[derive(Debug, Clone)]
pub struct Rule {
    pub allow: bool,
    pub operations: Vec<String>,
    pub filters: Vec<Form>,
    /// The paths that filters name as they are, and those that they name with what is beneath.
    pub literals: Vec<String>,
    pub subpaths: Vec<String>,
    /// How many bytes it has.
    pub length: usize,
}

impl Rule {
    /// The paths that filters of a form name, at whatever depth.
    pub fn paths(&self, form: &str) -> Vec<&str> {
        let mut found = Vec::new();
        let mut left: Vec<&Form> = self.filters.iter().collect();
        while let Some(Form::List(list)) = left.pop() {
            if let [Form::Word(word), Form::Text(text)] = list.as_slice() {
                if word == form {
                    found.push(text.as_str());
                }
            }
            left.extend(list.iter().filter(|form| matches!(form, Form::List(_))));
        }
        found
    }

    pub fn is_about(&self, operation: &str) -> bool {
        self.operations.iter().any(|each| each == operation)
    }
}

/// The rules of a profile, in order. Anything else than a version first, comments and
/// rules is a failure.
pub fn rules(text: &str) -> Vec<Rule> {
    assert!(text.is_ascii());
    let forms = read(text);
    assert_eq!(
        forms[0].0,
        Form::List(vec![Form::Word("version".into()), Form::Word("1".into())])
    );
    forms[1..]
        .iter()
        .map(|(form, length)| {
            let list = form.list();
            let operations: Vec<String> = list[1..]
                .iter()
                .take_while(|part| matches!(part, Form::Word(_)))
                .map(|part| part.word().to_owned())
                .collect();
            let mut rule = Rule {
                literals: Vec::new(),
                subpaths: Vec::new(),
                allow: match list[0].word() {
                    "allow" => true,
                    "deny" => false,
                    other => panic!("{other} is no action"),
                },
                filters: list[1 + operations.len()..].to_vec(),
                operations,
                length: *length,
            };
            let owned = |form| rule.paths(form).into_iter().map(str::to_owned).collect();
            (rule.literals, rule.subpaths) = (owned("literal"), owned("subpath"));
            rule
        })
        .collect()
}

/// The forms of a text, each with its length.
pub fn read(text: &str) -> Vec<(Form, usize)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut forms = Vec::new();
    while skip(bytes, &mut at) {
        let start = at;
        let form = form(bytes, &mut at);
        forms.push((form, at - start));
    }
    forms
}

/// Passes over blanks and comments; false at the end.
fn skip(bytes: &[u8], at: &mut usize) -> bool {
    while let Some(byte) = bytes.get(*at) {
        match byte {
            b';' => {
                while bytes.get(*at).is_some_and(|byte| *byte != b'\n') {
                    *at += 1;
                }
            }
            b' ' | b'\n' => *at += 1,
            _ => return true,
        }
    }
    false
}

fn form(bytes: &[u8], at: &mut usize) -> Form {
    let start = *at;
    match bytes[*at] {
        b'(' => {
            *at += 1;
            let mut list = Vec::new();
            loop {
                assert!(skip(bytes, at), "a list that does not end");
                if bytes[*at] == b')' {
                    *at += 1;
                    return Form::List(list);
                }
                list.push(form(bytes, at));
            }
        }
        b')' => panic!("a parenthesis too many"),
        b'"' => Form::Text(string(bytes, at)),
        b'#' if bytes.get(*at + 1) == Some(&b'"') => {
            *at += 1;
            Form::Text(string(bytes, at))
        }
        _ => {
            while !matches!(
                bytes.get(*at),
                None | Some(b' ' | b'\n' | b'(' | b')' | b'"')
            ) {
                *at += 1;
            }
            Form::Word(String::from_utf8(bytes[start..*at].to_vec()).unwrap())
        }
    }
}

fn string(bytes: &[u8], at: &mut usize) -> String {
    let start = *at + 1;
    let length = bytes[start..]
        .iter()
        .position(|byte| *byte == b'"')
        .expect("a text that does not end");
    *at = start + length + 1;
    let text = String::from_utf8(bytes[start..start + length].to_vec()).unwrap();
    assert!(!text.contains(['\\', '\n']), "{text:?}");
    text
}
