//! Attestations: which clauses another implementation kept when it was tested; `attest` writes them.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{API_VERSION, Error, SourceFile};
use crate::index::Summary;

/// An attestation, `kind: Attestation`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Attestation {
    /// `conformance.gardener.cloud/v1alpha1`.
    pub api_version: String,
    /// `Attestation`.
    pub kind: String,
    /// The implementation.
    pub target: Attested,
    /// The observations, by clause id.
    pub clauses: BTreeMap<String, Observation>,
}

/// The implementation, and where it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attested {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where its cases ran.
    pub substrate: String,
    /// The day, `2026-11-21`.
    pub on: String,
}

/// The observation of one clause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// Hash of the clause when it was tested: [`crate::model::Clause::hash`].
    pub hash: String,
    /// Whether it was kept.
    pub result: Seen,
    /// Why it differs, or cannot be attested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Cases that ran in another way than the substrate says: how many, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// Where its cases ran, if not on the target's substrate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub substrate: Option<String>,
}

/// Whether a clause was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Seen {
    /// Every case passed.
    Kept,
    /// A case failed, and the clause's `differs` contains the reason.
    Differs,
    /// It cannot be observed from outside; never counted as attested.
    NotAttestable,
}

impl Attestation {
    /// An empty attestation of a target.
    #[must_use]
    pub fn of(target: Attested) -> Self {
        Self {
            api_version: API_VERSION.to_owned(),
            kind: "Attestation".to_owned(),
            target,
            clauses: BTreeMap::new(),
        }
    }

    /// Adds the observations of `before` for clauses that were not tested now and still exist.
    pub fn keep(&mut self, before: Self, clauses: &[Summary]) {
        let there: BTreeSet<&str> = clauses.iter().map(|clause| clause.id.as_str()).collect();
        let (then, now) = (before.target.substrate, &self.target.substrate);
        for (id, mut seen) in before.clauses.into_iter().filter(|(id, _)| there.contains(id.as_str())) {
            seen.substrate =
                seen.substrate.or_else(|| Some(then.clone())).filter(|substrate| substrate != now);
            self.clauses.entry(id).or_insert(seen);
        }
    }

    /// The clauses that have not changed since they were attested, and were kept or differ for a stated reason.
    pub fn attested<'a>(&'a self, clauses: &'a [Summary]) -> impl Iterator<Item = &'a str> {
        let seen = clauses.iter().filter(|clause| {
            let observation =
                self.clauses.get(&clause.id).filter(|observation| observation.hash == clause.hash);
            observation.is_some_and(|observation| observation.result != Seen::NotAttestable)
        });
        seen.map(|clause| clause.id.as_str())
    }

    /// The clauses that changed since they were attested, or no longer exist.
    #[must_use]
    pub fn stale(&self, clauses: &[Summary]) -> Vec<&str> {
        let clauses: BTreeMap<&str, &str> =
            clauses.iter().map(|clause| (clause.id.as_str(), clause.hash.as_str())).collect();
        let changed =
            self.clauses.iter().filter(|(id, seen)| clauses.get(id.as_str()) != Some(&seen.hash.as_str()));
        changed.map(|(id, _)| id.as_str()).collect()
    }
}

/// Reads an attestation.
///
/// # Errors
/// When it is not YAML, has another kind or unknown fields, or a clause differs without a reason.
pub fn read(file: &SourceFile) -> Result<Attestation, Error> {
    let attestation: Attestation = file.read("Attestation")?;
    let silent =
        attestation.clauses.iter().find(|(_, seen)| seen.result != Seen::Kept && seen.reason.is_none());
    if let Some((id, _)) = silent {
        let message = format!("{id} is not kept and gives no reason");
        return Err(file.error(super::first(), 0, message, Some("add `reason: …` to the clause".to_owned())));
    }
    Ok(attestation)
}
