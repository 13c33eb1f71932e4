//! Files beside contracts: targets, waivers, ledgers, attestations; how they are read and how errors point into them.

pub mod attestation;
pub mod ledger;
pub mod mutants;
pub mod not_normative;
pub mod policy;
pub mod provider_profile;
pub mod releases;
pub mod target;
pub mod waivers;

use std::fmt;
use std::sync::Arc;

use formats::yaml::{self, Mark, Node};
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode, SourceSpan};
use serde::de::DeserializeOwned;

use crate::load::nearest;
use crate::model::Location;

/// The `apiVersion` of every file of this project.
pub const API_VERSION: &str = "conformance.gardener.cloud/v1alpha1";

/// A text and where it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Path as shown to users.
    pub path: String,
    /// Content.
    pub text: Arc<str>,
}

/// An error at a position in a file, and its remedy; printed with file, line and caret.
#[derive(Clone, Debug)]
pub struct Error {
    /// Name of the broken rule, for tables of rules and for tests: `unknown-key`; empty if the rule has no name.
    pub code: &'static str,
    /// The message, without a capital letter and full stop.
    pub message: String,
    /// How to correct it.
    pub remedy: Option<String>,
    /// The position.
    pub location: Location,
    snippet: Box<Snippet>,
}

/// The source text and the span that the diagnostic shows.
#[derive(Clone, Debug)]
struct Snippet {
    source: NamedSource<Arc<str>>,
    span: SourceSpan,
}

impl SourceFile {
    /// A file of this path and text.
    pub fn new(path: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// An error at a position of this file, `length` bytes long.
    #[must_use]
    pub fn error(
        &self,
        mark: Mark,
        length: usize,
        message: impl Into<String>,
        remedy: Option<String>,
    ) -> Error {
        Error {
            code: "",
            message: message.into(),
            remedy,
            location: Location { file: self.path.clone(), line: mark.line, column: mark.column },
            snippet: Box::new(Snippet {
                source: NamedSource::new(&self.path, Arc::clone(&self.text)).with_language("YAML"),
                span: (mark.offset.min(self.text.len()), length).into(),
            }),
        }
    }

    /// Deserializes the only document of this file, which must have this kind.
    fn read<T: DeserializeOwned>(&self, kind: &str) -> Result<T, Error> {
        let nodes = yaml::parse(&self.text).map_err(|error| self.syntax_error(error))?;
        let [node] = nodes.as_slice() else {
            let mark = nodes.get(1).map_or_else(first, |second| second.start);
            return Err(self.error(
                mark,
                1,
                format!("the file has {} documents, expected one of kind {kind}", nodes.len()),
                None,
            ));
        };
        self.expect_text(node, "apiVersion", API_VERSION)?;
        self.expect_text(node, "kind", kind)?;
        node.read().map_err(|error| self.type_error(error))
    }

    /// The error of a text that is not YAML. A tab in an indentation is reported at its own line: the parser notices it later.
    #[must_use]
    pub fn syntax_error(&self, error: yaml::Error) -> Error {
        match self.indenting_tab(error.mark.line) {
            None => {
                let is_open = error.message.contains("illegal placement");
                let remedy =
                    is_open.then(|| "a bracket, brace or quote before it may not be closed".to_owned());
                self.error(error.mark, 1, error.message, remedy)
            }
            Some(mark) => {
                let remedy = Some("indent with spaces".to_owned());
                self.error(mark, 1, "YAML does not allow tabs for indentation", remedy)
            }
        }
        .coded("yaml")
    }

    /// The first tab in the indentation of a line up to this one or the next.
    fn indenting_tab(&self, line: usize) -> Option<Mark> {
        let mut offset = 0;
        for (number, text) in (1..=line + 1).zip(self.text.split_inclusive('\n')) {
            let indentation = text.len() - text.trim_start_matches([' ', '\t']).len();
            if let Some(at) = text[..indentation].find('\t').filter(|_| !text.trim().is_empty()) {
                return Some(Mark { line: number, column: at + 1, offset: offset + at });
            }
            offset += text.len();
        }
        None
    }

    /// The error of a value that does not fit its type; for an unknown name with the nearest known one.
    #[must_use]
    pub fn type_error(&self, error: yaml::Error) -> Error {
        let Some((what, name, known)) = unknown_name(&error.message) else {
            return self.error(error.mark, 1, error.message, None);
        };
        let remedy = Some(nearest(name, known)).filter(|remedy| !remedy.is_empty());
        self.error(error.mark, name.len(), format!("unknown {what} {name:?}"), remedy)
    }

    fn expect_text(&self, node: &Node, key: &str, wanted: &str) -> Result<(), Error> {
        let remedy = Some(format!("write `{key}: {wanted}`"));
        match node.get(key) {
            Some(found) if found.as_str() == Some(wanted) => Ok(()),
            Some(found) => {
                let length = found.end.saturating_sub(found.start.offset);
                Err(self.error(found.start, length, format!("{key} is not {wanted}"), remedy))
            }
            None => Err(self.error(node.start, 1, format!("{key} is missing"), remedy)),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Location { file, line, column } = &self.location;
        write!(f, "{file}:{line}:{column}: {}", self.message)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// The same error with the name of the broken rule.
    #[must_use]
    pub fn coded(mut self, code: &'static str) -> Self {
        self.code = code;
        self
    }
}

impl Diagnostic for Error {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.code.is_empty()).then(|| Box::new(self.code) as Box<dyn fmt::Display>)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.remedy.as_ref().map(|remedy| Box::new(remedy) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.snippet.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(None, self.snippet.span))))
    }
}

/// What is unknown, its name and the known names, of a message such as "unknown field `a`, expected one of `b`, `c`".
fn unknown_name(message: &str) -> Option<(&str, &str, Vec<&str>)> {
    let (head, known) = message.strip_prefix("unknown ")?.split_once(", expected ")?;
    let (what, name) = head.split_once(" `")?;
    let known = known.split('`').skip(1).step_by(2).collect();
    Some((what, name.strip_suffix('`')?, known))
}

/// The begin of a file.
#[must_use]
pub fn first() -> Mark {
    Mark { line: 1, column: 1, offset: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_is_reported_at_its_own_line() {
        let file = SourceFile::new("a.yaml", "a:\n  b: 1\n\tc: 2\nd: 3\n");
        let error = file.syntax_error(yaml::parse(&file.text).unwrap_err());
        assert_eq!((error.location.line, error.location.column), (3, 1));
        assert_eq!(error.message, "YAML does not allow tabs for indentation");
        let file = SourceFile::new("a.yaml", "a: [1\nb: 2\n");
        let error = file.syntax_error(yaml::parse(&file.text).unwrap_err());
        assert!(!error.message.contains("tabs"), "{}", error.message);
    }

    #[test]
    fn an_unknown_field_is_reported_with_the_nearest_known_one() {
        let text = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Waivers\nwaivers:\n\
                    - {clause: A-1, owner: o, reason: r, expire: 2027-03-31}\n";
        let file = SourceFile::new("waivers.yaml", text);
        let error = waivers::read(&file).unwrap_err();
        assert_eq!(error.to_string(), "waivers.yaml:4:38: unknown field \"expire\"");
        assert_eq!(error.remedy.as_deref(), Some("did you mean `expires`?"));
    }
}
