//! YAML 1.1 as Kubernetes reads it (`yes` is true, `010` is 8), with positions. No other module uses the YAML parsers.
//!
//! [`documents`] and [`from_str`] return data. [`parse`] returns [`Node`]s, which have their positions and their style, for
//! messages that point at lines. [`first_document`] is as lenient as Kubernetes with manifests. [`to_string`] writes YAML
//! that parses to the same value.

mod anchors;
mod build;
mod read;
mod scalar;
mod value;
mod write;

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub use build::parse;
pub use scalar::{reads_as_string, resolve};
pub use value::{duplicate_keys, first_document};
pub use write::to_string;

/// A position in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Offset in bytes, from 0.
    pub offset: usize,
}

/// A value with its position. The target of an alias has the position of its anchor.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its content.
    pub data: Data,
    /// Its beginning.
    pub start: Mark,
    /// Offset in bytes of its end.
    pub end: usize,
}

/// The content of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// A text, number, boolean or null.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A map, in the order of the text, without duplicate keys.
    Map(Vec<Entry>),
}

/// A scalar: its text, value and style.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// The text, escapes resolved.
    pub text: String,
    /// The value: string, number, boolean or null.
    pub value: Value,
    /// Its style.
    pub style: Style,
}

/// The style of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// In quotes.
    Quoted,
    /// As a block, `|` or `>`.
    Block,
}

/// One entry of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key; numbers and booleans in JSON's notation.
    pub key: String,
    /// Beginning of the key.
    pub start: Mark,
    /// Offset in bytes of the end of the key.
    pub end: usize,
    /// Whether the key has no quotes.
    pub plain: bool,
    /// The value.
    pub value: Node,
}

/// Reason a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Message without a capital or a full stop.
    pub message: String,
    /// Position of the error.
    pub mark: Mark,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.mark.line, self.mark.column, self.message)
    }
}

impl std::error::Error for Error {}

fn fail(message: &str, mark: Mark) -> Error {
    Error { message: message.to_owned(), mark }
}

impl Node {
    /// The value without positions.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match &self.data {
            Data::Scalar(scalar) => scalar.value.clone(),
            Data::List(items) => items.iter().map(Self::to_value).collect(),
            Data::Map(entries) => {
                let pairs = entries.iter().map(|entry| (entry.key.clone(), entry.value.to_value()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }

    /// The value of a key; `None` if the node is not a map.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries()?.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The entries of a map.
    #[must_use]
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.data {
            Data::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The elements of a list.
    #[must_use]
    pub fn items(&self) -> Option<&[Self]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    /// The scalar.
    #[must_use]
    pub fn scalar(&self) -> Option<&Scalar> {
        match &self.data {
            Data::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The text of a scalar that is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        self.scalar()?.value.as_str()
    }

    /// Whether it is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.scalar().is_some_and(|scalar| scalar.value.is_null())
    }

    /// Deserializes the value.
    ///
    /// # Errors
    /// If the value does not fit the type, with the position of the innermost key or value that does not.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        read::read(self)
    }
}

/// The values of all documents; empty documents are omitted.
///
/// # Errors
/// If the text is not YAML, or has a duplicate key in a map.
pub fn documents(text: &str) -> Result<Vec<Value>, Error> {
    let values = parse(text)?.into_iter().map(|node| node.to_value());
    Ok(values.filter(|value| !value.is_null()).collect())
}

/// Deserializes the only document of a text; an empty text is null.
///
/// # Errors
/// If the text is not YAML, has a second document, or does not fit the type.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let nodes = parse(text)?;
    if let Some(second) = nodes.get(1) {
        return Err(Error { message: "more than one document".to_owned(), mark: second.start });
    }
    match nodes.first() {
        Some(node) => node.read(),
        None => read::read(&Node::null()),
    }
}

impl Node {
    fn null() -> Self {
        let scalar = Scalar { text: String::new(), value: Value::Null, style: Style::Plain };
        Self { data: Data::Scalar(scalar), start: Mark { line: 1, column: 1, offset: 0 }, end: 0 }
    }
}

#[cfg(test)]
mod tests;
