//! The report: target, results and verdict of a run. The exit code is computed from it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shard::ShardInfo;
use crate::target::{Identity, TargetKind};

mod changes;
mod counts;
mod exchange_failure;
mod exit;
mod proof;
mod result;
mod verdict;
mod write;

pub use changes::{Gap, Unasked, Unexplained, ValueChange};
pub use counts::{Counts, LevelCounts, level, sums};
pub use exchange_failure::ExchangeFailure;
pub(crate) use exit::waiver_reason;
pub use exit::{ExitReason, enumerate, worst_exit_code};
pub use proof::{Proof, Survivor};
pub use result::{
    CaseResult, Check, ClauseResult, ContractResult, Evidence, LawBreach, LawResult, Reason, ReasonCode,
    Status, Together, WaiverState, WaiverUse,
};
pub use verdict::Verdict;
pub use write::{FolderError, WriteError, check_folder, read, write};

/// `apiVersion` of reports written by this version.
pub const API_VERSION: &str = "report.conformance.gardener.cloud/v1alpha1";

/// The results of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// [`API_VERSION`].
    pub api_version: String,
    /// `ConformanceReport`.
    pub kind: String,
    /// The run.
    pub run: RunInfo,
    /// The target.
    pub target: Identity,
    /// The substrate.
    pub substrate: SubstrateInfo,
    /// The selection of cases.
    pub selection: SelectionInfo,
    /// The verdict.
    pub verdict: Verdict,
    /// Sums over all contracts.
    pub counts: Counts,
    /// Clauses that hold, by level.
    pub levels: BTreeMap<String, LevelCounts>,
    /// The results by contract.
    pub contracts: Vec<ContractResult>,
    /// Waivers and their state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<WaiverUse>,
    /// Environment errors; they say nothing about the target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment_errors: Vec<String>,
    /// Objects in a cluster that is not ours that could not be removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
    /// The signal that ended the run early: 2 or 15.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<u8>,
    /// [`Report::exit_code`], for readers of the file.
    pub exit_code: u8,
}

impl Report {
    /// Removes the list of caught damages; their counts stay.
    pub fn forget_damages(&mut self) {
        let clauses = self.contracts.iter_mut().flat_map(|contract| &mut contract.clauses);
        clauses.filter_map(|clause| clause.proof.as_mut()).for_each(|proof| proof.noticed.clear());
    }

    /// The note about objects of an unknown release: how many clauses did not run for that reason, and the remedy.
    #[must_use]
    pub fn unknown_release_note(&self) -> Option<String> {
        if self.target.kind != TargetKind::Objects || self.target.version.is_some() {
            return None;
        }
        let is_of_releases =
            |case: &CaseResult| case.reason.as_ref().is_some_and(|reason| reason.code == ReasonCode::Version);
        let clauses = self.contracts.iter().flat_map(|contract| &contract.clauses);
        let clauses = clauses.filter(|clause| clause.cases.iter().any(is_of_releases)).count();
        let note = match clauses {
            0 => return None,
            1 => "1 clause applies only to some releases of Gardener and did not run".to_owned(),
            several => {
                format!("{several} clauses apply only to some releases of Gardener and did not run")
            }
        };
        Some(format!("{note}: set the release of these objects, such as --gardener v1.82.0"))
    }
}

impl RunInfo {
    /// The release of Gardener and the strictness of the run; `None` if neither was set.
    #[must_use]
    pub fn requirements(&self) -> Option<String> {
        let release = self.gardener.as_ref().map(|gardener| format!("Gardener {gardener}"));
        let texts: Vec<String> =
            release.into_iter().chain(self.strict.then(|| "strict".to_owned())).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }

    /// The same to compare reports: `no release of Gardener` if none was set.
    #[must_use]
    pub fn describe_requirements(&self) -> String {
        let release = self.gardener.as_ref();
        let release = release
            .map_or_else(|| "no release of Gardener".to_owned(), |release| format!("Gardener {release}"));
        if self.strict { format!("{release}, strict") } else { release }
    }
}

/// A run: when and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunInfo {
    /// Version of gardener-conformance.
    pub version: String,
    /// Start time, RFC 3339; empty if unknown.
    pub started_at: String,
    /// Milliseconds.
    pub duration_ms: f64,
    /// Seed of the order of cases.
    pub seed: u64,
    /// How often each case ran.
    pub repeat: u16,
    /// Number of groups in parallel.
    pub parallel: u16,
    /// Whether the first failure ended it.
    pub fail_fast: bool,
    /// The release of Gardener for which the target was verified, if contracts depend on it; absent: each clause for a release to
    /// which it applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gardener: Option<String>,
    /// Whether clauses also apply where Gardener itself differs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// The command for repeating a single case: `gardener-conformance run`.
    pub command: String,
    /// The author's own file, on which findings of code scanning lie: the target file, or the source file that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// The substrate on which cases ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubstrateInfo {
    /// `direct`, `embedded`, `envtest`.
    pub name: String,
    /// Human-readable description.
    pub description: String,
    /// The names of cases' namespaces.
    pub namespaces: String,
}

/// The selection of cases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SelectionInfo {
    /// As given: `suite=smoke`, `clause=GRM-HAC-001`; empty: everything.
    pub expression: Vec<String>,
    /// Clauses in it.
    pub clauses: usize,
    /// Cases in it.
    pub cases: usize,
    /// SHA-256 over the ids of its cases and the hashes of their clauses.
    pub digest: String,
    /// Number of checked namespaces; absent unless objects are checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<usize>,
    /// The shard of the run; absent: the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardInfo>,
}
