//! Reads `when` of one case of the form versions.

use serde_json::Value;

use crate::gardener::decision::Question;
use crate::load::keywords::{CLUSTERS, DECIDED, DECIDED_OPERATIONS, WHEN_VERSIONS};
use crate::load::report::{Report, nearest};
use crate::load::then::known_keys;
use crate::load::tree::{Key, Tree};

/// The question; cells are filled in, `admission` is one operation.
pub(super) fn read(when: &Tree, report: &Report<'_>) -> Option<Question> {
    known_keys(when, "when", &WHEN_VERSIONS, report)?;
    if let Some(admission) = when.get("admission") {
        return self::admission(when, admission, report);
    }
    let Some(decide) = when.get("decide") else {
        let remedy = "write `when: {decide: maintenance}` or `when: {admission: UPDATE}`";
        report.add("missing-key", when.span, "when needs decide or admission", remedy);
        return None;
    };
    let name = decide.text().unwrap_or_default();
    let (question, own): (_, &[&str]) = match name {
        "maintenance" => (Question::Maintenance { admitted: admitted(when, report)? }, &["admitted"]),
        "window" => (Question::Window, &[]),
        "rolling" => (rolling(when), &["additional"]),
        "support" => (support(when, report)?, &["gardener", "cluster", "version"]),
        other => {
            let message = format!("unknown decision {other:?}");
            report.add("decide", decide.span, message, nearest(other, DECIDED));
            return None;
        }
    };
    check_foreign_keys(when, name, &[&["decide"], own].concat(), report).then_some(question)
}

/// A scalar as a string.
pub(super) fn text(tree: &Tree) -> String {
    match tree.to_value() {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn admission(when: &Tree, operation: &Tree, report: &Report<'_>) -> Option<Question> {
    let name = operation.text().unwrap_or_default();
    if !DECIDED_OPERATIONS.contains(&name) {
        let message = format!("unknown operation {name:?}");
        report.add("operation", operation.span, message, nearest(name, DECIDED_OPERATIONS));
        return None;
    }
    let question = Question::Admission { operation: name.to_owned() };
    check_foreign_keys(when, "admission", &["admission"], report).then_some(question)
}

/// Whether the Shoot that maintenance writes passes through admission; default: no.
fn admitted(when: &Tree, report: &Report<'_>) -> Option<bool> {
    let Some(value) = when.get("admitted") else { return Some(false) };
    let admitted = value.to_value().as_bool();
    if admitted.is_none() {
        let message = format!("admitted must be a boolean, but is {}", value.to_value());
        report.add("type", value.span, message, "write `admitted: true`");
    }
    admitted
}

fn rolling(when: &Tree) -> Question {
    let added = when.get("additional").filter(|added| !added.is_null());
    let added = added.and_then(Tree::list).unwrap_or_default();
    Question::Rolling { additional: added.iter().map(text).collect() }
}

fn support(when: &Tree, report: &Report<'_>) -> Option<Question> {
    let values = ["gardener", "cluster", "version"].map(|name| when.get(name).map(text));
    let [Some(gardener), Some(cluster), Some(version)] = values else {
        let remedy = "write `{decide: support, gardener: v1.82.0, cluster: seed, version: 1.27.4}`";
        let message = "support needs gardener, cluster and version";
        report.add("missing-key", when.span, message, remedy);
        return None;
    };
    if !CLUSTERS.contains(&cluster.as_str()) {
        let message = format!("unknown type {cluster:?} of cluster");
        report.add("cluster", when.span, message, nearest(&cluster, CLUSTERS));
        return None;
    }
    Some(Question::Support { gardener, cluster, version })
}

/// Reports keys that this question does not have; returns whether there are none.
fn check_foreign_keys(when: &Tree, name: &str, own: &[&str], report: &Report<'_>) -> bool {
    let is_foreign = |(key, _): &&(Key, Tree)| !own.contains(&key.name.as_str());
    let foreign: Vec<_> = when.map().unwrap_or_default().iter().filter(is_foreign).collect();
    for (key, _) in &foreign {
        let message = format!("{} cannot be combined with {name}", key.name);
        report.add("decide", key.span, message, "remove one of the two");
    }
    foreign.is_empty()
}
