//! Changes of a target that no clause explains, or that no case would miss.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A change inside `onlyTouches` whose loss no case notices: a clause is missing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// The path, with existing elements written as `[]`.
    pub path: String,
    /// One case in which it changed.
    pub case: String,
}

/// A change whose loss only clauses would notice that did not run, since the target lacks a feature or parameter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Unasked {
    /// The place, elements that were there before written `[]`.
    pub path: String,
    /// One case in which it changed.
    pub case: String,
    /// The clauses.
    pub clauses: Vec<String>,
    /// Why they did not run, `feature csi off`.
    pub reason: String,
}

impl fmt::Display for Unasked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, case, clauses, reason } = self;
        let (clauses, verb) = (clauses.join(", "), if clauses.len() == 1 { "requires" } else { "require" });
        write!(out, "{path} changes in {case} as {clauses} {verb}, which did not run: {reason}")?;
        write!(out, " (state the target's features, or drop the change)")
    }
}

/// A value that differs between two objects, in full, secrets masked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ValueChange {
    /// Its path in the objects.
    pub path: String,
    /// The first value: a text, or JSON; absent: the field is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The second value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl ValueChange {
    /// A difference at this path.
    #[must_use]
    pub fn new(path: &str, before: Option<&str>, after: Option<&str>) -> Self {
        Self { path: path.to_owned(), before: before.map(str::to_owned), after: after.map(str::to_owned) }
    }
}

/// A change that no clause explains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unexplained {
    /// The place.
    pub path: String,
    /// Its new value in one line, decoded: of a long text the first lines.
    pub became: String,
    /// The whole text of its new value, if `became` shows only a part of it or has notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<String>,
    /// Cases in which it happened.
    pub cases: Vec<String>,
    /// Its value in the first of these cases before the change, in full; absent: there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The objects that were changed: `Deployment kube-controller-manager`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<String>,
}
