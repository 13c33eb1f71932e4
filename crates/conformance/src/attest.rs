//! Attestation: what a foreign implementation was seen to keep, written from a report on it.

use contract::document::attestation::{Attestation, Attested, Observation, Seen};
use contract::model::{Catalog, Clause};

use crate::report::{ClauseResult, Report, Status};

/// An attestation and what stands against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// What was seen.
    pub attestation: Attestation,
    /// Name of its file: `gardener-resource-manager-v1.82.0.yaml`.
    pub file: String,
    /// Clauses that failed though the contract states no difference: the contract or the target is wrong.
    pub unstated: Vec<String>,
    /// Clauses whose stated difference was not seen.
    pub kept_though_stated: Vec<String>,
}

/// Drafts the attestation of a report's target. A clause that no case of was answered is notAttestable, with the reason;
/// one that could not be asked because the environment broke is left out.
#[must_use]
pub fn draft(catalog: &Catalog, report: &Report) -> Draft {
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
        unstated: Vec::new(),
        kept_though_stated: Vec::new(),
    };
    let clauses = catalog.contracts.iter().flat_map(|contract| &contract.clauses);
    for clause in clauses {
        let results = report.contracts.iter().flat_map(|contract| &contract.clauses);
        let Some(result) = results.into_iter().find(|result| result.id == clause.id) else { continue };
        draft.see(clause, result, &report.target.name, &version);
    }
    draft
}

impl Draft {
    /// The file's content.
    ///
    /// # Errors
    /// When it cannot be written as YAML.
    pub fn to_yaml(&self) -> Result<String, serde_json::Error> {
        formats::yaml::to_string(&self.attestation)
    }

    fn see(&mut self, clause: &Clause, result: &ClauseResult, name: &str, version: &str) {
        let stated = clause.differs.get(&format!("{name} {version}")).or_else(|| clause.differs.get(name));
        let (seen, reason) = match result.status {
            Status::Passed | Status::UnexpectedPass => {
                if stated.is_some() {
                    self.kept_though_stated.push(clause.id.clone());
                }
                (Seen::Kept, None)
            }
            Status::Failed | Status::Waived => {
                let reason = stated.cloned().unwrap_or_else(|| {
                    self.unstated.push(clause.id.clone());
                    format!("not stated in the contract: {}", first_failure(result))
                });
                (Seen::Differs, Some(reason))
            }
            Status::NotSupported | Status::Skipped | Status::Vacuous => {
                (Seen::NotAttestable, Some(why(result)))
            }
            Status::Errored | Status::NotRun => return,
        };
        let observation = Observation { hash: clause.hash.clone(), result: seen, reason };
        self.attestation.clauses.insert(clause.id.clone(), observation);
    }
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

fn why(result: &ClauseResult) -> String {
    let reason = result.cases.iter().find_map(|case| case.reason.as_ref());
    reason.map_or_else(|| "asserts nothing".to_owned(), |reason| reason.text.clone())
}
