//! Waivers: clauses that a target may break for a limited time, each with an owner, a reason and an expiry date.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Error, SourceFile};

/// A waiver file, `kind: Waivers`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WaiverFile {
    /// `conformance.gardener.cloud/v1alpha1`.
    pub api_version: String,
    /// `Waivers`.
    pub kind: String,
    /// The waivers.
    pub waivers: Vec<Waiver>,
}

/// One waiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// The clause, or a law by its name, such as `idempotent`.
    pub clause: String,
    /// Name of the target; absent: any target.
    #[serde(default)]
    pub target: Option<String>,
    /// Who is responsible.
    pub owner: String,
    /// Why.
    pub reason: String,
    /// Where it is tracked.
    #[serde(default)]
    pub link: Option<String>,
    /// The last day it holds, `2027-03-31`.
    #[schemars(with = "String")]
    pub expires: Date,
}

impl Waiver {
    /// Whether it waives this clause for this target.
    #[must_use]
    pub fn covers(&self, clause: &str, target: &str) -> bool {
        self.clause == clause && self.target.as_deref().is_none_or(|name| name == target)
    }

    /// Whether its last day is before `today`.
    #[must_use]
    pub fn is_expired(&self, today: Date) -> bool {
        self.expires < today
    }
}

/// Reads a waiver file.
///
/// # Errors
/// When it is not YAML, has another kind, lacks an owner, a reason or an expiry date, or waives a clause twice for
/// one target.
pub fn read(file: &SourceFile) -> Result<Vec<Waiver>, Error> {
    let read: WaiverFile = file.read("Waivers")?;
    for (position, waiver) in read.waivers.iter().enumerate() {
        let twice = read.waivers[..position]
            .iter()
            .any(|other| other.clause == waiver.clause && other.target == waiver.target);
        if twice {
            let message = format!("{} is waived twice for the same target", waiver.clause);
            return Err(file.error(
                super::first(),
                0,
                message,
                Some("remove one of the two waivers".to_owned()),
            ));
        }
    }
    Ok(read.waivers)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Waivers\nwaivers:\n";

    #[test]
    fn a_waiver_holds_through_its_last_day() {
        let text = format!("{HEAD}- {{clause: A-1, target: x, owner: o, reason: r, expires: 2027-03-31}}\n");
        let waiver = read(&SourceFile::new("waivers.yaml", text)).unwrap().remove(0);
        let days = [("2027-03-31", false), ("2027-04-01", true)];
        for (day, expired) in days {
            assert_eq!(waiver.is_expired(day.parse().unwrap()), expired, "{day}");
        }
        let covered = [("A-1", "x", true), ("A-1", "y", false), ("A-2", "x", false)];
        for (clause, target, covers) in covered {
            assert_eq!(waiver.covers(clause, target), covers, "{clause} {target}");
        }
    }

    #[test]
    fn a_waiver_without_an_owner_is_refused_at_its_line() {
        let text = format!("{HEAD}- {{clause: A-1, reason: r, expires: 2027-03-31}}\n");
        let error = read(&SourceFile::new("waivers.yaml", text)).unwrap_err();
        assert_eq!((error.location.line, error.message.contains("owner")), (4, true), "{error}");
    }
}
