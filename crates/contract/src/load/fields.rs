//! Maps with known keys: reads each key with its type and reports unknown keys with the nearest known one.

use std::collections::BTreeMap;

use formats::yaml::Node;

use super::report::{Report, nearest};
use super::tree::{Span, Tree};

/// A map of a contract file with known keys.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    pub(crate) file: usize,
    pub(crate) node: &'a Node,
    pub(crate) report: &'a Report<'a>,
}

impl<'a> Fields<'a> {
    /// The fields of a map; `None` if the node is not a map. Reports unknown keys.
    pub(crate) fn of(
        file: usize,
        node: &'a Node,
        what: &str,
        known: &[&str],
        report: &'a Report<'a>,
    ) -> Option<Self> {
        let Some(entries) = node.entries() else {
            report.add("type", Span::of(file, node), format!("{what} must be a map"), "");
            return None;
        };
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let span =
                Span { file, mark: entry.start, length: entry.end.saturating_sub(entry.start.offset).max(1) };
            let remedy = nearest(&entry.key, known.iter().copied());
            report.add("unknown-key", span, format!("{what} has no key {:?}", entry.key), remedy);
        }
        Some(Self { file, node, report })
    }

    pub(crate) fn span(&self) -> Span {
        Span::of(self.file, self.node)
    }

    /// The value of a key; null counts as absent.
    pub(crate) fn node(&self, name: &str) -> Option<&'a Node> {
        self.node.get(name).filter(|node| !node.is_null())
    }

    pub(crate) fn tree(&self, name: &str) -> Option<Tree> {
        self.node(name).map(|node| Tree::of(self.file, node))
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let node = self.node(name)?;
        if node.as_str().is_none() {
            self.report_type_error(node, &format!("{name} must be a string"), "quote the value");
        }
        node.as_str().map(str::to_owned)
    }

    /// A required string.
    pub(crate) fn required(&self, name: &str, remedy: &str) -> Option<String> {
        if self.node(name).is_none() {
            self.report.add("missing-key", self.span(), format!("{name} is missing"), remedy);
        }
        self.text(name).filter(|text| !text.trim().is_empty())
    }

    /// A list of strings, or a single string.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let Some(node) = self.node(name) else { return Vec::new() };
        let alone = std::slice::from_ref(node);
        let mut found = Vec::new();
        for item in node.items().unwrap_or(alone) {
            match item.as_str() {
                Some(text) => found.push(text.to_owned()),
                None => self.report_type_error(
                    item,
                    &format!("{name} must be a list of strings"),
                    "quote the value",
                ),
            }
        }
        found
    }

    /// A map of strings.
    pub(crate) fn pairs(&self, name: &str) -> BTreeMap<String, String> {
        let Some(node) = self.node(name) else { return BTreeMap::new() };
        let Some(entries) = node.entries() else {
            self.report_type_error(node, &format!("{name} must be a map"), "");
            return BTreeMap::new();
        };
        let mut found = BTreeMap::new();
        for entry in entries {
            match entry.value.as_str() {
                Some(text) => drop(found.insert(entry.key.clone(), text.to_owned())),
                None => self.report_type_error(
                    &entry.value,
                    &format!("values of {name} must be strings"),
                    "quote the value",
                ),
            }
        }
        found
    }

    /// One of these words.
    pub(crate) fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text(name)?;
        let found = choices.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if let (None, Some(node)) = (found, self.node(name)) {
            let remedy = nearest(&text, choices.iter().map(|(word, _)| *word));
            self.report_type_error(node, &format!("unknown {name} {text:?}"), &remedy);
        }
        found
    }

    pub(crate) fn report_type_error(&self, node: &Node, message: &str, remedy: &str) {
        self.report.add("type", Span::of(self.file, node), message, remedy);
    }
}
