//! The gate: judges a report by a policy, an earlier report and waivers, with a reason for each finding.
//!
//! A finding leads to the most specific exit code: a clause that passed in the baseline and is broken now is a regression (5), a
//! broken clause whose waiver has expired leads to 7, any other broken clause to 1. Of several findings, the first of
//! 130, 143, 2, 1, 3, 7, 5, 6, 4 wins, as in a report.

use std::collections::{BTreeMap, BTreeSet};

use contract::document::policy::{Action, Policy, Profile};
use contract::document::waivers::Waiver;
use contract::model::{Level, Location};
use jiff::civil::Date;
use serde::Serialize;

use crate::report::{ContractResult, Report, Status};

mod baseline;
mod causes;
mod clauses;
mod contracts;
mod ending;
mod report;
mod waived;

use baseline::Baseline;

/// The policy, waivers and baseline for a report.
#[derive(Clone, Copy, Debug)]
pub struct Against<'a> {
    /// The name of the policy.
    pub name: &'a str,
    /// The policy.
    pub policy: &'a Policy,
    /// Waivers in addition to those of the policy and of the report; they win over both.
    pub waivers: &'a [Waiver],
    /// An earlier report and its path.
    pub baseline: Option<(&'a str, &'a Report)>,
    /// Names of the checked profiles; empty: everything.
    pub profiles: &'a [String],
    /// Clauses that still exist in contracts: others cannot be missing.
    pub clauses: &'a BTreeSet<&'a str>,
    /// Today.
    pub today: Date,
}

/// Whether the gate passes, with all findings.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Judgement {
    /// 0 if the gate passes.
    pub exit_code: u8,
    /// Why it ends with this code: `CP-093 (MUST) is broken`; of a gate that passes its warnings.
    pub cause: String,
    /// Name of the policy.
    pub policy: String,
    /// Name and version of the target.
    pub target: String,
    /// Path of the earlier report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Number of checked clauses.
    pub clauses: usize,
    /// All findings, failures first.
    pub findings: Vec<Finding>,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Its effect on the gate.
    pub action: Action,
    /// Its exit code; 0 if it does not fail the gate.
    pub exit_code: u8,
    /// Its subject: a clause, `law idempotent of seccomp-profile`.
    pub subject: String,
    /// Level of the clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// The finding itself.
    pub what: String,
    /// Why it fails the gate, or does not.
    pub why: String,
    /// Further details, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// What to do.
    pub remedy: String,
    /// The location of the clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// What it follows from: findings with the same cause become one.
    #[serde(skip)]
    cause: Option<causes::FindingCause>,
}

/// Judges a report by a policy.
#[must_use]
pub fn judge(report: &Report, against: &Against<'_>) -> Judgement {
    let (contracts, uses) = waived::apply(report, against);
    let clauses = contracts.iter().flat_map(|contract| &contract.clauses);
    let waived = clauses.filter(|clause| clause.status == Status::Waived).map(|clause| clause.id.clone());
    let (waived, roots) = (waived.collect(), crate::causes::presupposed_roots(&contracts));
    let gate = GateInput { against, report, roots, waived };
    let baseline = against.baseline.map(|(_, report)| Baseline::of(report));
    let mut findings = report::findings(&gate, &contracts);
    let mut judged = 0;
    for contract in &contracts {
        let before = baseline.as_ref();
        for clause in contract.clauses.iter().filter(|clause| gate.is_judged(contract, &clause.id)) {
            judged += 1;
            clauses::findings(&mut findings, &gate, (contract, clause), before, &uses);
        }
        if contract.clauses.iter().any(|clause| gate.is_judged(contract, &clause.id)) {
            contracts::findings(&mut findings, &gate, contract, before);
        }
    }
    if let Some(before) = &baseline {
        baseline::missing_clauses(&mut findings, &gate, before, &contracts);
    }
    waived::findings(&mut findings, against, &contracts, &uses);
    let mut findings = causes::merged(findings, report, &contracts);
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.action), finding.exit_code == 0));
    let codes: Vec<u8> = findings.iter().map(|finding| finding.exit_code).collect();
    let exit_code = crate::report::worst_exit_code(&codes);
    Judgement {
        exit_code,
        cause: ending::cause(exit_code, &findings, &contracts, &uses),
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

/// A report with its policy, waivers and baseline.
struct GateInput<'a> {
    against: &'a Against<'a>,
    report: &'a Report,
    /// For each clause that did not run because it presupposes another: the clause at the end of the chain.
    roots: BTreeMap<String, String>,
    /// Clauses whose failure a waiver accepts, of themselves or of a law.
    waived: BTreeSet<String>,
}

impl GateInput<'_> {
    /// The profiles that the gate checks.
    fn profiles(&self) -> impl Iterator<Item = &Profile> {
        let wanted = self.against.profiles;
        self.against
            .policy
            .profiles
            .iter()
            .filter(move |profile| wanted.is_empty() || wanted.contains(&profile.name))
    }

    /// The action for a gap or a clause that is not proven. It is no fault of another's target, so it only warns.
    fn of_weakness(&self, action: Action) -> Action {
        if self.report.target.kind.is_foreign() { action.min(Action::Warn) } else { action }
    }

    /// Whether the gate checks a clause.
    fn is_judged(&self, contract: &ContractResult, clause: &str) -> bool {
        self.against.profiles.is_empty()
            || self.profiles().any(|profile| profile.covers(&contract.component, &contract.name, clause))
    }

    /// The action for a broken clause of this level, and its origin.
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
    /// A finding with this exit code if its action is to fail.
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
            cause: None,
        }
    }

    /// Adds what it is, why it has its action, and the remedy.
    fn with_text(
        mut self,
        what: impl Into<String>,
        why: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        (self.what, self.why, self.remedy) = (what.into(), why.into(), remedy.into());
        self
    }

    /// Adds level and location of its clause.
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
