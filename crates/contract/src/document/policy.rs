//! Gate policies: which findings of a report fail the gate or warn, the baseline, and the waivers.

use std::collections::BTreeSet;

use formats::yaml::Node;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::waivers::Waiver;
use super::{Error, SourceFile};
use crate::index::Outline;
use crate::model::{Law, Level};

/// A policy file, `kind: GatePolicy`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PolicyFile {
    /// `conformance.gardener.cloud/v1alpha1`.
    pub api_version: String,
    /// `GatePolicy`.
    pub kind: String,
    /// Name of the policy.
    pub metadata: Metadata,
    /// The policy.
    #[serde(default)]
    pub spec: Policy,
}

/// A name.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// Name of the policy in the gate's output.
    pub name: String,
}

/// Which findings of a report fail a gate. Default: MUST fails, SHOULD warns, MAY is ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Policy {
    /// Actions for broken clauses, by level.
    pub levels: Levels,
    /// Actions for other findings.
    pub findings: Findings,
    /// Parts of the report with levels of their own; the strictest applies to a clause in several profiles.
    pub profiles: Vec<Profile>,
    /// An earlier report.
    pub baseline: Option<Baseline>,
    /// Clauses that may be broken for a limited time.
    pub waivers: Vec<Waiver>,
}

/// The effect of a finding on the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// It is recorded.
    Ignore,
    /// It is shown; the gate holds.
    Warn,
    /// The gate does not hold.
    Fail,
}

/// Actions by level; an absent level falls back to the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "UPPERCASE")]
pub struct Levels {
    /// For MUST clauses.
    pub must: Option<Action>,
    /// For SHOULD clauses.
    pub should: Option<Action>,
    /// For MAY clauses.
    pub may: Option<Action>,
}

/// Actions for findings other than broken clauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Findings {
    /// A law was broken. Default: fail.
    pub laws: Action,
    /// The target changed something that no clause explains. Default: fail.
    pub unexplained: Action,
    /// A change that no case would miss: a clause is missing. Default: fail.
    pub gaps: Action,
    /// A MUST clause that passes was not shown able to fail. Default: fail.
    pub unproven: Action,
    /// A change that only clauses notice that were skipped because of the target's features. Default: warn.
    pub unasked: Action,
    /// MUST clauses could not run because of the way the target was given. Default: warn.
    pub partial: Action,
}

/// A part of a report: all clauses that its lists name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Profile {
    /// Its name, for `--profile`.
    pub name: String,
    /// Components, such as `resource-manager`.
    pub components: Vec<String>,
    /// Contracts, such as `high-availability-config`.
    pub contracts: Vec<String>,
    /// Clauses.
    pub clauses: Vec<String>,
    /// Levels that replace the policy's.
    pub levels: Levels,
}

/// An earlier report, and the actions for differences from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Baseline {
    /// report.json or its folder; relative to the policy file. `--baseline` names another one.
    pub report: String,
    /// Actions for cases that passed in the baseline and fail now. Default: MUST and SHOULD fail, MAY warns.
    #[serde(default)]
    pub regressions: Levels,
    /// Action for clauses that are broken in the baseline too. Default: as without a baseline.
    #[serde(default)]
    pub known: Option<Action>,
}

impl Default for Findings {
    fn default() -> Self {
        let (fail, warn) = (Action::Fail, Action::Warn);
        Self { laws: fail, unexplained: fail, gaps: fail, unproven: fail, unasked: warn, partial: warn }
    }
}

impl Levels {
    /// The action for a level.
    #[must_use]
    pub fn of(&self, level: Level) -> Option<Action> {
        match level {
            Level::Must => self.must,
            Level::Should => self.should,
            Level::May => self.may,
        }
    }
}

impl Policy {
    /// The action for a broken clause of this level, if no profile applies.
    #[must_use]
    pub fn action(&self, level: Level) -> Action {
        self.levels.of(level).unwrap_or(match level {
            Level::Must => Action::Fail,
            Level::Should => Action::Warn,
            Level::May => Action::Ignore,
        })
    }

    /// The action for a clause of this level that passed in the baseline and fails now.
    #[must_use]
    pub fn regression(&self, level: Level) -> Action {
        let action = self.baseline.as_ref().and_then(|baseline| baseline.regressions.of(level));
        action.unwrap_or(if level == Level::May { Action::Warn } else { Action::Fail })
    }
}

impl Profile {
    /// Whether the profile contains a clause.
    #[must_use]
    pub fn covers(&self, component: &str, contract: &str, clause: &str) -> bool {
        let named = |list: &[String], name: &str| list.iter().any(|listed| listed == name);
        named(&self.components, component) || named(&self.contracts, contract) || named(&self.clauses, clause)
    }
}

/// Reads a policy file.
///
/// # Errors
/// When it is not YAML, has another kind or unknown fields.
pub fn read(file: &SourceFile) -> Result<PolicyFile, Error> {
    file.read("GatePolicy")
}

/// Whether a policy names components, contracts or clauses.
#[must_use]
pub fn names_contracts(policy: &Policy) -> bool {
    !policy.profiles.is_empty() || !policy.waivers.is_empty()
}

/// Checks the names in a policy.
///
/// # Errors
/// When it names an unknown component, contract or clause, has two profiles of one name or an empty profile, or waives a
/// clause twice.
pub fn check(file: &SourceFile, policy: &Policy, contracts: &[Outline]) -> Result<(), Error> {
    let nodes = formats::yaml::parse(&file.text).map_err(|error| file.syntax_error(error))?;
    let spec = nodes.first().and_then(|node| node.get("spec"));
    let nodes = |field: &str| spec.and_then(|spec| spec.get(field)).and_then(Node::items).unwrap_or_default();
    let known = ContractNames::of(contracts);
    for (profile, node) in policy.profiles.iter().zip(nodes("profiles")) {
        known.check_profile(file, profile, node)?;
        if policy.profiles.iter().filter(|other| other.name == profile.name).count() > 1 {
            let remedy = "give each profile its own name".to_owned();
            let node = node.get("name").unwrap_or(node);
            return Err(at(file, node, "two profiles have this name", remedy));
        }
    }
    for (place, (waiver, node)) in policy.waivers.iter().zip(nodes("waivers")).enumerate() {
        let named = node.get("clause").unwrap_or(node);
        let is_law = serde_json::from_value::<Law>(waiver.clause.as_str().into()).is_ok();
        if !is_law && !known.clauses.contains(waiver.clause.as_str()) {
            return Err(at(
                file,
                named,
                "the waiver names a clause that does not exist in any contract",
                known.similar(&waiver.clause),
            ));
        }
        let same = |other: &Waiver| other.clause == waiver.clause && other.target == waiver.target;
        if policy.waivers[..place].iter().any(same) {
            return Err(at(
                file,
                named,
                "the clause is waived twice for the same target",
                "remove one of the two waivers".to_owned(),
            ));
        }
    }
    Ok(())
}

/// The names that contracts declare.
struct ContractNames<'a> {
    components: BTreeSet<&'a str>,
    contracts: BTreeSet<&'a str>,
    clauses: BTreeSet<&'a str>,
}

impl<'a> ContractNames<'a> {
    fn of(outlines: &'a [Outline]) -> Self {
        let contracts = || outlines.iter();
        let clauses = contracts().flat_map(|contract| &contract.clauses);
        Self {
            components: contracts().map(|contract| contract.component.as_str()).collect(),
            contracts: contracts().map(|contract| contract.name.as_str()).collect(),
            clauses: clauses.map(|clause| clause.id.as_str()).collect(),
        }
    }

    fn check_profile(&self, file: &SourceFile, profile: &Profile, node: &Node) -> Result<(), Error> {
        if profile.name.is_empty() {
            return Err(at(file, node, "a profile has no name", "write `name: …`".to_owned()));
        }
        let lists = [
            ("components", &profile.components, &self.components),
            ("contracts", &profile.contracts, &self.contracts),
            ("clauses", &profile.clauses, &self.clauses),
        ];
        if lists.iter().all(|(_, names, _)| names.is_empty()) {
            let remedy = "name `components`, `contracts` or `clauses`".to_owned();
            return Err(at(file, node, "the profile selects nothing", remedy));
        }
        for (field, names, known) in lists {
            let items = node.get(field).and_then(Node::items).unwrap_or_default();
            for (name, node) in names.iter().zip(items) {
                if !known.contains(name.as_str()) {
                    let message = format!("profile {:?} names unknown {field}", profile.name);
                    let remedy = match field {
                        "clauses" => self.similar(name),
                        _ => format!("known are {}", known.iter().copied().collect::<Vec<_>>().join(", ")),
                    };
                    return Err(at(file, node, &message, remedy));
                }
            }
        }
        Ok(())
    }

    fn similar(&self, clause: &str) -> String {
        let head = clause.rsplit_once('-').map_or(clause, |(head, _)| head);
        let near: Vec<&str> =
            self.clauses.iter().copied().filter(|id| id.starts_with(head)).take(5).collect();
        match near.as_slice() {
            [] => "`gardener-conformance list` prints the ids of all clauses".to_owned(),
            near => {
                format!("similar ids are {}, …; `gardener-conformance list` prints all ids", near.join(", "))
            }
        }
    }
}

fn at(file: &SourceFile, node: &Node, message: &str, remedy: String) -> Error {
    let length = node.end.saturating_sub(node.start.offset);
    file.error(node.start, length, message, Some(remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: GatePolicy\nmetadata: {name: x}\n";

    #[test]
    fn actions_default_to_those_of_the_verdict() {
        let read = read(&SourceFile::new("gate.yaml", HEAD)).unwrap();
        let levels = [Level::Must, Level::Should, Level::May];
        assert_eq!(levels.map(|level| read.spec.action(level)), [Action::Fail, Action::Warn, Action::Ignore]);
        assert_eq!(
            levels.map(|level| read.spec.regression(level)),
            [Action::Fail, Action::Fail, Action::Warn]
        );
    }

    #[test]
    fn errors_have_a_line() {
        let waiver = "{clause: A-1, owner: o, reason: r, expires: 2027-03-31}";
        let table = [
            ("spec:\n  levels: {MUST: stop}\n".to_owned(), 5, "stop"),
            ("spec:\n  level: {}\n".to_owned(), 5, "level"),
            ("spec:\n  profiles:\n  - {name: a}\n".to_owned(), 6, "selects nothing"),
            ("spec:\n  profiles:\n  - {contracts: [b]}\n".to_owned(), 6, "has no name"),
            ("spec:\n  profiles:\n  - name: a\n    contracts: [b]\n".to_owned(), 7, "unknown contracts"),
            ("spec:\n  profiles:\n  - name: a\n    clauses:\n    - B-1\n".to_owned(), 8, "unknown clauses"),
            (format!("spec:\n  waivers:\n  - {waiver}\n"), 6, "does not exist in any contract"),
            ("spec:\n  waivers:\n  - {clause: A-1, reason: r, expires: 2027-03-31}\n".to_owned(), 6, "owner"),
            ("spec:\n  baseline: {}\n".to_owned(), 5, "report"),
        ];
        for (rest, line, words) in table {
            let file = SourceFile::new("gate.yaml", format!("{HEAD}{rest}"));
            let checked = read(&file).and_then(|read| check(&file, &read.spec, &[]));
            let error = checked.unwrap_err();
            assert_eq!((error.location.line, error.message.contains(words)), (line, true), "{rest}: {error}");
        }
    }
}
