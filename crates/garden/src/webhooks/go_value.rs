//! Values of the original's types: as Go prints them in field errors, and as it compares them.

use std::collections::BTreeMap;

use formats::duration::GoDuration;
use webhook::field::{Shown, quote};

/// A value of one of the original's types. As in the original's comparisons, a list or map that is absent equals an empty
/// one; an absent pointer equals only an absent one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GoValue {
    /// A text, of whatever named type.
    Text(String),
    /// A boolean.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A pointer: the type that it points to, and the value if there is one.
    Pointer(&'static str, Option<Box<Self>>),
    /// A struct: its type and fields.
    Struct(&'static str, Vec<(&'static str, Self)>),
    /// A list: the type of its elements, and the elements.
    List(&'static str, Vec<Self>),
    /// A map from text to text.
    Map(BTreeMap<String, String>),
}

/// A type whose pointers print what they point to.
const DURATION: &str = "v1.Duration";
/// What replaces an address in memory, which differs in each run of the original.
const ADDRESS: &str = "0x…";

impl GoValue {
    /// A text; empty if absent.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A text that may be absent, where Go has no pointer.
    pub(super) fn text_or_empty(text: Option<&String>) -> Self {
        Self::Text(text.cloned().unwrap_or_default())
    }

    /// A list of texts.
    pub(super) fn texts(texts: &[String]) -> Self {
        Self::List("string", texts.iter().map(Self::text).collect())
    }

    /// A pointer to a duration of so many nanoseconds.
    pub(super) fn duration(nanos: Option<i64>) -> Self {
        let duration = |nanos| Self::Struct(DURATION, vec![("Duration", Self::Integer(nanos))]);
        Self::pointer(DURATION, nanos.map(duration))
    }

    /// A pointer to a value of this type.
    pub(crate) fn pointer(to: &'static str, value: Option<Self>) -> Self {
        Self::Pointer(to, value.map(Box::new))
    }

    /// The value in Go's syntax (`%#v`).
    fn syntax(&self) -> String {
        let joined = |parts: Vec<String>| parts.join(", ");
        match self {
            Self::Text(text) => quote(text),
            Self::Bool(value) => value.to_string(),
            Self::Integer(number) => number.to_string(),
            Self::Pointer(to, None) => format!("(*{to})(nil)"),
            Self::Pointer(to, Some(_)) => format!("(*{to})({ADDRESS})"),
            Self::Struct(name, fields) => {
                let fields = fields.iter().map(|(name, value)| format!("{name}:{}", value.syntax()));
                format!("{name}{{{}}}", joined(fields.collect()))
            }
            Self::List(of, items) if items.is_empty() => format!("[]{of}(nil)"),
            Self::List(of, items) => {
                format!("[]{of}{{{}}}", joined(items.iter().map(Self::syntax).collect()))
            }
            Self::Map(entries) if entries.is_empty() => "map[string]string(nil)".to_owned(),
            Self::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| format!("{}:{}", quote(key), quote(value)));
                format!("map[string]string{{{}}}", joined(entries.collect()))
            }
        }
    }

    /// The value as plain text (`%v`).
    pub(super) fn plain(&self) -> String {
        let joined = |parts: Vec<String>| parts.join(" ");
        match self {
            Self::Text(text) => text.clone(),
            Self::Bool(value) => value.to_string(),
            Self::Integer(number) => number.to_string(),
            Self::Pointer(DURATION, None) => "nil".to_owned(),
            Self::Pointer(DURATION, Some(value)) => {
                format!("&Duration{{Duration:{},}}", value.span().unwrap_or_default())
            }
            Self::Pointer(_, None) => "<nil>".to_owned(),
            Self::Pointer(_, Some(_)) => ADDRESS.to_owned(),
            Self::Struct(_, fields) => {
                format!("{{{}}}", joined(fields.iter().map(|(_, value)| value.plain()).collect()))
            }
            Self::List(_, items) => format!("[{}]", joined(items.iter().map(Self::plain).collect())),
            Self::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| format!("{key}:{value}"));
                format!("map[{}]", joined(entries.collect()))
            }
        }
    }
}

impl GoValue {
    /// A duration.
    fn span(&self) -> Option<GoDuration> {
        match self {
            Self::Struct(DURATION, fields) => match fields.as_slice() {
                [(_, Self::Integer(nanos))] => Some(GoDuration::from_nanos(*nanos)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl From<&GoValue> for Shown {
    /// A pointer shows what it points to, an absent one a quoted null.
    fn from(value: &GoValue) -> Self {
        match value {
            GoValue::Pointer(_, None) => Self::from("null"),
            GoValue::Pointer(_, Some(value)) => Self::from(value.as_ref()),
            other => Self::verbatim(other.syntax()),
        }
    }
}

#[cfg(test)]
mod tests {
    use webhook::field::{Error, Path};

    use super::*;

    #[test]
    fn values_are_shown_as_go_shows_them() {
        let flag = |value| GoValue::pointer("bool", Some(GoValue::Bool(value)));
        let object = GoValue::Struct(
            "core.Thing",
            vec![
                ("Name", GoValue::text("a\"b")),
                ("On", flag(true)),
                ("Off", GoValue::pointer("bool", None)),
                ("Items", GoValue::texts(&["x".to_owned(), "y".to_owned()])),
                ("None", GoValue::texts(&[])),
                ("Labels", GoValue::Map(BTreeMap::from([("k".to_owned(), "v".to_owned())]))),
                ("Number", GoValue::Integer(3)),
            ],
        );
        let table = [
            (GoValue::text("a"), "\"a\"", "a"),
            (flag(false), "false", ADDRESS),
            (GoValue::pointer("v1.Subject", None), "\"null\"", "<nil>"),
            (
                object,
                "core.Thing{Name:\"a\\\"b\", On:(*bool)(0x…), Off:(*bool)(nil), Items:[]string{\"x\", \"y\"}, \
                 None:[]string(nil), Labels:map[string]string{\"k\":\"v\"}, Number:3}",
                "{a\"b 0x… <nil> [x y] [] map[k:v] 3}",
            ),
            (
                GoValue::duration(Some(90_000_000_000)),
                "v1.Duration{Duration:90000000000}",
                "&Duration{Duration:1m30s,}",
            ),
            (GoValue::duration(None), "\"null\"", "nil"),
            (GoValue::Map(BTreeMap::new()), "map[string]string(nil)", "map[]"),
        ];
        for (value, shown, plain) in table {
            let body = Error::invalid(&Path::new("a"), &value, "").body();
            assert_eq!((body, value.plain()), (format!("Invalid value: {shown}"), plain.to_owned()));
        }
    }
}
