//! Suites: named selections, data only.

use std::collections::BTreeMap;

use contract::document::{API_VERSION, Error, SourceFile};
use contract::index::{ClauseOutline, Outline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A named selection, `kind: Suite`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Suite {
    /// `conformance.gardener.cloud/v1alpha1`.
    pub api_version: String,
    /// `Suite`.
    pub kind: String,
    /// Its name.
    pub metadata: SuiteName,
    /// Its content.
    pub spec: SuiteSpec,
}

/// A name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteName {
    /// As in `--suite`.
    pub name: String,
}

/// The content of a suite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteSpec {
    /// Its purpose, in a sentence.
    #[serde(default)]
    pub description: String,
    /// Includes clauses that one of these entries covers.
    pub include: Vec<SuiteEntry>,
}

/// Covers clauses that match all of these fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SuiteEntry {
    /// Component of the contract.
    pub component: Option<String>,
    /// Name of the contract.
    pub contract: Option<String>,
    /// Id of the clause.
    pub clause: Option<String>,
    /// Level of the clause.
    pub level: Option<String>,
    /// Label of the contract, `key=value`.
    pub label: Option<String>,
}

impl SuiteEntry {
    /// Whether the entry covers the clause.
    #[must_use]
    pub fn covers(&self, contract: &Outline, clause: &ClauseOutline) -> bool {
        let is = |wanted: &Option<String>, name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
        is(&self.component, &contract.component)
            && is(&self.contract, &contract.name)
            && is(&self.clause, &clause.id)
            && is(&self.level, crate::report::level(clause.level))
            && self.label.as_ref().is_none_or(|label| has_label(&contract.labels, label))
    }
}

/// Whether labels have `key=value`.
pub(super) fn has_label(labels: &BTreeMap<String, String>, label: &str) -> bool {
    label.split_once('=').is_some_and(|(key, value)| labels.get(key).is_some_and(|found| found == value))
}

/// Reads a suite file.
///
/// # Errors
/// If it is not YAML, not a suite, or has unknown fields.
pub fn read(file: &SourceFile) -> Result<Suite, Error> {
    let nodes = formats::yaml::parse(&file.text).map_err(|error| file.syntax_error(error))?;
    let suite = nodes.first().map(formats::yaml::Node::read);
    let suite: Suite =
        suite.unwrap_or_else(|| formats::yaml::from_str("")).map_err(|error| file.type_error(error))?;
    if suite.api_version != API_VERSION || suite.kind != "Suite" {
        let first = formats::yaml::Mark { line: 1, column: 1, offset: 0 };
        let message = format!("{} {} is not a suite", suite.api_version, suite.kind);
        return Err(file.error(
            first,
            1,
            message,
            Some(format!("write `apiVersion: {API_VERSION}` and `kind: Suite`")),
        ));
    }
    Ok(suite)
}
