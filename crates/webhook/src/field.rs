//! Field errors in Kubernetes' format: `spec.x: Invalid value: "a": must not be a`.

use std::collections::BTreeSet;
use std::fmt;

pub use formats::quote::quote;
use serde_json::Value;

/// Path of a field from the object's root: `spec.pools[0].labels[a/b]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(String);

impl Path {
    /// A top-level field.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// A child field.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self(format!("{}.{name}", self.0))
    }

    /// An element of this list.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// An entry of this map.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self(format!("{}[{key}]", self.0))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Type of a field error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorKind {
    /// It names something that does not exist.
    NotFound,
    /// It is absent or empty.
    Required,
    /// Its value is not unique.
    Duplicate,
    /// It is malformed.
    Invalid,
    /// It is not one of the supported values.
    NotSupported,
    /// It is well-formed but not permitted here.
    Forbidden,
    /// The text is too long.
    TooLong,
    /// The list is too long.
    TooMany,
    /// It has the wrong type.
    TypeInvalid,
    /// The error is not the user's fault.
    Internal,
}

impl ErrorKind {
    /// The reason of a status cause, such as `FieldValueRequired`.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::NotFound => "FieldValueNotFound",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::Internal => "InternalError",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::Internal => "Internal error",
        }
    }
}

/// A value in its form in error messages: texts quoted, numbers and booleans bare, other values as Go prints them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown(String);

impl Shown {
    /// Shows `text` without quotes, as Go does for a `Stringer` (a quantity, a duration).
    #[must_use]
    pub fn verbatim(text: impl fmt::Display) -> Self {
        Self(text.to_string())
    }

    /// Shows a text of a named Go type (`core.Protocol`), which messages have in JSON.
    #[must_use]
    pub fn named(text: &str) -> Self {
        Self(formats::json::quoted(text))
    }
}

impl From<&str> for Shown {
    fn from(text: &str) -> Self {
        Self(quote(text))
    }
}

impl From<&String> for Shown {
    fn from(text: &String) -> Self {
        Self(quote(text))
    }
}

impl From<i64> for Shown {
    fn from(number: i64) -> Self {
        Self(number.to_string())
    }
}

impl From<bool> for Shown {
    fn from(value: bool) -> Self {
        Self(value.to_string())
    }
}

impl From<&Vec<String>> for Shown {
    fn from(texts: &Vec<String>) -> Self {
        Self::from(texts.as_slice())
    }
}

impl From<&[String]> for Shown {
    fn from(texts: &[String]) -> Self {
        Self(format!("[]string{{{}}}", texts.iter().map(|text| quote(text)).collect::<Vec<_>>().join(", ")))
    }
}

impl From<&Value> for Shown {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self(quote("null")),
            Value::Array(items) if items.iter().all(Value::is_string) => {
                let texts: Vec<String> =
                    items.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect();
                Self::from(texts.as_slice())
            }
            other => Self(go_syntax(other)),
        }
    }
}

/// An error of one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Type of the error.
    pub kind: ErrorKind,
    /// Path of the field.
    pub field: String,
    /// Its value, if the message contains it.
    pub value: Option<Shown>,
    /// Further explanation; may be empty.
    pub detail: String,
}

impl Error {
    /// `Not found: <value>`.
    #[must_use]
    pub fn not_found(field: &Path, value: impl Into<Shown>) -> Self {
        Self::with(ErrorKind::NotFound, field, Some(value.into()), "")
    }

    /// `Required value: <detail>`.
    #[must_use]
    pub fn required(field: &Path, detail: &str) -> Self {
        Self::with(ErrorKind::Required, field, None, detail)
    }

    /// `Duplicate value: <value>`.
    #[must_use]
    pub fn duplicate(field: &Path, value: impl Into<Shown>) -> Self {
        Self::with(ErrorKind::Duplicate, field, Some(value.into()), "")
    }

    /// `Invalid value: <value>: <detail>`.
    #[must_use]
    pub fn invalid(field: &Path, value: impl Into<Shown>, detail: &str) -> Self {
        Self::with(ErrorKind::Invalid, field, Some(value.into()), detail)
    }

    /// `Invalid value: <value>: <detail>` for a value of the wrong type.
    #[must_use]
    pub fn type_invalid(field: &Path, value: impl Into<Shown>, detail: &str) -> Self {
        Self::with(ErrorKind::TypeInvalid, field, Some(value.into()), detail)
    }

    /// `Unsupported value: <value>: supported values: "a", "b"`, in the order given.
    #[must_use]
    pub fn not_supported(field: &Path, value: impl Into<Shown>, supported: &[&str]) -> Self {
        let quoted: Vec<String> = supported.iter().map(|value| quote(value)).collect();
        let detail = if quoted.is_empty() {
            String::new()
        } else {
            format!("supported values: {}", quoted.join(", "))
        };
        Self::with(ErrorKind::NotSupported, field, Some(value.into()), &detail)
    }

    /// `Forbidden: <detail>`.
    #[must_use]
    pub fn forbidden(field: &Path, detail: &str) -> Self {
        Self::with(ErrorKind::Forbidden, field, None, detail)
    }

    /// `Too long: must have at most <max> bytes`.
    #[must_use]
    pub fn too_long(field: &Path, max: usize) -> Self {
        Self::with(ErrorKind::TooLong, field, None, &format!("must have at most {max} bytes"))
    }

    /// `Too many: <actual>: must have at most <max> items`.
    #[must_use]
    pub fn too_many(field: &Path, actual: usize, max: usize) -> Self {
        let shown = Shown(actual.to_string());
        Self::with(ErrorKind::TooMany, field, Some(shown), &format!("must have at most {max} items"))
    }

    /// `Internal error: <detail>`.
    #[must_use]
    pub fn internal(field: &Path, detail: &str) -> Self {
        Self::with(ErrorKind::Internal, field, None, detail)
    }

    /// The message without the field, as in a status cause.
    #[must_use]
    pub fn body(&self) -> String {
        let mut text = self.kind.text().to_owned();
        for part in self.value.iter().map(|shown| shown.0.as_str()).chain(
            // An empty detail is omitted.
            Some(self.detail.as_str()).filter(|detail| !detail.is_empty()),
        ) {
            text.push_str(": ");
            text.push_str(part);
        }
        text
    }

    fn with(kind: ErrorKind, field: &Path, value: Option<Shown>, detail: &str) -> Self {
        Self { kind, field: field.to_string(), value, detail: detail.to_owned() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

/// All errors as one text: a single error unchanged, several as `[a, b]` without duplicates.
#[must_use]
pub fn aggregate(errors: &[Error]) -> String {
    let mut seen = BTreeSet::new();
    let texts: Vec<String> =
        errors.iter().map(ToString::to_string).filter(|text| seen.insert(text.clone())).collect();
    match texts.as_slice() {
        [only] => only.clone(),
        _ => format!("[{}]", texts.join(", ")),
    }
}

/// Prints a value as Go's `%#v` prints the result of its JSON decoder.
fn go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quote(text),
        Value::Array(items) => {
            format!("[]interface {{}}{{{}}}", items.iter().map(go_syntax).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let entries: Vec<String> =
                fields.iter().map(|(name, value)| format!("{}:{}", quote(name), go_syntax(value))).collect();
            format!("map[string]interface {{}}{{{}}}", entries.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_have_the_format_of_kubernetes() {
        let at = Path::new("spec").child("pools").index(0).child("labels").key("a/b");
        let prefix = "spec.pools[0].labels[a/b]: ";
        let table = [
            (Error::required(&at, "field is required"), "Required value: field is required"),
            (Error::required(&at, ""), "Required value"),
            (Error::invalid(&at, "a", "msg"), "Invalid value: \"a\": msg"),
            (Error::invalid(&at, 3, "msg"), "Invalid value: 3: msg"),
            (Error::invalid(&at, true, "msg"), "Invalid value: true: msg"),
            (Error::invalid(&at, &json!(null), "msg"), "Invalid value: \"null\": msg"),
            (Error::invalid(&at, &json!(1.5), "msg"), "Invalid value: 1.5: msg"),
            (Error::invalid(&at, &json!(["a", "b"]), "msg"), "Invalid value: []string{\"a\", \"b\"}: msg"),
            (
                Error::invalid(&at, &json!({"a": [1, null]}), "msg"),
                "Invalid value: map[string]interface {}{\"a\":[]interface {}{1, interface {}(nil)}}: msg",
            ),
            (Error::invalid(&at, Shown::verbatim("1Gi"), "msg"), "Invalid value: 1Gi: msg"),
            (
                Error::invalid(&at, Shown::named("<\0\u{7f}"), "msg"),
                "Invalid value: \"\\u003c\\u0000\u{7f}\": msg",
            ),
            (Error::invalid(&at, "<\0\u{7f}", "msg"), "Invalid value: \"<\\x00\\x7f\": msg"),
            (Error::type_invalid(&at, "a", "msg"), "Invalid value: \"a\": msg"),
            (Error::not_found(&at, "a"), "Not found: \"a\""),
            (Error::duplicate(&at, "a"), "Duplicate value: \"a\""),
            (
                Error::not_supported(&at, "x", &["b", "a"]),
                "Unsupported value: \"x\": supported values: \"b\", \"a\"",
            ),
            (Error::not_supported(&at, "x", &[]), "Unsupported value: \"x\""),
            (Error::forbidden(&at, "not here"), "Forbidden: not here"),
            (Error::too_long(&at, 3), "Too long: must have at most 3 bytes"),
            (Error::too_many(&at, 5, 3), "Too many: 5: must have at most 3 items"),
            (Error::internal(&at, "oops"), "Internal error: oops"),
        ];
        for (error, body) in table {
            assert_eq!((error.body().as_str(), error.to_string()), (body, format!("{prefix}{body}")));
        }
    }

    #[test]
    fn several_errors_are_bracketed_without_duplicates() {
        let (a, b) = (Error::required(&Path::new("a"), ""), Error::required(&Path::new("b"), ""));
        let one = "a: Required value";
        let table: [(&[&Error], &str); 4] = [
            (&[&a], one),
            (&[&a, &a], one),
            (&[&a, &b], "[a: Required value, b: Required value]"),
            (&[], "[]"),
        ];
        for (errors, text) in table {
            let errors: Vec<Error> = errors.iter().map(|error| (*error).clone()).collect();
            assert_eq!(aggregate(&errors), text);
        }
    }
}
