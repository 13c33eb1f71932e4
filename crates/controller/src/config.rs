//! Component configuration files: read generically, with the position of every unknown field and every wrong type.

mod file;
mod nearest;
mod reader;
mod sections;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use formats::yaml::{self, Node};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use file::{Configuration, FileError, validated};
use reader::{PathSegment, Unknown};
pub use sections::{Debugging, LeaderElection, Server};

/// How to read a file of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// `apiVersion` that the file must carry.
    pub api_version: &'static str,
    /// `kind` that the file must carry.
    pub kind: &'static str,
    /// Converts aliases and old field names before the file is read.
    pub normalize: fn(&mut Value),
    /// TargetDescription misspellings of paths, each with the correct path.
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
    /// The known field that was probably meant.
    pub suggestion: Option<String>,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: unknown field {} has no effect", self.position, self.field)?;
        match &self.suggestion {
            Some(suggestion) => write!(f, ", did you mean {suggestion}?"),
            None => Ok(()),
        }
    }
}

/// Why a configuration cannot be used. No error shows the value of a field.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is missing or unreadable.
    #[error("failed to read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// It is not valid YAML.
    #[error("failed to parse the configuration: {0}")]
    Parse(#[source] yaml::Error),
    /// It holds no document, or more than one.
    #[error("failed to parse the configuration: expected one document, found {0}")]
    Documents(usize),
    /// It has another `apiVersion` or `kind`, or none.
    #[error("failed to read the configuration: {field} must be {want}, found {}", found.as_deref().unwrap_or("none"))]
    Kind {
        /// `apiVersion` or `kind`.
        field: &'static str,
        /// The required value.
        want: &'static str,
        /// The value in the file.
        found: Option<String>,
    },
    /// A field has the wrong type.
    #[error("failed to read the configuration: {position}: {field}: {message}")]
    Field {
        /// Position of the value.
        position: Position,
        /// Path of the field.
        field: String,
        /// What is wrong.
        message: String,
    },
    /// There are unknown fields, and the file is read strictly.
    #[error("failed to read the configuration: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Unknown(Vec<Warning>),
    /// The content of a file cannot be read as the configuration.
    #[error("{error} (in {})", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: Box<Self>,
    },
}

/// Reads a file; with `strict`, unknown fields are an error.
///
/// # Errors
/// As [`ConfigError`] says.
pub fn load<T: DeserializeOwned>(
    path: &Path,
    format: &Format,
    strict: bool,
) -> Result<(T, Vec<Warning>), ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    let in_file = |error| ConfigError::InFile { path: path.to_owned(), error: Box::new(error) };
    let (config, warnings) = read(&text, format).map_err(in_file)?;
    if strict && !warnings.is_empty() {
        Err(in_file(ConfigError::Unknown(warnings)))
    } else {
        Ok((config, warnings))
    }
}

/// Reads YAML or JSON text. Keys are case-sensitive, nulls count as absent, and unknown fields become warnings.
///
/// The field names come from the derived `Deserialize` of `T`, so `T` must not flatten structs.
///
/// # Errors
/// As [`ConfigError`] says, except `Read`, `Unknown` and `InFile`.
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
