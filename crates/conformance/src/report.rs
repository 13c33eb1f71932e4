//! The report: what was asked of whom, what came back, and what that means. The exit code is computed from it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shard::ShardInfo;
use crate::target::{Identity, TargetKind};

mod changes;
mod counts;
mod exit;
mod proof;
mod result;
mod verdict;
mod write;

pub use changes::{Gap, Unasked, Unexplained};
pub use counts::{Counts, LevelCounts, level, sums};
pub(crate) use exit::first_of;
pub use proof::{Proof, Survivor};
pub use result::{
    CaseResult, Check, ClauseResult, ContractResult, Evidence, LawBreach, LawResult, Reason, ReasonCode,
    Status, Together, WaiverState, WaiverUse,
};
pub use verdict::Verdict;
pub use write::{WriteError, read, write};

/// `apiVersion` of reports written by this version.
pub const API_VERSION: &str = "report.conformance.gardener.cloud/v1alpha1";

/// Everything one run found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// [`API_VERSION`].
    pub api_version: String,
    /// `ConformanceReport`.
    pub kind: String,
    /// What ran.
    pub run: RunInfo,
    /// Who was verified.
    pub target: Identity,
    /// Where cases ran.
    pub substrate: SubstrateInfo,
    /// Which cases were wanted.
    pub selection: SelectionInfo,
    /// What is concluded.
    pub verdict: Verdict,
    /// Sums over all contracts.
    pub counts: Counts,
    /// Clauses that hold, by level.
    pub levels: BTreeMap<String, LevelCounts>,
    /// What was found, contract by contract.
    pub contracts: Vec<ContractResult>,
    /// Waivers that were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<WaiverUse>,
    /// What broke around the target; says nothing about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment_errors: Vec<String>,
    /// What was written into a cluster that is not ours and could not be taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
    /// The signal that ended the run early: 2 or 15.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<u8>,
    /// [`Report::exit_code`], for those who only read.
    pub exit_code: u8,
}

impl Report {
    /// Drops the list of damages that were caught: their counts stay.
    pub fn forget_damages(&mut self) {
        let clauses = self.contracts.iter_mut().flat_map(|contract| &mut contract.clauses);
        clauses.filter_map(|clause| clause.proof.as_mut()).for_each(|proof| proof.noticed.clear());
    }

    /// What is to be said of objects that nobody told the release of: how many clauses are not asked for that, and the remedy.
    #[must_use]
    pub fn untold_release(&self) -> Option<String> {
        if self.target.kind != TargetKind::Objects || self.target.version.is_some() {
            return None;
        }
        let is_of_releases =
            |case: &CaseResult| case.reason.as_ref().is_some_and(|reason| reason.code == ReasonCode::Version);
        let clauses = self.contracts.iter().flat_map(|contract| &contract.clauses);
        let clauses = clauses.filter(|clause| clause.cases.iter().any(is_of_releases)).count();
        let told = match clauses {
            0 => return None,
            1 => "1 clause holds for some releases of Gardener alone and was not asked".to_owned(),
            several => {
                format!("{several} clauses hold for some releases of Gardener alone and were not asked")
            }
        };
        Some(format!("{told}: say whose objects these are, --gardener v1.82.0"))
    }
}

impl RunInfo {
    /// The release of Gardener that was asked for, and whether clauses were taken to the letter; `None`: neither was said.
    #[must_use]
    pub fn asked(&self) -> Option<String> {
        let release = self.gardener.as_ref().map(|gardener| format!("Gardener {gardener}"));
        let words: Vec<String> =
            release.into_iter().chain(self.strict.then(|| "to the letter".to_owned())).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// The same to hold reports against each other: `no release of Gardener` where none was said.
    #[must_use]
    pub fn asked_in_words(&self) -> String {
        let release = self.gardener.as_ref();
        let release = release
            .map_or_else(|| "no release of Gardener".to_owned(), |release| format!("Gardener {release}"));
        if self.strict { format!("{release}, to the letter") } else { release }
    }
}

/// What ran, when and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunInfo {
    /// Version of gardener-conformance.
    pub version: String,
    /// When it began, RFC 3339; empty if the caller told no time.
    pub started_at: String,
    /// Milliseconds.
    pub duration_ms: f64,
    /// Seed of the order of cases.
    pub seed: u64,
    /// How often each case ran.
    pub repeat: u16,
    /// Groups side by side.
    pub parallel: u16,
    /// Whether the first failure ended it.
    pub fail_fast: bool,
    /// The release of Gardener that the target was asked for, where contracts tell releases apart; absent: each clause of
    /// one that it holds for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gardener: Option<String>,
    /// Whether clauses were taken to the letter, where Gardener itself does not keep them so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// How it was called, for repeating a single case: `gardener-conformance run`.
    pub command: String,
}

/// Where cases ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubstrateInfo {
    /// `direct`, `embedded`, `envtest`.
    pub name: String,
    /// What it is, in words.
    pub description: String,
    /// How namespaces of cases are named.
    pub namespaces: String,
}

/// Which cases were wanted and what that set is.
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
    /// Namespaces that were looked at; absent where nothing but cases is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<usize>,
    /// Which part of a run this is; absent: the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardInfo>,
}
