//! Conditions of table rows: `PATH is V`, `PATH present`, `PATH absent`, `no source`.

use serde_json::Value;

/// A condition on an object.
#[derive(Debug)]
pub(crate) enum Condition {
    /// The value at the path equals this text.
    Is(Vec<String>, String),
    /// The path has a value.
    Present(Vec<String>),
    /// The path has no value.
    Absent(Vec<String>),
    /// The object has no field other than `name`.
    NoSource,
}

impl Condition {
    /// Parses the text after `if`.
    pub(crate) fn read(text: &str) -> Self {
        let path = |text: &str| text.trim().split('.').map(str::to_owned).collect();
        if let Some((field, value)) = text.split_once(" is ") {
            return Self::Is(path(field), value.trim().to_owned());
        }
        match text.rsplit_once(' ') {
            Some((field, "present")) => Self::Present(path(field)),
            Some((field, "absent")) => Self::Absent(path(field)),
            _ => Self::NoSource,
        }
    }

    /// Whether the object satisfies the condition.
    pub(crate) fn holds(&self, object: &Value) -> bool {
        let at = |path: &[String]| path.iter().try_fold(object, |value, name| value.get(name));
        match self {
            Self::Is(path, wanted) => at(path).is_some_and(|value| value == wanted.as_str()),
            Self::Present(path) => at(path).is_some_and(|value| !value.is_null()),
            Self::Absent(path) => at(path).is_none_or(Value::is_null),
            Self::NoSource => {
                object.as_object().is_some_and(|fields| fields.keys().all(|name| name == "name"))
            }
        }
    }
}
