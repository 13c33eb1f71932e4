//! What was found of one contract, clause and case.

use std::collections::BTreeMap;

use contract::model::{Law, Level, Location, Source};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Counts, Gap, Unasked, Unexplained, Verdict};

use super::proof::Proof;

/// What became of a case or clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// Every assertion and every law held.
    Passed,
    /// The target broke it.
    Failed,
    /// The target could not be asked; says nothing about it.
    Errored,
    /// Left out, with the reason.
    Skipped,
    /// This target or substrate cannot bring it about, with the reason.
    NotSupported,
    /// Failed, and a waiver accepts that.
    Waived,
    /// Passed although waived.
    UnexpectedPass,
    /// Asserted nothing.
    Vacuous,
    /// The run ended before, or a presupposed clause failed.
    NotRun,
}

/// Kinds of reasons for a case that says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReasonCode {
    /// The target does not declare a feature that the clause needs.
    Feature,
    /// The target does not state a parameter that the clause names.
    Parameter,
    /// The clause holds for other versions of the target.
    Version,
    /// The substrate cannot bring it about.
    Substrate,
    /// There is no cluster to write facts into.
    Facts,
    /// The target's configuration cannot be set.
    Configuration,
    /// The target tells no registration.
    Registration,
    /// The target does not serve the path.
    NotServed,
    /// A clause that this one presupposes failed.
    Presupposed,
    /// The run ended before: `--fail-fast` or a signal.
    Ended,
    /// The environment broke.
    Environment,
    /// The harness does not know this form yet.
    Form,
    /// The target is not asked about this component.
    Component,
    /// Nothing is asked yet where this row is to be asked.
    Level,
    /// No object that tells was there.
    Object,
}

/// Why a case says nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// Kind of reason.
    pub code: ReasonCode,
    /// In words.
    pub text: String,
}

/// One assertion that did not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Of admission `object`, `allowed`, `code`, `reason`, `message`, `causes`, `called`, `warnings`, `review`, or `answer`
    /// where none came; `registration`; of a configuration `starts`, `effective`; of a program `process`; of a scenario `runs`, `eventually`,
    /// `history`, `never`, `witness`, `requests`, `faults`; `decision`; or `law`.
    pub part: String,
    /// Place inside the part: `spec.replicas`; the field of a cause; the name of a law; a scenario's step and object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// What was wanted, as shown to a person.
    pub want: String,
    /// What was there, as shown to a person; `absent` if nothing.
    pub got: String,
}

/// Request and response of a case, secrets masked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// Path or URL asked.
    pub asked: String,
    /// What was sent.
    pub request: Value,
    /// HTTP status; absent if no answer came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What came back; a text where it is no JSON.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub response: Value,
}

/// Objects of which a case tells together, as there may be many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Together {
    /// How many.
    pub objects: usize,
    /// What of them: `as they should be`.
    pub what: String,
}

/// What became of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CaseResult {
    /// Name inside the clause; the id is `<clause>/<name>`.
    pub name: String,
    /// What became of it.
    pub status: Status,
    /// Why it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Milliseconds, all attempts.
    pub duration_ms: f64,
    /// How often it was asked until it settled.
    pub attempts: u32,
    /// How many of its repeats did not pass; absent without `--repeat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_repeats: Option<u16>,
    /// What did not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// What was given and done, in a line each; only where it did not pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub story: Vec<String>,
    /// Request and response; only where it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Asked otherwise than the run's substrate says, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// Of objects that are told together: how many, and what of them; the name says the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
    /// Of a row about versions: where it is asked: `decision`, `admission`, `reconcile`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_on: Option<String>,
    /// Where the row stands.
    #[schemars(with = "BTreeMap<String, Value>")]
    pub location: Location,
}

/// What became of one clause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClauseResult {
    /// `GRM-HAC-001`.
    pub id: String,
    /// The sentence.
    pub text: String,
    /// `MUST`, `SHOULD`, `MAY`.
    #[schemars(with = "String")]
    pub level: Level,
    /// What became of it.
    pub status: Status,
    /// Whether cases of it were not selected: then nothing is said of those.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Hash of the clause.
    pub hash: String,
    /// Where it comes from.
    #[schemars(with = "Option<BTreeMap<String, Value>>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Where it stands.
    #[schemars(with = "BTreeMap<String, Value>")]
    pub location: Location,
    /// Whether it was shown able to fail; absent if no case was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// Its cases, in the order of the contract.
    pub cases: Vec<CaseResult>,
}

/// One case that broke a law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LawBreach {
    /// `<clause>/<case>`.
    pub case: String,
    /// What was wanted and what came.
    pub text: String,
}

/// What became of one law in one contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LawResult {
    /// The law.
    #[schemars(with = "String")]
    pub law: Law,
    /// Why it is excused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exempt: Option<String>,
    /// Cases in which it held.
    pub held: usize,
    /// Cases in which it did not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<LawBreach>,
    /// Whether a damaged answer (extra, late, broken, toggling) was seen to break it; absent if none was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven: Option<bool>,
}

/// What was found of one contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractResult {
    /// `high-availability-config`.
    pub name: String,
    /// `resource-manager`.
    pub component: String,
    /// SHA-256 over the hashes of its clauses.
    pub digest: String,
    /// What is concluded.
    pub verdict: Verdict,
    /// Sums.
    pub counts: Counts,
    /// Milliseconds that the target took to answer, all exchanges one after the other.
    pub duration_ms: f64,
    /// Its clauses, in order.
    pub clauses: Vec<ClauseResult>,
    /// The laws.
    pub laws: Vec<LawResult>,
    /// Changes that no case would miss.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// Changes that only clauses would miss that were not asked; no gaps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unasked: Vec<Unasked>,
    /// Changes that no clause explains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexplained: Vec<Unexplained>,
}

/// What became of a waiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WaiverState {
    /// The clause failed, and that is accepted.
    Used,
    /// The clause passes: the waiver is to be removed.
    UnexpectedPass,
    /// Its day has passed; the clause counts as if it were not waived.
    Expired,
    /// The clause did not run.
    Unused,
}

/// A waiver and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaiverUse {
    /// The clause.
    pub clause: String,
    /// What became of it.
    pub state: WaiverState,
    /// Who answers for it.
    pub owner: String,
    /// Why.
    pub reason: String,
    /// Where it is discussed.
    pub link: String,
    /// Last day.
    pub expires: String,
}

impl ClauseResult {
    /// Cases that were answered.
    #[must_use]
    pub fn answered(&self) -> usize {
        self.cases.iter().filter(|case| case.status.is_answer()).count()
    }

    /// Whether some of its cases were answered and others not.
    #[must_use]
    pub fn is_partly_asked(&self) -> bool {
        (1..self.cases.len()).contains(&self.answered())
    }

    /// Cases with this status.
    pub fn cases_with(&self, status: Status) -> impl Iterator<Item = &CaseResult> {
        self.cases.iter().filter(move |case| case.status == status)
    }
}

impl Status {
    /// Whether the target answered.
    #[must_use]
    pub fn is_answer(self) -> bool {
        matches!(self, Self::Passed | Self::Failed | Self::Waived | Self::UnexpectedPass)
    }
}

impl CaseResult {
    /// A case that was not asked.
    #[must_use]
    pub fn silent(name: &str, location: &Location, status: Status, reason: Reason) -> Self {
        Self {
            name: name.to_owned(),
            status,
            reason: Some(reason),
            duration_ms: 0.0,
            attempts: 0,
            failed_repeats: None,
            checks: Vec::new(),
            story: Vec::new(),
            evidence: None,
            asked: None,
            together: None,
            runs_on: None,
            location: location.clone(),
        }
    }
}

impl Reason {
    /// A reason in words.
    pub fn new(code: ReasonCode, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }
}
