//! YAML values with positions, in which bare words of cells differ from strings.

use formats::yaml::{Data as YamlData, Mark, Node};
use serde_json::{Map, Value};

use crate::expect::Operator;

/// A span in one of the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    /// Position of the file in the list of sources.
    pub(crate) file: usize,
    /// Its start.
    pub(crate) mark: Mark,
    /// Length in bytes.
    pub(crate) length: usize,
}

/// A value of a contract and its position.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) data: TreeData,
    pub(crate) span: Span,
}

/// The content of a value.
#[derive(Clone, Debug)]
pub(crate) enum TreeData {
    /// A string, number, boolean or null.
    Scalar(Value),
    /// An unquoted `present`, `absent`, `unchanged` or `any` in a cell.
    BareWord(BareWord),
    List(Vec<Tree>),
    Map(Vec<(Key, Tree)>),
}

/// A key and its position.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) span: Span,
}

/// An operator that a cell names by an unquoted word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BareWord {
    Present,
    Absent,
    Unchanged,
    Any,
}

impl BareWord {
    /// The operator of an unquoted word.
    pub(crate) fn of(text: &str) -> Option<Self> {
        match text {
            "present" => Some(Self::Present),
            "absent" => Some(Self::Absent),
            "unchanged" => Some(Self::Unchanged),
            "any" => Some(Self::Any),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Absent => "absent",
            Self::Unchanged => "unchanged",
            Self::Any => "any",
        }
    }

    pub(crate) fn operator(self) -> Operator {
        match self {
            Self::Present => Operator::Present,
            Self::Absent => Operator::Absent,
            Self::Unchanged => Operator::Unchanged,
            Self::Any => Operator::Any,
        }
    }
}

impl Span {
    /// The span of a node, on its first line.
    pub(crate) fn of(file: usize, node: &Node) -> Self {
        let length = match node.data {
            YamlData::Scalar(_) => node.end.saturating_sub(node.start.offset).max(1),
            _ => 1,
        };
        Self { file, mark: node.start, length }
    }
}

impl Tree {
    /// The tree of a node in a file.
    pub(crate) fn of(file: usize, node: &Node) -> Self {
        let data = match &node.data {
            YamlData::Scalar(scalar) => TreeData::Scalar(scalar.value.clone()),
            YamlData::List(items) => TreeData::List(items.iter().map(|item| Self::of(file, item)).collect()),
            YamlData::Map(entries) => TreeData::Map(
                entries
                    .iter()
                    .map(|entry| {
                        let length = entry.end.saturating_sub(entry.start.offset).max(1);
                        let span = Span { file, mark: entry.start, length };
                        (Key { name: entry.key.clone(), span }, Self::of(file, &entry.value))
                    })
                    .collect(),
            ),
        };
        Self { data, span: Span::of(file, node) }
    }

    /// An empty map.
    pub(crate) fn empty(span: Span) -> Self {
        Self { data: TreeData::Map(Vec::new()), span }
    }

    pub(crate) fn map(&self) -> Option<&[(Key, Self)]> {
        match &self.data {
            TreeData::Map(entries) => Some(entries),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        match &self.data {
            TreeData::List(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.map()?.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.data {
            TreeData::Scalar(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.data, TreeData::Scalar(Value::Null))
    }

    /// The value as JSON: `$$` becomes `$`, words of cells become the operator's name; nulls stay.
    pub(crate) fn to_value(&self) -> Value {
        match &self.data {
            TreeData::Scalar(Value::String(text)) => Value::from(literal(text)),
            TreeData::Scalar(value) => value.clone(),
            TreeData::BareWord(word) => Value::from(format!("${}", word.name())),
            TreeData::List(items) => items.iter().map(Self::to_value).collect(),
            TreeData::Map(entries) => {
                let pairs =
                    entries.iter().map(|(key, value)| (literal(&key.name).to_owned(), value.to_value()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }
}

/// A string or key with a leading `$$` replaced by `$`.
pub(crate) fn literal(text: &str) -> &str {
    if text.starts_with("$$") { &text[1..] } else { text }
}
