//! The documents of a file, one after the other, so that a file of any length takes the memory of its longest document.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use conformance::objects::Read;
use formats::yaml;
use serde_json::Value;

use super::Wanted;
use crate::terminal::Failure;

/// A document and the line before it.
pub(super) struct Document {
    path: PathBuf,
    line: usize,
    text: String,
}

/// An object of a document, with the namespace that it is of.
pub(super) struct Found {
    pub(super) namespace: String,
    pub(super) read: Read,
}

/// The documents of a file.
pub(super) struct Documents {
    path: PathBuf,
    reader: BufReader<File>,
    line: usize,
    ended: bool,
}

impl Documents {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let file = File::open(path).map_err(|error| misread(path, &error))?;
        Ok(Self { path: path.to_owned(), reader: BufReader::new(file), line: 0, ended: false })
    }

    fn document(&mut self) -> io::Result<Option<Document>> {
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
            // Whatever stands in a block is indented, so this begins a document wherever it stands.
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
        match self.document() {
            Ok(document) => document.map(Ok),
            Err(error) => {
                self.ended = true;
                Some(Err(misread(&self.path, &error)))
            }
        }
    }
}

impl Document {
    /// Its objects of the kinds that are wanted; those of a list one by one.
    pub(super) fn objects(&self, wanted: &Wanted) -> Result<Vec<Found>, Failure> {
        let values = self.values()?;
        let mut found = Vec::new();
        for value in values.into_iter().filter(|value| !value.is_null()) {
            let kind = self.kind(&value)?.to_owned();
            match value.get("items").and_then(Value::as_array) {
                Some(items) if kind.ends_with("List") => {
                    let of = kind.trim_end_matches("List");
                    for item in items {
                        let mut item = item.clone();
                        // Items of a typed list leave out what the list says.
                        if !of.is_empty() && item.get("kind").is_none() && item.is_object() {
                            item["kind"] = Value::from(of);
                            item["apiVersion"] = value["apiVersion"].clone();
                        }
                        self.kind(&item)?;
                        found.extend(self.found(item, wanted));
                    }
                }
                _ => found.extend(self.found(value, wanted)),
            }
        }
        Ok(found)
    }

    fn values(&self) -> Result<Vec<Value>, Failure> {
        if self.text.trim_start().starts_with('{')
            && let Ok(value) = serde_json::from_str(&self.text)
        {
            return Ok(vec![value]);
        }
        yaml::documents(&self.text).map_err(|error| {
            let (line, column) = (self.line + error.mark.line, error.mark.column);
            let place = format!("{}:{line}:{column}", self.path.display());
            Failure::usage(format!(
                "{place}: this is no YAML: {}; name files of manifests alone",
                error.message
            ))
        })
    }

    fn kind<'v>(&self, value: &'v Value) -> Result<&'v str, Failure> {
        let said = |field: &str| value.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        let missing = ["apiVersion", "kind"].into_iter().find(|field| said(field).is_none());
        match (missing, said("kind")) {
            (None, Some(kind)) => Ok(kind),
            (missing, _) => {
                let missing = missing.unwrap_or("kind");
                let text = format!("an object without {missing}; write it, or name files of manifests alone");
                Err(Failure::usage(format!("{}: {text}", self.place())))
            }
        }
    }

    fn found(&self, object: Value, wanted: &Wanted) -> Option<Found> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let is_namespace = kind == "Namespace" && group.is_empty();
        let namespace = text(&object["metadata"][if is_namespace { "name" } else { "namespace" }]);
        let is_wanted = wanted.has_kind(group, &kind) && wanted.has_namespace(&namespace);
        let read = Read { object: object.into(), origin: self.place() };
        is_wanted.then_some(Found { namespace, read })
    }

    fn place(&self) -> String {
        // The first line that says something.
        let blank =
            self.text.lines().take_while(|line| line.trim().is_empty() || line.starts_with('#')).count();
        format!("{}:{}", self.path.display(), self.line + blank + 1)
    }
}

fn misread(path: &Path, error: &io::Error) -> Failure {
    let remedy = "name a file of manifests, or a folder of them";
    Failure::usage(format!("failed to read {}: {error}; {remedy}", path.display()))
}
