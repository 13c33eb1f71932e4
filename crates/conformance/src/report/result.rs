//! The results of contracts, clauses and cases.

use std::collections::BTreeMap;

use contract::model::{Law, Level, Location, Source};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Counts, ExchangeFailure, Gap, Unasked, Unexplained, ValueChange, Verdict};

use super::proof::Proof;

/// The result of a case or clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// Every assertion and every law held.
    Passed,
    /// The target broke it.
    Failed,
    /// The environment broke, which says nothing about the target.
    Errored,
    /// Left out, with the reason.
    Skipped,
    /// This target or substrate does not support it, with the reason.
    NotSupported,
    /// Failed, and a waiver accepts that.
    Waived,
    /// Passed although waived.
    UnexpectedPass,
    /// Asserted nothing.
    Vacuous,
    /// The run ended earlier, or a presupposed clause failed.
    NotRun,
}

/// Kinds of reasons for a case without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReasonCode {
    /// The target does not declare a feature that the clause needs.
    Feature,
    /// The target does not state a parameter that the clause names.
    Parameter,
    /// The clause holds for other versions of the target.
    Version,
    /// The substrate does not support it.
    Substrate,
    /// There is no cluster to write facts into.
    Facts,
    /// The target's configuration cannot be set.
    Configuration,
    /// The target has no known registration.
    Registration,
    /// The target does not serve the path.
    NotServed,
    /// A clause that this one presupposes failed.
    Presupposed,
    /// The run ended earlier: `--fail-fast` or a signal.
    Ended,
    /// The environment broke.
    Environment,
    /// The target does not support this form of contract.
    Form,
    /// The target does not implement this component.
    Component,
    /// The target does not support the level of this row.
    Level,
    /// There was no suitable object.
    Object,
}

/// Why a case has no result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// Kind of reason.
    pub code: ReasonCode,
    /// Human-readable text.
    pub text: String,
    /// The clause that it presupposes and that is broken or did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
}

/// One assertion that did not hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Of admission `object`, `allowed`, `code`, `reason`, `message`, `causes`, `called`, `warnings`, `review`, or `answer`
    /// if there was none; `registration`; of a configuration `starts`, `effective`; of a program `process`; of a scenario `runs`, `eventually`,
    /// `history`, `never`, `witness`, `requests`, `faults`; `decision`; or `law`.
    pub part: String,
    /// Path inside the part: `spec.replicas`; the field of a cause; the name of a law; a scenario's step and object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// Expected value, human-readable.
    pub want: String,
    /// Actual value, human-readable; `absent` if there was none.
    pub got: String,
    /// The values that differ, in full: of a law those of two answers, of a value that must stay those of request and answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ValueChange>,
    /// What happened to the exchange, if it has no valid answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<ExchangeFailure>,
}

/// Request and response of a case, secrets masked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// Path or URL of the request.
    pub asked: String,
    /// The request.
    pub request: Value,
    /// HTTP status; absent without a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The response; a text if it is not JSON.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub response: Value,
    /// What the program wrote during the exchange, at most 200 lines; other cases may have run at the same time.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// A summary of objects in one case, since there may be many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Together {
    /// Number of objects.
    pub objects: usize,
    /// Description: `as they should be`.
    pub what: String,
}

/// The result of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CaseResult {
    /// Name inside the clause; the id is `<clause>/<name>`.
    pub name: String,
    /// Its status.
    pub status: Status,
    /// Why it has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Milliseconds, all attempts.
    pub duration_ms: f64,
    /// Number of attempts.
    pub attempts: u32,
    /// How many of its repeats did not pass; absent without `--repeat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_repeats: Option<u16>,
    /// Failed assertions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Given and when, one line each; only if it did not pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub story: Vec<String>,
    /// Request and response; only if it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// How the case ran and why, if not as the run's substrate says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// The summary of objects, which is also the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
    /// The level of a row about versions: `decision`, `admission`, `reconcile`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_on: Option<String>,
    /// The location of the row.
    #[schemars(with = "BTreeMap<String, Value>")]
    pub location: Location,
}

/// The result of one clause.
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
    /// Its status.
    pub status: Status,
    /// Whether some of its cases were not selected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Hash of the clause.
    pub hash: String,
    /// Its source.
    #[schemars(with = "Option<BTreeMap<String, Value>>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Its location.
    #[schemars(with = "BTreeMap<String, Value>")]
    pub location: Location,
    /// Whether it is proven able to fail; absent if no case was answered.
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
    /// What was expected and what happened.
    pub text: String,
}

/// The result of one law in one contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LawResult {
    /// The law.
    #[schemars(with = "String")]
    pub law: Law,
    /// Why it is exempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exempt: Option<String>,
    /// Number of cases in which it held.
    pub held: usize,
    /// Cases in which it was broken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<LawBreach>,
    /// Whether a waiver accepts that it is broken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waived: bool,
    /// Whether damaged answers (extra, late, broken, toggling) break it; absent if none was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven: Option<bool>,
}

/// The results of one contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractResult {
    /// `high-availability-config`.
    pub name: String,
    /// `resource-manager`.
    pub component: String,
    /// SHA-256 over the hashes of its clauses.
    pub digest: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Sums.
    pub counts: Counts,
    /// Milliseconds that the target took to answer, summed over all exchanges.
    pub duration_ms: f64,
    /// Its clauses, in order.
    pub clauses: Vec<ClauseResult>,
    /// The laws.
    pub laws: Vec<LawResult>,
    /// Changes that no case would miss.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// Changes that only clauses that did not run would miss; no gaps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unasked: Vec<Unasked>,
    /// Changes that no clause explains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexplained: Vec<Unexplained>,
}

/// The state of a waiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WaiverState {
    /// The clause failed, and that is accepted.
    Used,
    /// The clause passes: the waiver should be removed.
    UnexpectedPass,
    /// It has expired; the clause counts as if it were not waived.
    Expired,
    /// The clause did not run.
    Unused,
}

/// A waiver and its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaiverUse {
    /// The clause.
    pub clause: String,
    /// Its state.
    pub state: WaiverState,
    /// The responsible person or team.
    pub owner: String,
    /// Why.
    pub reason: String,
    /// Link to its discussion.
    pub link: String,
    /// Last day.
    pub expires: String,
}

impl LawResult {
    /// Whether it was broken and no waiver accepts that.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        !self.broken.is_empty() && !self.waived
    }
}

impl ClauseResult {
    /// Number of answered cases.
    #[must_use]
    pub fn answered(&self) -> usize {
        self.cases.iter().filter(|case| case.status.is_answer()).count()
    }

    /// Whether some of its cases were answered and others not.
    #[must_use]
    pub fn is_partly_answered(&self) -> bool {
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
    /// The result of a case without checks.
    #[must_use]
    pub fn without_checks(name: &str, location: &Location, status: Status, reason: Reason) -> Self {
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
    /// A reason.
    pub fn new(code: ReasonCode, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), clause: None }
    }

    /// The reason that a presupposed clause is broken or did not run.
    pub fn presupposed(clause: &str, text: impl Into<String>) -> Self {
        Self { clause: Some(clause.to_owned()), ..Self::new(ReasonCode::Presupposed, text) }
    }
}
