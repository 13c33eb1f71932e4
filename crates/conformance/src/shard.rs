//! Shards: distributes the selected contracts of a run to several machines, and merges their reports.
//!
//! A contract is never split, and contracts that presuppose clauses of each other stay together, so that the results of a contract
//! (laws, gaps, proofs) depend on no other shard. If objects are checked, their namespaces are distributed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use contract::case::{Case, When};
use contract::model::Contract;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::digest;
use crate::objects;
use crate::report::{ContractResult, Report, SelectionInfo, Verdict, WaiverState, WaiverUse};
use crate::target::TargetKind;

/// How much longer a scenario takes than a request.
const SCENARIO: usize = 20;

/// A shard of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    /// From 1.
    pub index: usize,
    /// Number of shards.
    pub of: usize,
}

/// The shard of a report, and the size of the whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShardInfo {
    /// From 1.
    pub index: usize,
    /// Number of shards.
    pub of: usize,
    /// Clauses of all shards.
    pub clauses: usize,
    /// Cases of all shards.
    pub cases: usize,
    /// The digest of the selection, over the cases of all shards.
    pub digest: String,
}

/// Why reports cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// No report was given.
    #[error("there is no report to merge")]
    Nothing,
    /// A report is not of a shard.
    #[error("{0} is not a shard: it was created without --shard")]
    Whole(String),
    /// A shard is given twice.
    #[error("shard {shard} is given twice: {first} and {second}")]
    Twice {
        /// Which.
        shard: Shard,
        /// One report.
        first: String,
        /// The other.
        second: String,
    },
    /// Shards are of different runs.
    #[error("{first} and {second} are not shards of the same run: {what} {one:?} and {other:?}")]
    Differ {
        /// What differs.
        what: &'static str,
        /// One report.
        first: String,
        /// Its value.
        one: String,
        /// The other.
        second: String,
        /// The other value.
        other: String,
    },
    /// Shards are missing.
    #[error("incomplete: {}", missing(.0))]
    Missing(Vec<Shard>),
    /// The shards do not have the cases that they state.
    #[error("the shards do not have all cases that they state: {cases} of {wanted}")]
    Torn {
        /// Number of cases in the shards.
        cases: usize,
        /// Number of cases of the whole run.
        wanted: usize,
    },
}

impl MergeError {
    /// 4 for missing shards, 2 for all other errors.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if matches!(self, Self::Missing(_)) { 4 } else { 2 }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { index, of }),
            _ => Err("write I/N, such as 2/4: the second of four".to_owned()),
        }
    }
}

impl Shard {
    /// The positions of this shard's contracts, in order; the same on every machine with the same selection. Empty if there are
    /// more shards than contracts.
    #[must_use]
    pub fn of(self, contracts: &[Weighed]) -> BTreeSet<usize> {
        let mut bundles = bundles(contracts);
        // The heaviest first, each to the shard with the least weight.
        bundles.sort_by_key(|bundle| (std::cmp::Reverse(weight(contracts, bundle)), bundle.first().copied()));
        let mut loads = vec![0; self.of];
        let mut mine = BTreeSet::new();
        for bundle in bundles {
            let Some(least) = (0..self.of).min_by_key(|shard| (loads[*shard], *shard)) else { break };
            loads[least] += weight(contracts, &bundle);
            if least + 1 == self.index {
                mine.extend(bundle);
            }
        }
        mine
    }

    /// Whether a namespace belongs to this shard; the same on every machine, independent of other namespaces.
    #[must_use]
    pub fn has(self, namespace: &str) -> bool {
        let digits = digest(namespace);
        let number = usize::from_str_radix(&digits[..7], 16).unwrap_or_default();
        number % self.of + 1 == self.index
    }

    /// The shard's information for its report, given the clauses and cases of the whole run.
    #[must_use]
    pub fn info(self, clauses: usize, selected: &SelectionDigest) -> ShardInfo {
        let (index, of) = (self.index, self.of);
        ShardInfo { index, of, clauses, cases: selected.cases(), digest: selected.digest() }
    }
}

/// The properties of a contract that determine its shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weighed {
    /// Ids of its clauses.
    pub clauses: BTreeSet<String>,
    /// Ids of clauses that they presuppose.
    pub presupposes: BTreeSet<String>,
    /// Duration of its cases, in requests.
    pub weight: usize,
}

impl Weighed {
    /// The properties of a contract with its selected cases.
    #[must_use]
    pub fn of(contract: &Contract) -> Self {
        let clauses = || contract.clauses.iter();
        let weight = |case: &Case| if matches!(case.when, When::Steps(_)) { SCENARIO } else { 1 };
        Self {
            clauses: clauses().map(|clause| clause.id.clone()).collect(),
            presupposes: clauses().flat_map(|clause| clause.presupposes.iter().cloned()).collect(),
            weight: clauses().flat_map(|clause| &clause.cases).map(weight).sum(),
        }
    }
}

/// Cases and a digest over them: clause, name and hash of the clause of each, in order.
#[derive(Clone, Debug, Default)]
pub struct SelectionDigest {
    text: String,
    cases: usize,
}

impl SelectionDigest {
    /// Adds a case.
    pub fn add(&mut self, clause: &str, case: &str, hash: &str) {
        self.text.extend([clause, "/", case, " ", hash, "\n"]);
        self.cases += 1;
    }

    /// Adds the cases of all clauses of a contract.
    pub fn add_all(&mut self, contract: &Contract) {
        for clause in &contract.clauses {
            clause.cases.iter().for_each(|case| self.add(&clause.id, &case.name, &clause.hash));
        }
    }

    /// Adds those of another selection.
    pub fn join(&mut self, other: &Self) {
        self.text.push_str(&other.text);
        self.cases += other.cases;
    }

    /// How many cases there are.
    #[must_use]
    pub fn cases(&self) -> usize {
        self.cases
    }

    /// The digest.
    #[must_use]
    pub fn digest(&self) -> String {
        digest(&self.text)
    }
}

/// Contracts of which one presupposes clauses of another, by position.
fn bundles(contracts: &[Weighed]) -> Vec<BTreeSet<usize>> {
    let ids = |at: usize| contracts[at].clauses.iter().map(move |id| (id.as_str(), at));
    let home: BTreeMap<&str, usize> = (0..contracts.len()).flat_map(ids).collect();
    let mut bundles: Vec<BTreeSet<usize>> = (0..contracts.len()).map(|at| BTreeSet::from([at])).collect();
    for (at, contract) in contracts.iter().enumerate() {
        for other in contract.presupposes.iter().filter_map(|id| home.get(id.as_str())) {
            let (joined, rest): (Vec<_>, Vec<_>) =
                bundles.into_iter().partition(|bundle| bundle.contains(&at) || bundle.contains(other));
            bundles = rest;
            bundles.push(joined.into_iter().flatten().collect());
        }
    }
    bundles
}

fn weight(contracts: &[Weighed], bundle: &BTreeSet<usize>) -> usize {
    bundle.iter().map(|at| contracts[*at].weight).sum()
}

/// Merges the reports of all shards of a run, each with its name, into the report that one run would have given.
///
/// # Errors
/// If a shard is missing or there twice, or they are of different runs.
pub fn merge(reports: &[(String, Report)]) -> Result<Report, MergeError> {
    let (first_name, first) = reports.first().ok_or(MergeError::Nothing)?;
    let mut shards: BTreeMap<usize, &(String, Report)> = BTreeMap::new();
    for named @ (name, report) in reports {
        let info = report.selection.shard.as_ref().ok_or_else(|| MergeError::Whole(name.clone()))?;
        check_same_run(first_name, first, name, report)?;
        if let Some((other, _)) = shards.insert(info.index, named) {
            let shard = Shard { index: info.index, of: info.of };
            return Err(MergeError::Twice { shard, first: other.clone(), second: name.clone() });
        }
    }
    let whole = first.selection.shard.clone().unwrap_or_default();
    let missing = (1..=whole.of).filter(|index| !shards.contains_key(index));
    let missing: Vec<Shard> = missing.map(|index| Shard { index, of: whole.of }).collect();
    if !missing.is_empty() {
        return Err(MergeError::Missing(missing));
    }
    let shards: Vec<&Report> = shards.into_values().map(|(_, report)| report).collect();
    merge_shards(&shards, &whole)
}

/// Refuses reports that one run cannot have given.
fn check_same_run(first_name: &str, first: &Report, name: &str, report: &Report) -> Result<(), MergeError> {
    let properties = |report: &Report| {
        let shard = report.selection.shard.clone().unwrap_or_default();
        let waivers = report.waivers.iter().map(|used| format!("{} until {}", used.clause, used.expires));
        [
            ("the tool's version", report.run.version.clone()),
            ("target", report.target.name.clone()),
            ("the target's version", report.target.version.clone().unwrap_or_default()),
            ("substrate", report.substrate.name.clone()),
            ("selection", report.selection.expression.join(" ")),
            ("number of shards", shard.of.to_string()),
            ("digest of the contracts", shard.digest),
            ("repeats", report.run.repeat.to_string()),
            ("requirements", report.run.requirements().unwrap_or_default()),
            ("waivers", waivers.collect::<Vec<_>>().join(", ")),
        ]
    };
    for ((what, one), (_, other)) in properties(first).into_iter().zip(properties(report)) {
        if one != other {
            let (first, second) = (first_name.to_owned(), name.to_owned());
            return Err(MergeError::Differ { what, first, one, second, other });
        }
    }
    Ok(())
}

fn merge_shards(shards: &[&Report], whole: &ShardInfo) -> Result<Report, MergeError> {
    let mut report = shards[0].clone();
    if report.target.kind == TargetKind::Objects {
        objects::join(&mut report, shards, whole)?;
    } else {
        report.waivers = waivers(shards);
        merge_contracts(&mut report, shards, whole)?;
    }
    (report.counts, report.levels) = crate::report::sums(&report.contracts);
    let texts = |of: fn(&Report) -> &Vec<String>| {
        let all: BTreeSet<String> = shards.iter().flat_map(|shard| of(shard)).cloned().collect();
        all.into_iter().collect::<Vec<_>>()
    };
    report.environment_errors = texts(|shard| &shard.environment_errors);
    report.left_behind = texts(|shard| &shard.left_behind);
    report.interrupted = shards.iter().find_map(|shard| shard.interrupted);
    // Shards run in parallel, so the longest duration counts.
    report.run.duration_ms = shards.iter().map(|shard| shard.run.duration_ms).fold(0.0, f64::max);
    report.run.started_at = shards.iter().map(|shard| shard.run.started_at.clone()).min().unwrap_or_default();
    report.run.fail_fast = shards.iter().any(|shard| shard.run.fail_fast);
    report.verdict = concluded(&report);
    report.exit_code = report.exit_code();
    Ok(report)
}

/// Merges the contracts of all shards into the report, which is one of them: each shard has different contracts.
fn merge_contracts(report: &mut Report, shards: &[&Report], whole: &ShardInfo) -> Result<(), MergeError> {
    report.contracts = shards.iter().flat_map(|shard| shard.contracts.clone()).collect();
    report.contracts.sort_by(|one, other| (&one.component, &one.name).cmp(&(&other.component, &other.name)));
    let mut selected = SelectionDigest::default();
    for clause in report.contracts.iter().flat_map(|contract| &contract.clauses) {
        clause.cases.iter().for_each(|case| selected.add(&clause.id, &case.name, &clause.hash));
    }
    let (cases, digest) = (selected.cases(), selected.digest());
    if digest != whole.digest {
        return Err(MergeError::Torn { cases, wanted: whole.cases });
    }
    let selection = report.selection.clone();
    report.selection = SelectionInfo { clauses: whole.clauses, cases, digest, shard: None, ..selection };
    Ok(())
}

/// The state of a waiver is that of the shard with its clause.
fn waivers(shards: &[&Report]) -> Vec<WaiverUse> {
    let became = |at: usize| {
        let all = shards.iter().filter_map(move |shard| shard.waivers.get(at));
        all.clone().find(|used| used.state != WaiverState::Unused).or_else(|| all.clone().next()).cloned()
    };
    (0..shards[0].waivers.len()).filter_map(became).collect()
}

fn concluded(report: &Report) -> Verdict {
    let contracts: &[ContractResult] = &report.contracts;
    Verdict::concluded(contracts, &report.environment_errors, report.interrupted)
}

fn missing(shards: &[Shard]) -> String {
    let named: Vec<String> = shards.iter().map(ToString::to_string).collect();
    let (word, verb) = if shards.len() == 1 { ("shard", "is") } else { ("shards", "are") };
    format!("{word} {} {verb} missing", named.join(", "))
}
