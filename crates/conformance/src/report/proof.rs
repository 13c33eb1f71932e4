//! Whether a clause is proven able to fail.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A damage, for example one that the clause did not notice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Survivor {
    /// Case whose answer was damaged.
    pub case: String,
    /// `nothing`, `flip`, `leaf`, `drop`, `swap`; of scenarios also `extra`.
    pub damage: String,
    /// Human-readable description.
    pub text: String,
}

/// Whether a clause is proven able to fail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    /// Each assertion has an applicable damage, and each applicable damage was caught.
    pub proven: bool,
    /// Damages that were caught, by kind.
    pub caught: BTreeMap<String, usize>,
    /// The caught damages one by one; only `prove` keeps them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noticed: Vec<Survivor>,
    /// Damages that were not caught.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<Survivor>,
    /// Assertions to which no damage applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undamaged: Vec<String>,
}

impl Proof {
    /// Adds a damage.
    pub fn note(&mut self, damage: Survivor, caught: bool) {
        if caught {
            *self.caught.entry(damage.damage.clone()).or_default() += 1;
            self.noticed.push(damage);
        } else {
            self.survivors.push(damage);
        }
    }

    /// Combines two proofs: proven if both are.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.proven &= other.proven;
        for (kind, count) in other.caught {
            *self.caught.entry(kind).or_default() += count;
        }
        self.noticed.extend(other.noticed);
        self.survivors.extend(other.survivors);
        self.undamaged.extend(other.undamaged);
        self
    }
}
