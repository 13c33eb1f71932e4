//! Attestation: records which clauses a foreign implementation keeps, from a report on it.

use std::collections::BTreeSet;

use contract::document::attestation::{Attestation, Attested, Observation, Seen};
use contract::index::Summary;

use crate::report::{
    CaseResult, ClauseResult, ExitReason, Reason, ReasonCode, Report, Status, enumerate, sums,
};

/// A draft of an attestation, with disagreements between contract and target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The attestation.
    pub attestation: Attestation,
    /// Name of its file: `gardener-resource-manager-v1.82.0.yaml`.
    pub file: String,
    /// Clauses in which the target differs as the contract states.
    pub stated: BTreeSet<String>,
    /// Clauses that failed though the contract states no difference: the contract or the target is wrong.
    pub unstated: Vec<String>,
    /// Clauses that the target keeps although the contract states a difference.
    pub kept_though_stated: Vec<String>,
}

/// Drafts the attestation of a report's target. A clause of which not every case was answered is notAttestable, with the
/// reason; a clause that did not run because the environment broke is left out.
#[must_use]
pub fn draft(clauses: &[Summary], report: &Report) -> Draft {
    let version = report.target.version.clone().unwrap_or_else(|| "unknown".to_owned());
    let on = report.run.started_at.get(..10).unwrap_or_default().to_owned();
    let target = Attested {
        name: report.target.name.clone(),
        version: version.clone(),
        substrate: report.substrate.name.clone(),
        on,
    };
    let mut draft = Draft {
        attestation: Attestation::of(target),
        file: format!("{}-{version}.yaml", report.target.name),
        stated: BTreeSet::new(),
        unstated: Vec::new(),
        kept_though_stated: Vec::new(),
    };
    for clause in clauses {
        let results = report.contracts.iter().flat_map(|contract| &contract.clauses);
        let Some(result) = results.into_iter().find(|result| result.id == clause.id) else { continue };
        let Some(result) = without_other_levels(result) else { continue };
        draft.record(clause, &result, &report.target.name, &version);
    }
    draft
}

impl Draft {
    /// The exit code if the draft must not be recorded: the run was interrupted, the environment broke, or cases did not run.
    #[must_use]
    pub fn refusal(&self, report: &Report) -> Option<u8> {
        [130, 143, 3, 4].into_iter().find(|code| self.accepted(report).codes().contains(code))
    }

    /// The exit code of the report with stated differences accepted, and its cause; 5 if contract and target disagree about
    /// differences.
    #[must_use]
    pub fn exit_reason(&self, report: &Report) -> ExitReason {
        let reason = self.accepted(report).exit_reason();
        let disputed = [&self.unstated[..], &self.kept_though_stated].concat();
        if reason.code != 0 || disputed.is_empty() {
            return reason;
        }
        let cause = format!("contract and target disagree about {}", enumerate(&disputed));
        ExitReason { code: 5, cause }
    }

    /// The report with stated differences accepted: waives their failures, and removes the laws that they broke and their changes;
    /// clauses that presuppose a failed clause are not supported.
    fn accepted(&self, report: &Report) -> Report {
        let mut report = report.clone();
        let is_stated = |case: &str| case.split_once('/').is_some_and(|(id, _)| self.stated.contains(id));
        for contract in &mut report.contracts {
            contract.unexplained.retain(|found| !found.cases.iter().all(|case| is_stated(case)));
            for law in &mut contract.laws {
                law.broken.retain(|breach| !is_stated(&breach.case));
            }
            for clause in &mut contract.clauses {
                let waived = self.stated.contains(&clause.id);
                for case in &mut clause.cases {
                    case.status = match case.status {
                        Status::Failed if waived => Status::Waived,
                        Status::NotRun if case.reason.as_ref().is_some_and(is_presupposed) => {
                            Status::NotSupported
                        }
                        status => status,
                    };
                }
                clause.status = ClauseResult::conclude(&clause.cases);
            }
            contract.conclude();
        }
        (report.counts, report.levels) = sums(&report.contracts);
        report
    }

    /// The file's content.
    ///
    /// # Errors
    /// If it cannot be written as YAML.
    pub fn to_yaml(&self) -> Result<String, serde_json::Error> {
        formats::yaml::to_string(&self.attestation)
    }

    fn record(&mut self, clause: &Summary, result: &ClauseResult, name: &str, version: &str) {
        let stated = clause.differs.get(&format!("{name} {version}")).or_else(|| clause.differs.get(name));
        let (seen, reason) = match result.status {
            Status::Passed | Status::UnexpectedPass if result.is_partly_answered() => {
                let (answered, all) = (result.answered(), result.cases.len());
                let reason = format!("{answered} of {all} cases could run: {}", why(result));
                (Seen::NotAttestable, Some(reason))
            }
            Status::Passed | Status::UnexpectedPass => {
                if stated.is_some() {
                    self.kept_though_stated.push(clause.id.clone());
                }
                (Seen::Kept, None)
            }
            Status::Failed | Status::Waived => {
                if stated.is_some() {
                    self.stated.insert(clause.id.clone());
                }
                let reason = stated.cloned().unwrap_or_else(|| {
                    self.unstated.push(clause.id.clone());
                    format!("not stated in the contract: {}", first_failure(result))
                });
                (Seen::Differs, Some(reason))
            }
            Status::NotSupported | Status::Skipped | Status::Vacuous => {
                (Seen::NotAttestable, Some(why(result)))
            }
            Status::NotRun if reasons(result).all(is_presupposed) => (Seen::NotAttestable, Some(why(result))),
            Status::Errored | Status::NotRun => return,
        };
        let observation = Observation {
            hash: clause.hash.clone(),
            result: seen,
            reason,
            asked: deviations(result),
            substrate: None,
        };
        self.attestation.clauses.insert(clause.id.clone(), observation);
    }
}

/// The result without rows of levels that do not apply to the target; `None` if no row is left.
fn without_other_levels(result: &ClauseResult) -> Option<ClauseResult> {
    let is_of_other_level =
        |case: &CaseResult| case.reason.as_ref().is_some_and(|reason| reason.code == ReasonCode::Level);
    if !result.cases.iter().any(is_of_other_level) {
        return Some(result.clone());
    }
    let mut own = result.clone();
    own.cases.retain(|case| !is_of_other_level(case));
    own.status = ClauseResult::conclude(&own.cases);
    (!own.cases.is_empty()).then_some(own)
}

/// The number of cases that did not run as the substrate says, and how the first of them ran.
fn deviations(result: &ClauseResult) -> Option<String> {
    let asked: Vec<&String> = result.cases.iter().filter_map(|case| case.asked.as_ref()).collect();
    let first = asked.first()?;
    Some(format!("{} of {} cases: {first}", asked.len(), result.cases.len()))
}

fn first_failure(result: &ClauseResult) -> String {
    let checks = result.cases.iter().find_map(|case| Some((case, case.checks.first()?)));
    checks.map_or_else(
        || "failed".to_owned(),
        |(case, check)| {
            format!(
                "case {}: {} {} wanted {}, got {}",
                case.name, check.part, check.path, check.want, check.got
            )
        },
    )
}

fn is_presupposed(reason: &Reason) -> bool {
    reason.code == ReasonCode::Presupposed
}

fn reasons(result: &ClauseResult) -> impl Iterator<Item = &Reason> {
    result.cases.iter().filter_map(|case| case.reason.as_ref())
}

fn why(result: &ClauseResult) -> String {
    reasons(result).next().map_or_else(|| "asserts nothing".to_owned(), |reason| reason.text.clone())
}
