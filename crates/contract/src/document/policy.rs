//! Gate policies: what of a report fails a gate, what warns, what it is held against and what is accepted for a while.

use std::collections::BTreeSet;

use formats::yaml::Node;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::waivers::Waiver;
use super::{Error, SourceFile};
use crate::index::Outline;
use crate::model::Level;

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
    /// What it says.
    #[serde(default)]
    pub spec: Policy,
}

/// A name.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// As the gate names the policy.
    pub name: String,
}

/// What of a report fails a gate. Without a word of it: MUST fails, SHOULD warns, MAY is ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Policy {
    /// What a broken clause of a level does.
    pub levels: Levels,
    /// What else does something.
    pub findings: Findings,
    /// Parts of the report that are judged by levels of their own; a clause of several is judged by the strictest.
    pub profiles: Vec<Profile>,
    /// An earlier report.
    pub baseline: Option<Baseline>,
    /// Clauses that may be broken for a while.
    pub waivers: Vec<Waiver>,
}

/// What a finding does to the gate.
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

/// An action by level; what is not said is said elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "UPPERCASE")]
pub struct Levels {
    /// Of clauses that decide the verdict.
    pub must: Option<Action>,
    /// Of clauses that warn.
    pub should: Option<Action>,
    /// Of clauses that are recorded.
    pub may: Option<Action>,
}

/// Actions of what is no clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Findings {
    /// A law was broken. Default: fail.
    pub laws: Action,
    /// Something changed that no clause speaks of. Default: fail.
    pub unexplained: Action,
    /// A change that no case would miss: a clause is missing. Default: fail.
    pub gaps: Action,
    /// A MUST clause that passes was not shown able to fail. Default: fail.
    pub unproven: Action,
    /// A change that only clauses would miss that the target's features leave out. Default: warn.
    pub unasked: Action,
    /// MUST clauses could not be asked for how the target was given. Default: warn.
    pub partial: Action,
}

/// A part of a report: every clause that one of its lists names.
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
    /// What differs from the policy's levels.
    pub levels: Levels,
}

/// An earlier report, and what becomes of what it says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Baseline {
    /// report.json or its folder; relative to the policy file. `--baseline` names another one.
    pub report: String,
    /// What it does that a case passed there and does not here. Default: MUST and SHOULD fail, MAY warns.
    #[serde(default)]
    pub regressions: Levels,
    /// What is broken there as well. Default: as if there were no baseline.
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
    /// What is said of a level.
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
    /// What a broken clause of this level does where no profile says otherwise.
    #[must_use]
    pub fn action(&self, level: Level) -> Action {
        self.levels.of(level).unwrap_or(match level {
            Level::Must => Action::Fail,
            Level::Should => Action::Warn,
            Level::May => Action::Ignore,
        })
    }

    /// What it does that something of this level passed in the baseline and does not any more.
    #[must_use]
    pub fn regression(&self, level: Level) -> Action {
        let said = self.baseline.as_ref().and_then(|baseline| baseline.regressions.of(level));
        said.unwrap_or(if level == Level::May { Action::Warn } else { Action::Fail })
    }
}

impl Profile {
    /// Whether a clause is of it.
    #[must_use]
    pub fn covers(&self, component: &str, contract: &str, clause: &str) -> bool {
        let named = |list: &[String], name: &str| list.iter().any(|one| one == name);
        named(&self.components, component) || named(&self.contracts, contract) || named(&self.clauses, clause)
    }
}

/// Reads a policy file.
///
/// # Errors
/// When it is no YAML, of another kind or has unknown fields.
pub fn read(file: &SourceFile) -> Result<PolicyFile, Error> {
    file.read("GatePolicy")
}

/// Whether a policy names anything that contracts must have.
#[must_use]
pub fn names_contracts(policy: &Policy) -> bool {
    !policy.profiles.is_empty() || !policy.waivers.is_empty()
}

/// Checks what a policy names.
///
/// # Errors
/// When it names a component, contract or clause that there is not, a profile twice or one of nothing, or waives a
/// clause twice.
pub fn check(file: &SourceFile, policy: &Policy, contracts: &[Outline]) -> Result<(), Error> {
    let nodes =
        formats::yaml::parse(&file.text).map_err(|error| file.error(error.mark, 1, error.message, None))?;
    let spec = nodes.first().and_then(|node| node.get("spec"));
    let nodes = |field: &str| spec.and_then(|spec| spec.get(field)).and_then(Node::items).unwrap_or_default();
    let known = Known::of(contracts);
    for (profile, node) in policy.profiles.iter().zip(nodes("profiles")) {
        known.holds(file, profile, node)?;
        if policy.profiles.iter().filter(|other| other.name == profile.name).count() > 1 {
            let remedy = "give each profile a name of its own".to_owned();
            let node = node.get("name").unwrap_or(node);
            return Err(at(file, node, "there are two profiles of this name", remedy));
        }
    }
    for (place, (waiver, node)) in policy.waivers.iter().zip(nodes("waivers")).enumerate() {
        let named = node.get("clause").unwrap_or(node);
        if !known.clauses.contains(waiver.clause.as_str()) {
            return Err(at(file, named, "waived is what no contract says", known.near(&waiver.clause)));
        }
        let same = |other: &Waiver| other.clause == waiver.clause && other.target == waiver.target;
        if policy.waivers[..place].iter().any(same) {
            return Err(at(file, named, "this clause is waived twice", "keep one of the two".to_owned()));
        }
    }
    Ok(())
}

/// What contracts speak of.
struct Known<'a> {
    components: BTreeSet<&'a str>,
    contracts: BTreeSet<&'a str>,
    clauses: BTreeSet<&'a str>,
}

impl<'a> Known<'a> {
    fn of(outlines: &'a [Outline]) -> Self {
        let contracts = || outlines.iter();
        let clauses = contracts().flat_map(|contract| &contract.clauses);
        Self {
            components: contracts().map(|contract| contract.component.as_str()).collect(),
            contracts: contracts().map(|contract| contract.name.as_str()).collect(),
            clauses: clauses.map(|clause| clause.id.as_str()).collect(),
        }
    }

    fn holds(&self, file: &SourceFile, profile: &Profile, node: &Node) -> Result<(), Error> {
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
            return Err(at(file, node, "the profile is of nothing", remedy));
        }
        for (field, names, known) in lists {
            let items = node.get(field).and_then(Node::items).unwrap_or_default();
            for (name, node) in names.iter().zip(items) {
                if !known.contains(name.as_str()) {
                    let message = format!("profile {:?} names {field} that are not there", profile.name);
                    let remedy = match field {
                        "clauses" => self.near(name),
                        _ => format!("there are {}", known.iter().copied().collect::<Vec<_>>().join(", ")),
                    };
                    return Err(at(file, node, &message, remedy));
                }
            }
        }
        Ok(())
    }

    fn near(&self, clause: &str) -> String {
        let head = clause.rsplit_once('-').map_or(clause, |(head, _)| head);
        let near: Vec<&str> =
            self.clauses.iter().copied().filter(|id| id.starts_with(head)).take(5).collect();
        match near.as_slice() {
            [] => "`gardener-conformance list` names them".to_owned(),
            near => format!("there are {}, …; `list` names them all", near.join(", ")),
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
    fn what_is_not_said_is_what_the_verdict_says() {
        let read = read(&SourceFile::new("gate.yaml", HEAD)).unwrap();
        let levels = [Level::Must, Level::Should, Level::May];
        assert_eq!(levels.map(|level| read.spec.action(level)), [Action::Fail, Action::Warn, Action::Ignore]);
        assert_eq!(
            levels.map(|level| read.spec.regression(level)),
            [Action::Fail, Action::Fail, Action::Warn]
        );
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let waiver = "{clause: A-1, owner: o, reason: r, expires: 2027-03-31}";
        let table = [
            ("spec:\n  levels: {MUST: stop}\n".to_owned(), 5, "stop"),
            ("spec:\n  level: {}\n".to_owned(), 5, "level"),
            ("spec:\n  profiles:\n  - {name: a}\n".to_owned(), 6, "of nothing"),
            ("spec:\n  profiles:\n  - {contracts: [b]}\n".to_owned(), 6, "has no name"),
            ("spec:\n  profiles:\n  - name: a\n    contracts: [b]\n".to_owned(), 7, "names contracts"),
            ("spec:\n  profiles:\n  - name: a\n    clauses:\n    - B-1\n".to_owned(), 8, "names clauses"),
            (format!("spec:\n  waivers:\n  - {waiver}\n"), 6, "no contract says"),
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
