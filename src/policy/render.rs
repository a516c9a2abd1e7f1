//! A policy as the document that would say it.

use serde_json::{Map, Value, json};

use super::model::{Network, Policy, Posture};

impl Policy {
    /// The policy as a document that [`Policy::from_json`] reads back, with every
    /// default spelled out. [`Policy::source`] is no part of it. A path that is
    /// not UTF-8, which no document can hold, is shown with replacement characters.
    ///
    /// ```
    /// use perimeter::Policy;
    ///
    /// let policy = Policy::host_readable();
    /// assert_eq!(Policy::from_json(&policy.to_json(), "again")?, policy);
    /// # Ok::<(), perimeter::policy::PolicyError>(())
    /// ```
    pub fn to_json(&self) -> String {
        let posture = match self.posture {
            Posture::Strict => "strict",
            Posture::HostReadable => "host-readable",
        };
        let network = match self.network {
            Network::Host => "host",
            Network::None => "none",
        };
        let paths = |list: &[std::path::PathBuf]| -> Value {
            list.iter().map(|path| path.to_string_lossy()).collect()
        };
        let fields = [
            ("version", json!(1)),
            ("posture", json!(posture)),
            ("enabled", json!(self.enabled)),
            ("network", json!(network)),
            ("read_only", paths(&self.read_only)),
            ("read_write", paths(&self.read_write)),
            ("hidden", paths(&self.hidden)),
            ("host_environment", json!(self.host_environment)),
        ];
        let mut document: Map<String, Value> = fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        if let Some(path) = &self.bubblewrap {
            document.insert("bubblewrap".to_owned(), json!(path.to_string_lossy()));
        }
        format!("{:#}", Value::Object(document))
    }
}
