//! Reads the documents of a file one by one, so that a file needs only the memory of its longest document.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use conformance::objects::Read;
use formats::yaml;
use serde_json::Value;

use super::ObjectFilter;
use crate::terminal::Failure;

/// A YAML document of a file.
pub(super) struct Document {
    path: PathBuf,
    /// The number of lines before it.
    line: usize,
    text: String,
}

/// An object of a document and its namespace; for a Namespace, its own name.
pub(super) struct NamespacedObject {
    pub(super) namespace: String,
    pub(super) read: Read,
}

/// An iterator over the documents of a file.
pub(super) struct Documents {
    path: PathBuf,
    reader: BufReader<File>,
    line: usize,
    ended: bool,
}

impl Documents {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let file = File::open(path).map_err(|error| read_failure(path, &error))?;
        Ok(Self { path: path.to_owned(), reader: BufReader::new(file), line: 0, ended: false })
    }

    fn next_document(&mut self) -> io::Result<Option<Document>> {
        if self.ended {
            return Ok(None);
        }
        let mut document = Document { path: self.path.clone(), line: self.line, text: String::new() };
        loop {
            let start = document.text.len();
            if self.reader.read_line(&mut document.text)? == 0 {
                self.ended = true;
                return Ok(Some(document));
            }
            self.line += 1;
            // The text of a block scalar is indented, so an unindented `---` always begins a document.
            let line = document.text[start..].trim_end();
            if line == "---" || line.starts_with("--- ") {
                let rest = line.get(4..).unwrap_or_default().trim();
                let is_comment = rest.is_empty() || rest.starts_with('#');
                if is_comment {
                    document.text.truncate(start);
                    return Ok(Some(document));
                }
            }
        }
    }
}

impl Iterator for Documents {
    type Item = Result<Document, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_document() {
            Ok(document) => document.map(Ok),
            Err(error) => {
                self.ended = true;
                Some(Err(read_failure(&self.path, &error)))
            }
        }
    }
}

impl Document {
    /// Its objects that pass the filter; a list gives its items.
    pub(super) fn objects(&self, filter: &ObjectFilter) -> Result<Vec<NamespacedObject>, Failure> {
        let values = self.values()?;
        let mut found = Vec::new();
        for value in values.into_iter().filter(|value| !value.is_null()) {
            let kind = self.kind(&value)?.to_owned();
            match value.get("items").and_then(Value::as_array) {
                Some(items) if kind.ends_with("List") => {
                    let item_kind = kind.trim_end_matches("List");
                    for item in items {
                        let mut item = item.clone();
                        // The items of a typed list have no kind and version of their own.
                        if !item_kind.is_empty() && item.get("kind").is_none() && item.is_object() {
                            item["kind"] = Value::from(item_kind);
                            item["apiVersion"] = value["apiVersion"].clone();
                        }
                        self.kind(&item)?;
                        found.extend(self.filter_object(item, filter));
                    }
                }
                _ => found.extend(self.filter_object(value, filter)),
            }
        }
        Ok(found)
    }

    fn values(&self) -> Result<Vec<Value>, Failure> {
        if self.text.trim_start().starts_with('{')
            && let Ok(value) = formats::json::document(self.text.as_bytes())
        {
            return Ok(vec![value]);
        }
        yaml::documents(&self.text).map_err(|error| {
            let (line, column) = (self.line + error.mark.line, error.mark.column);
            let location = format!("{}:{line}:{column}", self.path.display());
            Failure::usage(format!(
                "{location}: not valid YAML: {}; name files that contain manifests only",
                error.message
            ))
        })
    }

    fn kind<'v>(&self, value: &'v Value) -> Result<&'v str, Failure> {
        let text = |field: &str| value.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        let missing = ["apiVersion", "kind"].into_iter().find(|field| text(field).is_none());
        match (missing, text("kind")) {
            (None, Some(kind)) => Ok(kind),
            (missing, _) => {
                let missing = missing.unwrap_or("kind");
                let text =
                    format!("an object without {missing}; add it, or name files that contain manifests only");
                Err(Failure::usage(format!("{}: {text}", self.location())))
            }
        }
    }

    fn filter_object(&self, object: Value, filter: &ObjectFilter) -> Option<NamespacedObject> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let is_namespace = kind == "Namespace" && group.is_empty();
        let namespace = text(&object["metadata"][if is_namespace { "name" } else { "namespace" }]);
        let passes = filter.has_kind(group, &kind) && filter.has_namespace(&namespace);
        let read = Read { object: object.into(), origin: self.location() };
        passes.then_some(NamespacedObject { namespace, read })
    }

    /// The file and the first line that is neither empty nor a comment.
    fn location(&self) -> String {
        let blank =
            self.text.lines().take_while(|line| line.trim().is_empty() || line.starts_with('#')).count();
        format!("{}:{}", self.path.display(), self.line + blank + 1)
    }
}

fn read_failure(path: &Path, error: &io::Error) -> Failure {
    let remedy = "name a file with manifests, or a folder with such files";
    Failure::usage(format!("failed to read {}: {error}; {remedy}", path.display()))
}
