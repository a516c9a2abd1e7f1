//! The names that a profile defines, and where they are known.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::value::Value;

/// Names of one block, and the block around it.
#[derive(Debug, Default)]
pub(super) struct Scope {
    names: RefCell<HashMap<String, Value>>,
    outer: Option<Rc<Scope>>,
}

impl Scope {
    /// A block inside of another.
    pub(super) fn inside(outer: &Rc<Scope>) -> Rc<Scope> {
        Rc::new(Scope {
            names: RefCell::default(),
            outer: Some(Rc::clone(outer)),
        })
    }

    pub(super) fn define(&self, name: &str, value: Value) {
        self.names.borrow_mut().insert(name.to_owned(), value);
    }

    pub(super) fn find(&self, name: &str) -> Option<Value> {
        let own = self.names.borrow().get(name).cloned();
        own.or_else(|| self.outer.as_ref()?.find(name))
    }
}
