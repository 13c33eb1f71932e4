//! Columns that CRDs declare.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{age, json_path};

/// A column beside the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    name: String,
    kind: String,
    format: String,
    description: String,
    priority: i64,
    path: String,
}

impl Column {
    /// The columns that a CRD declares for a version; only the age if it declares none.
    pub(crate) fn declared(definition: Option<&Value>, version: &str) -> Vec<Self> {
        let versions = definition.and_then(|definition| definition.pointer("/spec/versions")?.as_array());
        let version = versions.into_iter().flatten().find(|known| known["name"] == version);
        let columns = version.and_then(|version| version["additionalPrinterColumns"].as_array());
        columns.map_or_else(|| vec![Self::age()], |columns| columns.iter().map(Self::read).collect())
    }

    /// The columns of a custom resource's scale.
    pub(super) fn of_scale() -> Vec<Self> {
        vec![
            Self::plain("Desired", "integer", "Number of desired replicas", ".spec.replicas"),
            Self::plain("Available", "integer", "Number of actual replicas", ".status.replicas"),
            Self::age(),
        ]
    }

    /// Described as other columns of metadata: not at all.
    fn age() -> Self {
        Self::plain("Age", "date", "", ".metadata.creationTimestamp")
    }

    fn plain(name: &str, kind: &str, description: &str, path: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: kind.to_owned(),
            format: String::new(),
            description: description.to_owned(),
            priority: 0,
            path: path.to_owned(),
        }
    }

    fn read(column: &Value) -> Self {
        let text = |field: &str| column[field].as_str().unwrap_or_default().to_owned();
        Self {
            name: text("name"),
            kind: text("type"),
            format: text("format"),
            description: text("description"),
            priority: column["priority"].as_i64().unwrap_or_default(),
            path: text("jsonPath"),
        }
    }

    pub(super) fn definition(&self) -> Value {
        json!({
            "name": self.name, "type": self.kind, "format": self.format, "description": self.description,
            "priority": self.priority,
        })
    }

    pub(super) fn cell(&self, object: &Value, now: Timestamp) -> Value {
        let Some(value) = json_path::first(object, &self.path) else { return Value::Null };
        match (self.kind.as_str(), value) {
            ("date", Value::String(text)) => text
                .parse()
                .map_or_else(|_| "<unknown>".into(), |then| age::human(now.duration_since(then)).into()),
            ("string", Value::Array(_) | Value::Object(_) | Value::Number(_) | Value::Bool(_)) => {
                value.to_string().into()
            }
            (_, value) => value.clone(),
        }
    }
}
