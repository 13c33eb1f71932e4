//! The gate: a report held against a policy, an earlier report and waivers; a yes or no, with the reason of each finding.
//!
//! A finding leads to one exit code, the one that says most: a clause that passed in the baseline and is broken now is a
//! regression (5), one whose waiver has ended is that (7), any other a broken clause (1). Of several findings the first of
//! 130, 143, 2, 1, 3, 7, 5, 6, 4 wins, as in a report.

use std::collections::BTreeSet;

use contract::document::policy::{Action, Policy, Profile};
use contract::document::waivers::Waiver;
use contract::model::{Level, Location};
use jiff::civil::Date;
use serde::Serialize;

use crate::report::{ContractResult, Report};

mod clauses;
mod contracts;
mod standing;
mod waived;
mod whole;

use standing::Baseline;

/// What a report is held against.
#[derive(Clone, Copy, Debug)]
pub struct Against<'a> {
    /// The name of the policy.
    pub name: &'a str,
    /// The policy.
    pub policy: &'a Policy,
    /// Waivers beside those of the policy and of the report; they win over both.
    pub waivers: &'a [Waiver],
    /// An earlier report and where it was read.
    pub baseline: Option<(&'a str, &'a Report)>,
    /// Names of the profiles that are judged; none: everything.
    pub profiles: &'a [String],
    /// Clauses that contracts still have: others cannot be missed.
    pub clauses: &'a BTreeSet<&'a str>,
    /// Today.
    pub today: Date,
}

/// Whether the gate holds, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Judgement {
    /// 0 if the gate holds.
    pub exit_code: u8,
    /// Name of the policy.
    pub policy: String,
    /// Name and version of the target.
    pub target: String,
    /// Where the earlier report was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Clauses that were judged.
    pub clauses: usize,
    /// Everything that was found, what fails first.
    pub findings: Vec<Finding>,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What it does to the gate.
    pub action: Action,
    /// The exit code that it leads to; 0 if it does not.
    pub exit_code: u8,
    /// What it is about: a clause, `law idempotent of seccomp-profile`.
    pub subject: String,
    /// Level of the clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// What was found.
    pub what: String,
    /// Why the gate does not hold for it, or does all the same.
    pub why: String,
    /// More of it, in a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// What to do.
    pub remedy: String,
    /// Where the clause stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

/// Holds a report against a policy.
#[must_use]
pub fn judge(report: &Report, against: &Against<'_>) -> Judgement {
    let asked = Asked { against, report };
    let (contracts, uses) = waived::apply(report, against);
    let baseline = against.baseline.map(|(_, report)| Baseline::of(report));
    let mut findings = whole::findings(&asked, &contracts);
    let mut judged = 0;
    for contract in &contracts {
        let before = baseline.as_ref();
        for clause in contract.clauses.iter().filter(|clause| asked.is_of(contract, &clause.id)) {
            judged += 1;
            clauses::findings(&mut findings, &asked, (contract, clause), before, &uses);
        }
        if contract.clauses.iter().any(|clause| asked.is_of(contract, &clause.id)) {
            contracts::findings(&mut findings, &asked, contract, before);
        }
    }
    if let Some(before) = &baseline {
        standing::lost(&mut findings, &asked, before, &contracts);
    }
    waived::findings(&mut findings, against, &contracts, &uses);
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.action), finding.exit_code == 0));
    let codes: Vec<u8> = findings.iter().map(|finding| finding.exit_code).collect();
    Judgement {
        exit_code: crate::report::first_of(&codes),
        policy: against.name.to_owned(),
        target: [Some(report.target.name.clone()), report.target.version.clone()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" "),
        baseline: against.baseline.map(|(place, _)| place.to_owned()),
        clauses: judged,
        findings,
    }
}

/// A report and what it is held against.
struct Asked<'a> {
    against: &'a Against<'a>,
    report: &'a Report,
}

impl Asked<'_> {
    /// The profiles that are judged.
    fn profiles(&self) -> impl Iterator<Item = &Profile> {
        let wanted = self.against.profiles;
        self.against
            .policy
            .profiles
            .iter()
            .filter(move |profile| wanted.is_empty() || wanted.contains(&profile.name))
    }

    /// Whether a clause is judged.
    fn is_of(&self, contract: &ContractResult, clause: &str) -> bool {
        self.against.profiles.is_empty()
            || self.profiles().any(|profile| profile.covers(&contract.component, &contract.name, clause))
    }

    /// What becomes of a clause of this level if it is broken, and who says so.
    fn action(&self, contract: &ContractResult, clause: &str, level: Level) -> (Action, String) {
        let policy = self.against.policy;
        let word = crate::report::level(level);
        let of_profile = self
            .profiles()
            .filter(|profile| profile.covers(&contract.component, &contract.name, clause))
            .map(|profile| {
                let action = profile.levels.of(level).unwrap_or_else(|| policy.action(level));
                (action, format!("profile {:?}: {word} {}", profile.name, verb(action)))
            });
        of_profile.max_by_key(|(action, _)| *action).unwrap_or_else(|| {
            (policy.action(level), format!("policy: {word} {}", verb(policy.action(level))))
        })
    }
}

impl Finding {
    /// A finding whose action leads to this exit code if it is to fail.
    fn new(subject: impl Into<String>, action: Action, code: u8) -> Self {
        Self {
            action,
            exit_code: if action == Action::Fail { code } else { 0 },
            subject: subject.into(),
            level: None,
            what: String::new(),
            why: String::new(),
            details: Vec::new(),
            remedy: String::new(),
            location: None,
        }
    }

    /// What it is, why it does what it does, and what to do.
    fn says(mut self, what: impl Into<String>, why: impl Into<String>, remedy: impl Into<String>) -> Self {
        (self.what, self.why, self.remedy) = (what.into(), why.into(), remedy.into());
        self
    }

    /// With the level and the place of its clause.
    fn of(mut self, clause: &crate::report::ClauseResult) -> Self {
        self.level = Some(clause.level);
        self.location = Some(clause.location.clone());
        self
    }
}

impl Judgement {
    /// Findings with this action.
    pub fn with(&self, action: Action) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.action == action)
    }

    /// As JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        format!("{:#}", serde_json::json!(self))
    }
}

/// `fails`, `warns`, `is ignored`.
pub(crate) fn verb(action: Action) -> &'static str {
    match action {
        Action::Fail => "fails",
        Action::Warn => "warns",
        Action::Ignore => "is ignored",
    }
}
