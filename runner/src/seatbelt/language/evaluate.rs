//! Expressions to rules: the small part of Scheme that profiles are written in.

use std::rc::Rc;

use super::expression::{Expression, Kind, parse};
use super::lexer::Place;
use super::scope::Scope;
use super::value::{Function, Value};
use crate::seatbelt::error::{Problem, ProfileError};
use crate::seatbelt::filter::Filter;
use crate::seatbelt::profile::{Import, Origin, Parameters, Profile, RuleEntry};
use crate::seatbelt::semantics::{Rule, Semantics};
use crate::seatbelt::tables::Tables;

/// Evaluations inside of one another; it bounds the stack.
const DEEPEST: usize = 200;
/// Evaluations of one profile; it bounds the time.
const MOST: usize = 1_000_000;

/// Reads a profile.
pub(in crate::seatbelt) fn read(
    text: &str,
    parameters: &Parameters,
    tables: &Tables,
    semantics: Semantics,
) -> Result<Profile, ProfileError> {
    let mut reader = Reader {
        parameters,
        tables,
        semantics,
        profile: Profile {
            rules: Vec::new(),
            imports: Vec::new(),
        },
        origin: Origin::Always,
        around: Vec::new(),
        line: 0,
        depth: 0,
        count: 0,
    };
    let scope = Rc::new(Scope::default());
    if semantics.has(Rule::Always) {
        for rule in &tables.always {
            reader.read_all(rule, &scope)?;
        }
    }
    reader.origin = Origin::Profile;
    let expressions = parse(text)?;
    check_version(&expressions, semantics)?;
    for expression in &expressions {
        reader.top(expression, &scope)?;
    }
    Ok(reader.profile)
}

fn check_version(expressions: &[Expression], semantics: Semantics) -> Result<(), ProfileError> {
    let start = Place { line: 1, column: 1 };
    let place = expressions.first().map_or(start, |first| first.place);
    let first = expressions.first().and_then(Expression::list);
    match first {
        Some([head, version]) if head.symbol() == Some("version") => match version.kind {
            Kind::Number(1) => Ok(()),
            _ => Err(Problem::Outside("a version other than 1".to_owned()).at(version.place)),
        },
        _ if semantics.has(Rule::Version) => Err(Problem::NoVersion.at(place)),
        _ => Ok(()),
    }
}

/// What the reading of one profile has come to.
pub(super) struct Reader<'a> {
    pub(super) parameters: &'a Parameters,
    pub(super) tables: &'a Tables,
    pub(super) semantics: Semantics,
    pub(super) profile: Profile,
    origin: Origin,
    /// The filters of the `with-filter` that the rules stand in.
    around: Vec<Filter>,
    line: usize,
    depth: usize,
    count: usize,
}

impl Reader<'_> {
    fn read_all(&mut self, text: &str, scope: &Rc<Scope>) -> Result<(), ProfileError> {
        for expression in &parse(text)? {
            self.evaluate(expression, scope)?;
        }
        Ok(())
    }

    /// One expression of the profile itself.
    fn top(&mut self, expression: &Expression, scope: &Rc<Scope>) -> Result<(), ProfileError> {
        self.line = expression.place.line;
        match self.evaluate(expression, scope)? {
            Value::Nothing => Ok(()),
            // A value that nothing is done with is ignored by a Mac; here it is a
            // sign that something was not understood.
            other => {
                let problem = format!("a {} that stands alone", other.kind());
                Err(Problem::Outside(problem).at(expression.place))
            }
        }
    }

    pub(super) fn evaluate(
        &mut self,
        expression: &Expression,
        scope: &Rc<Scope>,
    ) -> Result<Value, ProfileError> {
        self.count += 1;
        if self.depth > DEEPEST || self.count > MOST {
            let problem = "a profile that takes this long to evaluate".to_owned();
            return Err(Problem::Outside(problem).at(expression.place));
        }
        match &expression.kind {
            Kind::Text(text) => Ok(Value::Text(text.clone())),
            Kind::Number(number) => Ok(Value::Number(*number)),
            Kind::Boolean(truth) => Ok(Value::Boolean(*truth)),
            Kind::Symbol(word) => self
                .named(word, scope)
                .ok_or_else(|| Problem::Unbound(word.clone()).at(expression.place)),
            Kind::List(items) => {
                self.depth += 1;
                let value = self.form(items, expression.place, scope);
                self.depth -= 1;
                value
            }
        }
    }

    /// What a word means.
    fn named(&self, word: &str, scope: &Scope) -> Option<Value> {
        if let Some(value) = scope.find(word) {
            return Some(value);
        }
        let with_aliases = self.semantics.has(Rule::Aliases);
        if let Some(operation) = self.tables.operations.find(word, with_aliases) {
            return Some(Value::Operation(operation));
        }
        self.is_builtin(word)
            .then(|| Value::Builtin(word.to_owned()))
    }

    fn form(
        &mut self,
        items: &[Expression],
        place: Place,
        scope: &Rc<Scope>,
    ) -> Result<Value, ProfileError> {
        let Some((head, rest)) = items.split_first() else {
            return Err(Problem::Syntax("an empty list".to_owned()).at(place));
        };
        let word = head.symbol().filter(|word| scope.find(word).is_none());
        match word {
            Some("define") => return self.define(rest, place, scope),
            Some("lambda") => {
                let [parameters, body @ ..] = rest else {
                    return Err(malformed("lambda", place));
                };
                return function(parameters, body, scope);
            }
            Some("if") => {
                let (condition, yes, no) = match rest {
                    [condition, yes] => (condition, yes, None),
                    [condition, yes, no] => (condition, yes, Some(no)),
                    _ => return Err(malformed("if", place)),
                };
                return if self.evaluate(condition, scope)?.holds() {
                    self.evaluate(yes, scope)
                } else {
                    no.map_or(Ok(Value::Nothing), |no| self.evaluate(no, scope))
                };
            }
            Some(word @ ("when" | "unless")) => {
                let [condition, body @ ..] = rest else {
                    return Err(malformed(word, place));
                };
                let holds = self.evaluate(condition, scope)?.holds();
                return if holds == (word == "when") {
                    self.block(body, scope)
                } else {
                    Ok(Value::Nothing)
                };
            }
            Some("cond") => return self.cond(rest, scope),
            Some(word @ ("let" | "let*")) => return self.bind(rest, word, place, scope),
            Some("begin") => return self.block(rest, scope),
            Some(word @ ("and" | "or")) => {
                let mut last = Value::Boolean(word == "and");
                for part in rest {
                    last = self.evaluate(part, scope)?;
                    if last.holds() != (word == "and") {
                        break;
                    }
                }
                return Ok(last);
            }
            Some("quote") => {
                let [quoted] = rest else {
                    return Err(malformed("quote", place));
                };
                return Ok(datum(quoted));
            }
            Some("version") if self.origin == Origin::Profile => return self.version(rest, place),
            // It only changes what is logged.
            Some("debug") => return Ok(Value::Nothing),
            Some("with-filter") => {
                let [filter, body @ ..] = rest else {
                    return Err(malformed("with-filter", place));
                };
                let Value::Filter(around) = self.evaluate(filter, scope)? else {
                    return Err(malformed("with-filter", place));
                };
                self.around.push(around);
                let value = self.block(body, scope);
                self.around.pop();
                return value;
            }
            _ => {}
        }
        let function = self.evaluate(head, scope)?;
        let words = matches!(&function, Value::Builtin(name) if self.takes_words(name));
        let mut arguments = Vec::new();
        for part in rest {
            let value = match part.symbol() {
                Some(word) if words && self.named(word, scope).is_none() => {
                    Value::Word(word.to_owned())
                }
                _ => self.evaluate(part, scope)?,
            };
            arguments.push((value, part.place));
        }
        self.call(&function, arguments, place)
    }

    pub(super) fn call(
        &mut self,
        function: &Value,
        arguments: Vec<(Value, Place)>,
        place: Place,
    ) -> Result<Value, ProfileError> {
        match function {
            Value::Builtin(name) => self.builtin(name, arguments, place),
            Value::Function(function) => {
                if arguments.len() != function.parameters.len() {
                    let problem = format!(
                        "a function of {} parameters is called with {}",
                        function.parameters.len(),
                        arguments.len()
                    );
                    return Err(Problem::Refused(problem).at(place));
                }
                let inner = Scope::inside(&function.scope);
                for (name, (value, _)) in function.parameters.iter().zip(arguments) {
                    inner.define(name, value);
                }
                self.block(&function.body, &inner)
            }
            other => {
                let problem = format!("illegal function: a {} is called", other.kind());
                Err(Problem::Refused(problem).at(place))
            }
        }
    }

    fn block(&mut self, body: &[Expression], scope: &Rc<Scope>) -> Result<Value, ProfileError> {
        let mut last = Value::Nothing;
        for expression in body {
            last = self.evaluate(expression, scope)?;
        }
        Ok(last)
    }

    fn define(
        &mut self,
        rest: &[Expression],
        place: Place,
        scope: &Rc<Scope>,
    ) -> Result<Value, ProfileError> {
        let [what, body @ ..] = rest else {
            return Err(malformed("define", place));
        };
        let (name, value) = match (&what.kind, body) {
            (Kind::Symbol(name), [value]) => (name.clone(), self.evaluate(value, scope)?),
            (Kind::List(items), body) if !items.is_empty() => {
                let Some(name) = items[0].symbol() else {
                    return Err(malformed("define", place));
                };
                let parameters = Expression {
                    place,
                    kind: Kind::List(items[1..].to_vec()),
                };
                (name.to_owned(), function(&parameters, body, scope)?)
            }
            _ => return Err(malformed("define", place)),
        };
        if self.tables.operations.find(&name, true).is_some() || self.is_builtin(&name) {
            // A Mac would take it; that it was meant is unlikely.
            let problem = format!("a definition of {name}, which has a meaning of its own");
            return Err(Problem::Outside(problem).at(place));
        }
        scope.define(&name, value);
        Ok(Value::Nothing)
    }

    fn cond(&mut self, clauses: &[Expression], scope: &Rc<Scope>) -> Result<Value, ProfileError> {
        for clause in clauses {
            let Some([condition, body @ ..]) = clause.list() else {
                return Err(malformed("cond", clause.place));
            };
            if condition.symbol() == Some("else") || self.evaluate(condition, scope)?.holds() {
                return self.block(body, scope);
            }
        }
        Ok(Value::Nothing)
    }

    fn bind(
        &mut self,
        rest: &[Expression],
        word: &str,
        place: Place,
        scope: &Rc<Scope>,
    ) -> Result<Value, ProfileError> {
        let [bindings, body @ ..] = rest else {
            return Err(malformed(word, place));
        };
        let Some(bindings) = bindings.list() else {
            return Err(Problem::Outside(format!("a {word} with a name")).at(place));
        };
        let inner = Scope::inside(scope);
        for binding in bindings {
            let Some([name, value]) = binding.list() else {
                return Err(malformed(word, binding.place));
            };
            let from = if word == "let*" { &inner } else { scope };
            let value = self.evaluate(value, from)?;
            let name = name
                .symbol()
                .ok_or_else(|| malformed(word, binding.place))?;
            inner.define(name, value);
        }
        self.block(body, &inner)
    }

    fn version(&self, rest: &[Expression], place: Place) -> Result<Value, ProfileError> {
        match rest {
            [
                Expression {
                    kind: Kind::Number(1),
                    ..
                },
            ] => Ok(Value::Nothing),
            _ => Err(Problem::Refused("only one version may be specified".to_owned()).at(place)),
        }
    }

    /// Adds a rule for each operation.
    pub(super) fn rule(&mut self, allows: bool, operations: &[usize], filters: Vec<Filter>) {
        let filters = if self.around.is_empty() {
            filters
        } else {
            let mut all = self.around.clone();
            if !filters.is_empty() {
                all.push(Filter::Any(filters));
            }
            vec![Filter::All(all)]
        };
        for operation in operations {
            self.profile.rules.push(RuleEntry {
                allows,
                operation: *operation,
                filters: filters.clone(),
                line: self.line,
                origin: self.origin,
            });
        }
    }

    /// Adds what is known of a profile of the system.
    pub(super) fn import(&mut self, name: &str, place: Place) -> Result<Value, ProfileError> {
        let known = &self.tables.imports.profiles;
        let Some(entry) = known.iter().find(|entry| entry.name == name) else {
            let problem = format!("the import of {name}, of which nothing is known");
            return Err(Problem::Outside(problem).at(place));
        };
        if !self.semantics.has(Rule::Imports) {
            return Ok(Value::Nothing);
        }
        for inner in &entry.imports {
            self.import(inner, place)?;
        }
        let before = self.origin;
        self.profile.imports.push(Import {
            name: name.to_owned(),
            after: self.profile.rules.len(),
            may: entry.may.clone(),
        });
        self.origin = Origin::Import(self.profile.imports.len() - 1);
        let scope = Rc::new(Scope::default());
        for rule in &entry.knows {
            self.read_all(rule, &scope)?;
        }
        self.origin = before;
        Ok(Value::Nothing)
    }
}

fn function(
    parameters: &Expression,
    body: &[Expression],
    scope: &Rc<Scope>,
) -> Result<Value, ProfileError> {
    let Some(items) = parameters.list() else {
        let problem = "a function with any number of parameters".to_owned();
        return Err(Problem::Outside(problem).at(parameters.place));
    };
    let mut names = Vec::new();
    for item in items {
        match item.symbol() {
            Some(".") | None => {
                let problem = "a function with any number of parameters".to_owned();
                return Err(Problem::Outside(problem).at(item.place));
            }
            Some(name) => names.push(name.to_owned()),
        }
    }
    Ok(Value::Function(Rc::new(Function {
        parameters: names,
        body: body.to_vec(),
        scope: Rc::clone(scope),
    })))
}

fn datum(expression: &Expression) -> Value {
    match &expression.kind {
        Kind::Text(text) => Value::Text(text.clone()),
        Kind::Number(number) => Value::Number(*number),
        Kind::Boolean(truth) => Value::Boolean(*truth),
        Kind::Symbol(word) => Value::Word(word.clone()),
        Kind::List(items) => Value::List(items.iter().map(datum).collect()),
    }
}

pub(super) fn malformed(word: &str, place: Place) -> ProfileError {
    Problem::Refused(format!("{word} is not written so")).at(place)
}
