//! Under which condition a row of a table holds: `PATH is V`, `PATH present`, `PATH absent`, `no source`.

use serde_json::Value;

/// What must be true of an object.
#[derive(Debug)]
pub(crate) enum Condition {
    /// The value at a path is this text.
    Is(Vec<String>, String),
    /// There is a value at a path.
    Present(Vec<String>),
    /// There is none.
    Absent(Vec<String>),
    /// It has no field beside its name.
    NoSource,
}

impl Condition {
    /// Reads what stands behind `if`.
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

    /// Whether it is true of an object.
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
