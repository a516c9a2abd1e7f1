//! The comparison as one page that needs nothing beside itself.
//!
//! The page holds the comparison as JSON, which its script shows. All text goes
//! through the document's text nodes, never through markup, since it holds what
//! confined commands wrote.

use serde_json::{Value, json};

use super::compact::compact;
use super::{Comparison, json};
use crate::report::results::timestamp;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// The whole page. `made` is when; it is shown.
pub fn render(comparison: &Comparison, made: std::time::SystemTime) -> String {
    let mut data: Value = compact(json::render(comparison));
    if let Some(object) = data.as_object_mut() {
        object.insert("made".to_owned(), json!(timestamp(made)));
    }
    // Within a script element only `<` could end it or begin a comment.
    let data = data.to_string().replace('<', "\\u003c");
    PAGE.replace("/*STYLE*/", STYLE)
        .replace("/*SCRIPT*/", SCRIPT)
        .replace("/*DATA*/", &data)
}
