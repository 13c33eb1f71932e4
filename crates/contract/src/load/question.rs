//! What is asked about versions: `when` of one case of form versions.

use serde_json::Value;

use super::outcome::known_keys;
use super::report::{Report, nearest};
use super::tree::{Key, Tree};
use super::words::{CLUSTERS, DECIDED, DECIDED_OPERATIONS, WHEN_VERSIONS};
use crate::decision::Question;

/// The question; cells are filled in, `admission` is one operation.
pub(super) fn read(when: &Tree, report: &Report<'_>) -> Option<Question> {
    known_keys(when, "when", &WHEN_VERSIONS, report)?;
    if let Some(admission) = when.get("admission") {
        return self::admission(when, admission, report);
    }
    let Some(decide) = when.get("decide") else {
        let remedy = "write `when: {decide: maintenance}` or `when: {admission: UPDATE}`";
        report.add("missing-key", when.span, "when says neither decide nor admission", remedy);
        return None;
    };
    let name = decide.text().unwrap_or_default();
    let (question, own): (_, &[&str]) = match name {
        "maintenance" => (Question::Maintenance { admitted: admitted(when, report)? }, &["admitted"]),
        "window" => (Question::Window, &[]),
        "rolling" => (rolling(when), &["additional"]),
        "support" => (support(when, report)?, &["gardener", "cluster", "version"]),
        other => {
            let message = format!("{other:?} is nothing that is decided");
            report.add("decide", decide.span, message, nearest(other, DECIDED));
            return None;
        }
    };
    alone(when, name, &[&["decide"], own].concat(), report).then_some(question)
}

/// A scalar as it is written.
pub(super) fn text(tree: &Tree) -> String {
    match tree.to_value() {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn admission(when: &Tree, operation: &Tree, report: &Report<'_>) -> Option<Question> {
    let name = operation.text().unwrap_or_default();
    if !DECIDED_OPERATIONS.contains(&name) {
        let message = format!("{name:?} is no operation that versions are decided of");
        report.add("operation", operation.span, message, nearest(name, DECIDED_OPERATIONS));
        return None;
    }
    let question = Question::Admission { operation: name.to_owned() };
    alone(when, "admission", &["admission"], report).then_some(question)
}

/// Whether what a maintenance writes passes admission; it does not where nobody says so.
fn admitted(when: &Tree, report: &Report<'_>) -> Option<bool> {
    let Some(said) = when.get("admitted") else { return Some(false) };
    let admitted = said.to_value().as_bool();
    if admitted.is_none() {
        let message = format!("{} is neither true nor false", said.to_value());
        report.add("type", said.span, message, "write `admitted: true`");
    }
    admitted
}

fn rolling(when: &Tree) -> Question {
    let added = when.get("additional").filter(|added| !added.is_null());
    let added = added.and_then(Tree::list).unwrap_or_default();
    Question::Rolling { additional: added.iter().map(text).collect() }
}

fn support(when: &Tree, report: &Report<'_>) -> Option<Question> {
    let said = ["gardener", "cluster", "version"].map(|name| when.get(name).map(text));
    let [Some(gardener), Some(cluster), Some(version)] = said else {
        let remedy = "write `{decide: support, gardener: v1.82.0, cluster: seed, version: 1.27.4}`";
        let message = "support is asked of a release, a cluster and a version";
        report.add("missing-key", when.span, message, remedy);
        return None;
    };
    if !CLUSTERS.contains(&cluster.as_str()) {
        let message = format!("{cluster:?} is no cluster of Gardener's");
        report.add("cluster", when.span, message, nearest(&cluster, CLUSTERS));
        return None;
    }
    Some(Question::Support { gardener, cluster, version })
}

/// Notes keys that this question does not have; whether there are none.
fn alone(when: &Tree, name: &str, own: &[&str], report: &Report<'_>) -> bool {
    let is_foreign = |(key, _): &&(Key, Tree)| !own.contains(&key.name.as_str());
    let foreign: Vec<_> = when.map().unwrap_or_default().iter().filter(is_foreign).collect();
    for (key, _) in &foreign {
        let message = format!("{} has no meaning beside {name}", key.name);
        report.add("decide", key.span, message, "leave one of the two out");
    }
    foreign.is_empty()
}
