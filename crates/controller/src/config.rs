//! Component configuration files: read generically, with the position of every unknown field and every wrong type.

pub mod checks;
pub mod defaults;
mod file;
mod nearest;
mod profiling;
mod reader;
mod sections;

use std::fmt;

use formats::yaml::{self, Node};
use serde::de::DeserializeOwned;
use serde_json::Value;
use webhook::field;

pub use file::{Configuration, FileError, validated};
use reader::{PathSegment, Unknown};
pub use sections::{ClientConnection, Debugging, LeaderElection, Server, Servers};

/// How to read a file of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// `apiVersion` that the file must carry.
    pub api_version: &'static str,
    /// `kind` that the file must carry.
    pub kind: &'static str,
    /// Converts aliases and old field names before the file is read.
    pub normalize: fn(&mut Value),
    /// Usual misspellings of paths, each with the correct path.
    pub misspellings: &'static [(&'static str, &'static str)],
}

/// A position in a file; line and column count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column, in characters.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A field that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Position of the field's name.
    pub position: Position,
    /// Path of the field, such as `controllers.tokenValidator`.
    pub field: String,
    /// Why it has no effect.
    pub reason: Ineffective,
    /// The known field that was probably intended.
    pub suggestion: Option<String>,
}

/// Why a field has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ineffective {
    /// The component does not know it.
    Unknown,
    /// It enables profiling, which no program of this project supports.
    NoProfiles,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, field, reason, .. } = self;
        match reason {
            Ineffective::Unknown => write!(f, "{position}: unknown field {field} has no effect")?,
            Ineffective::NoProfiles => {
                write!(f, "{position}: field {field} has no effect: this program serves no profiles")?;
            }
        }
        match &self.suggestion {
            Some(suggestion) => write!(f, ", did you mean {suggestion}?"),
            None => Ok(()),
        }
    }
}

/// Why a configuration cannot be used. No error shows the value of a field, except of those that are invalid.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It is not valid YAML.
    #[error("error decoding config: {0}")]
    Parse(#[source] yaml::Error),
    /// It holds no document, or more than one.
    #[error("error decoding config: expected one document, found {0}")]
    Documents(usize),
    /// It has another `apiVersion` or `kind`, or none.
    #[error("error decoding config: {field} must be {want}, found {}", found.as_deref().unwrap_or("none"))]
    Kind {
        /// `apiVersion` or `kind`.
        field: &'static str,
        /// The required value.
        want: &'static str,
        /// The value in the file.
        found: Option<String>,
    },
    /// A field has the wrong type.
    #[error("error decoding config: {position}: {field}: {message}")]
    Field {
        /// Position of the value.
        position: Position,
        /// Path of the field.
        field: String,
        /// What is wrong.
        message: String,
    },
    /// There are unknown fields, and the file is read strictly.
    #[error("error decoding config: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Unknown(Vec<Warning>),
    /// An object within it has another kind; the text contains which, and what it is instead.
    #[error("error decoding config: {0}")]
    Object(String),
    /// It sets an unknown feature gate.
    #[error("unrecognized feature gate: {feature}; {program} has none but AllAlpha and AllBeta")]
    Feature {
        /// The unknown feature gate.
        feature: String,
        /// The component's program.
        program: &'static str,
    },
    /// It sets a feature gate that the component does not have among its own.
    #[error("unrecognized feature gate: {feature}; {program} has {}, AllAlpha and AllBeta", own.join(", "))]
    OwnFeature {
        /// The unknown feature gate.
        feature: String,
        /// The component's program.
        program: &'static str,
        /// Its own feature gates.
        own: &'static [&'static str],
    },
    /// It is invalid; these are all errors.
    #[error("{}", field::aggregate(.0))]
    Invalid(Vec<field::Error>),
}

/// Reads YAML or JSON text. Keys are case-sensitive, nulls count as absent, and fields without effect become warnings.
///
/// The field names come from the derived `Deserialize` of `T`, so `T` must not flatten structs.
///
/// # Errors
/// `Parse`, `Documents`, `Kind` and `Field`.
pub fn read<T: DeserializeOwned>(text: &str, format: &Format) -> Result<(T, Vec<Warning>), ConfigError> {
    let documents = yaml::parse(text).map_err(ConfigError::Parse)?;
    let [root] = documents.as_slice() else { return Err(ConfigError::Documents(documents.len())) };
    expect_kind(root, "apiVersion", format.api_version)?;
    expect_kind(root, "kind", format.kind)?;
    let mut value = root.to_value();
    (format.normalize)(&mut value);
    let (config, unknown) = reader::read(&value).map_err(|mismatch| ConfigError::Field {
        position: position(root, &mismatch.path, false),
        field: path_text(&mismatch.path),
        message: mismatch.message,
    })?;
    let head = |path: &[PathSegment]| matches!(path, [PathSegment::Field(name)] if name == "apiVersion" || name == "kind");
    let mut warnings: Vec<Warning> = unknown
        .iter()
        .filter(|unknown| !head(&unknown.path))
        .map(|unknown| warning(root, unknown, format))
        .collect();
    warnings.extend(profiling::warnings(root, &warnings));
    warnings.sort_by_key(|warning| warning.position);
    Ok((config, warnings))
}

fn expect_kind(root: &Node, field: &'static str, want: &'static str) -> Result<(), ConfigError> {
    let found = root.get(field).and_then(Node::as_str).filter(|text| !text.is_empty());
    if found == Some(want) {
        return Ok(());
    }
    Err(ConfigError::Kind { field, want, found: found.map(ToOwned::to_owned) })
}

fn warning(root: &Node, unknown: &Unknown, format: &Format) -> Warning {
    let field = path_text(&unknown.path);
    let known_misspelling = format
        .misspellings
        .iter()
        .find(|(wrong, _)| *wrong == field)
        .map(|(_, correct)| (*correct).to_owned());
    let similar = || match unknown.path.split_last() {
        Some((PathSegment::Field(name), parents)) => nearest::nearest(name, unknown.known).map(|known| {
            let mut path = parents.to_vec();
            path.push(PathSegment::Field(known.to_owned()));
            path_text(&path)
        }),
        _ => None,
    };
    Warning {
        position: position(root, &unknown.path, true),
        reason: Ineffective::Unknown,
        suggestion: known_misspelling.or_else(similar),
        field,
    }
}

/// Position of the last key of the path, or of its value. If an alias moved the value, the position of the longest
/// prefix that exists.
fn position(root: &Node, path: &[PathSegment], key: bool) -> Position {
    let mut node = root;
    let mut mark = root.start;
    for step in path {
        let found = match step {
            PathSegment::Field(name) => node
                .entries()
                .and_then(|entries| entries.iter().find(|entry| entry.key == *name))
                .map(|entry| (if key { entry.start } else { entry.value.start }, &entry.value)),
            PathSegment::Index(index) => {
                node.items().and_then(|items| items.get(*index)).map(|item| (item.start, item))
            }
        };
        let Some((start, below)) = found else { break };
        (mark, node) = (start, below);
    }
    Position { line: mark.line, column: mark.column }
}

fn path_text(path: &[PathSegment]) -> String {
    let steps = path.iter().enumerate().map(|(depth, step)| match step {
        PathSegment::Field(name) if depth == 0 => name.clone(),
        PathSegment::Field(name) => format!(".{name}"),
        PathSegment::Index(index) => format!("[{index}]"),
    });
    steps.collect()
}

#[cfg(test)]
mod tests;
