//! One step of a path to a field, as `FieldsV1` writes it: `f:replicas`, `k:{"name":"web"}`, `v:"a"`, `i:0`.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};

use formats::json;
use serde_json::Value;
use webhook::field::quote;

use crate::object::go_text::shown_number;

/// One step of a path. The order is that of `FieldsV1`: fields, keys, values, indices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Element {
    /// A field of an object, or a key of a map.
    Field(String),
    /// An element of a list by what its key fields hold, in the order of their names.
    Key(Vec<(String, Scalar)>),
    /// An element of a set.
    Value(Scalar),
    /// An element of a list that has no keys; never written by this server.
    Index(usize),
}

/// The value of a list key or set element. Numbers sort before strings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scalar {
    /// A number.
    Number(Number),
    /// A string.
    Text(String),
    /// `true` or `false`.
    Bool(bool),
    /// An array or object, as JSON.
    Tree(String),
    /// `null`.
    Null,
}

/// A number, compared by value.
#[derive(Clone, Debug)]
pub(crate) struct Number(serde_json::Number);

impl Element {
    /// The element of a named field.
    pub(crate) fn field(name: &str) -> Self {
        Self::Field(name.to_owned())
    }

    /// Parses a key of `FieldsV1`. `None` if its prefix is unknown, that is, of a later version of the format.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, String> {
        let (form, rest) =
            text.split_once(':').filter(|(form, _)| form.len() == 1).ok_or_else(|| missing_colon(text))?;
        let bad = |error: &dyn fmt::Display| format!("parsing key as path element: {error}");
        Ok(Some(match form {
            "f" => Self::field(rest),
            "v" => Self::Value(Scalar::of(&serde_json::from_str(rest).map_err(|error| bad(&error))?)),
            "k" => {
                let key: serde_json::Map<String, Value> =
                    serde_json::from_str(rest).map_err(|error| bad(&error))?;
                Self::Key(key.iter().map(|(name, value)| (name.clone(), Scalar::of(value))).collect())
            }
            "i" => Self::Index(rest.parse().map_err(|error| bad(&error))?),
            _ => return Ok(None),
        }))
    }

    /// The key of `FieldsV1`.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(key) => {
                let fields: Vec<String> = key
                    .iter()
                    .map(|(name, value)| format!("{}:{}", escaped(name, false), value.json()))
                    .collect();
                format!("k:{{{}}}", fields.join(","))
            }
            Self::Value(value) => format!("v:{}", value.json()),
            Self::Index(index) => format!("i:{index}"),
        }
    }
}

/// The form that messages use: `.replicas`, `[name="web"]`, `[="a"]`, `[0]`.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(key) => {
                let fields: Vec<String> = key.iter().map(|(name, value)| format!("{name}={value}")).collect();
                write!(f, "[{}]", fields.join(","))
            }
            Self::Value(value) => write!(f, "[={value}]"),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

impl Scalar {
    /// The scalar for a JSON value.
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Number(number) => Self::Number(Number(number.clone())),
            Value::String(text) => Self::Text(text.clone()),
            Value::Bool(value) => Self::Bool(*value),
            Value::Null => Self::Null,
            tree => Self::Tree(tree.to_string()),
        }
    }

    fn json(&self) -> String {
        match self {
            Self::Number(number) => number.json(),
            Self::Text(text) => escaped(text, true),
            Self::Bool(value) => value.to_string(),
            Self::Tree(text) => json::html_safe(text),
            Self::Null => "null".to_owned(),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&quote(text)),
            Self::Tree(text) => {
                f.write_str(&serde_json::from_str(text).map(|tree| format_tree(&tree)).unwrap_or_default())
            }
            Self::Number(Number(number)) => f.write_str(&shown_number(number)),
            other => f.write_str(&other.json()),
        }
    }
}

impl Number {
    /// The number as jsoniter writes it, whose exponents have two digits.
    fn json(&self) -> String {
        match self.0.as_f64().filter(|_| self.0.is_f64()) {
            Some(float) if json::text(float).contains('e') => json::display(float),
            Some(float) => json::text(float),
            None => self.0.to_string(),
        }
    }
}

/// A tree in the form that paths use: maps have no brackets.
fn format_tree(tree: &Value) -> String {
    match tree {
        Value::Array(items) => format!("[{}]", items.iter().map(format_tree).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => {
            let entries = fields.iter().map(|(name, value)| format!("{name}={}", format_tree(value)));
            entries.collect::<Vec<_>>().concat()
        }
        Value::String(text) => quote(text),
        Value::Number(number) => shown_number(number),
        other => other.to_string(),
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Some(own), Some(other)) = (self.0.as_i64(), other.0.as_i64()) {
            return own.cmp(&other);
        }
        let float = |number: &serde_json::Number| number.as_f64().unwrap_or_default();
        float(&self.0).total_cmp(&float(&other.0))
    }
}

/// A path in the form that messages use.
pub(crate) fn format_path(path: &[Element]) -> String {
    path.iter().map(Element::to_string).collect()
}

/// A text in JSON as jsoniter writes it: of control characters, only three have a short escape; `html` also escapes what is
/// special in HTML, and the line breaks of Unicode, as in values but not in names.
fn escaped(text: &str, html: bool) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => json.extend(['\\', letter]),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            '\0'..='\x1f' => escape(&mut json, letter),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' if html => escape(&mut json, letter),
            other => json.push(other),
        }
    }
    json.push('"');
    json
}

fn escape(json: &mut String, letter: char) {
    write!(json, "\\u{:04x}", u32::from(letter)).expect("writing to memory does not fail");
}

fn missing_colon(text: &str) -> String {
    if text.len() < 2 {
        return "parsing key as path element: key must be 2 characters long:".to_owned();
    }
    format!("parsing key as path element: missing colon: {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_survive_parsing_and_formatting() {
        let table = [
            ("f:spec", ".spec"),
            ("f:a.b/c", ".a.b/c"),
            (r#"k:{"containerPort":80,"protocol":"TCP"}"#, r#"[containerPort=80,protocol="TCP"]"#),
            (r#"v:"x\u0026y""#, r#"[="x&y"]"#),
            ("v:3", "[=3]"),
            ("v:1e-07", "[=1e-07]"),
            ("v:1e+21", "[=1e+21]"),
            (r#"v:"\u2028""#, r#"[="\u2028"]"#),
            ("i:4", "[4]"),
        ];
        for (key, message) in table {
            let element = Element::parse(key).unwrap().unwrap();
            assert_eq!((element.key().as_str(), element.to_string().as_str()), (key, message));
        }
        let key = |name: &str, text: &str| {
            Element::Key(vec![(name.to_owned(), Scalar::Text(text.to_owned()))]).key()
        };
        assert_eq!(key("n<\u{2028}", "<\u{7f}"), "k:{\"n<\u{2028}\":\"\\u003c\u{7f}\"}");
        assert_eq!(key("n", "\0\u{8}\u{c}\n\t"), r#"k:{"n":"\u0000\u0008\u000c\n\t"}"#);
        assert_eq!(Element::parse("z:later"), Ok(None));
        assert_eq!(
            Element::parse("x").unwrap_err(),
            "parsing key as path element: key must be 2 characters long:"
        );
        assert_eq!(Element::parse("spec").unwrap_err(), "parsing key as path element: missing colon: spec");
    }

    #[test]
    fn fields_sort_before_keys_and_numbers_before_strings() {
        let keys =
            [r#"v:"a""#, r#"k:{"port":100}"#, "f:z", r#"k:{"port":9}"#, "v:1", r#"k:{"port":"a"}"#, "f:a"];
        let mut elements: Vec<Element> =
            keys.iter().map(|key| Element::parse(key).unwrap().unwrap()).collect();
        elements.sort();
        let sorted: Vec<String> = elements.iter().map(Element::key).collect();
        let wanted =
            ["f:a", "f:z", r#"k:{"port":9}"#, r#"k:{"port":100}"#, r#"k:{"port":"a"}"#, "v:1", r#"v:"a""#];
        assert_eq!(sorted, wanted);
    }
}
