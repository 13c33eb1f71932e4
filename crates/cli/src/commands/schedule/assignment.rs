//! Assigns the Shoots of a landscape to Seeds, one after the other, in the order of their creation.

use api::garden::Shoot;
use gardener_scheduler::decision::{Usage, is_responsible};
use serde_json::{Value, json};

use super::landscape::{Key, Landscape, shoot_name};

/// Which Shoots are assigned; the others stay on their Seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All for which the scheduler is responsible.
    All,
    /// Those of them without a Seed, or whose Seed is not there.
    WithoutSeed,
}

/// A reason with the clause that demands it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClauseReason {
    pub(super) text: String,
    pub(super) clause: &'static str,
}

impl std::fmt::Display for ClauseReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.text, self.clause)
    }
}

/// A Shoot, the Seed that it had, and the Seed that it gets.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub(super) name: String,
    /// `spec.seedName`.
    pub(super) from: Option<String>,
    /// The new Seed, or why the scheduler finds none.
    pub(super) to: Result<String, ClauseReason>,
    /// Why the Shoot does not stay on its Seed, if that Seed is there.
    pub(super) leaves: Option<ClauseReason>,
}

impl Assignment {
    /// Whether the Shoot stays on its Seed.
    pub(super) fn stays(&self) -> bool {
        self.to.as_ref().is_ok_and(|to| Some(to) == self.from.as_ref())
    }

    /// As JSON.
    pub(super) fn to_json(&self) -> Value {
        let reason = |reason: &ClauseReason| json!({"reason": reason.text, "clause": reason.clause});
        json!({
            "name": self.name, "from": self.from, "to": self.to.as_ref().ok(),
            "unschedulable": self.to.as_ref().err().map(reason), "leaves": self.leaves.as_ref().map(reason),
        })
    }
}

/// The result for all Shoots.
#[derive(Debug)]
pub(super) struct Assignments {
    /// The assigned Shoots, in their order.
    pub(super) shoots: Vec<Assignment>,
    /// How many Shoots each Seed had.
    pub(super) before: Usage,
    /// How many it has.
    pub(super) after: Usage,
    /// Shoots that stay because they are being deleted, or because another scheduler is responsible.
    pub(super) left_alone: Vec<String>,
}

/// Assigns the Shoots.
pub(super) fn assign(landscape: &Landscape, scope: Scope) -> Assignments {
    let (mut before, mut after) = (Usage::default(), Usage::default());
    let (mut due, mut left_alone) = (Vec::new(), Vec::new());
    for (key, shoot) in &landscape.shoots {
        observe(&mut before, key, shoot);
        if shoot.metadata.deletion_timestamp.is_some() || !is_responsible(shoot) {
            left_alone.push(shoot_name(key));
        } else if scope == Scope::All || !seed_of(shoot).is_some_and(|seed| landscape.has_seed(seed)) {
            due.push((key, shoot));
            continue;
        }
        observe(&mut after, key, shoot);
    }
    due.sort_by_key(|(key, shoot)| (shoot.metadata.creation_timestamp.as_ref().map(|time| time.0), *key));
    let mut shoots = Vec::with_capacity(due.len());
    for (key, shoot) in due {
        let assignment = assign_one(landscape, (key, shoot), &after);
        after.observe((&key.0, &key.1), assignment.to.as_deref().ok(), None);
        shoots.push(assignment);
    }
    Assignments { shoots, before, after, left_alone }
}

fn assign_one(landscape: &Landscape, (key, shoot): (&Key, &Shoot), usage: &Usage) -> Assignment {
    let decision = landscape.decide(shoot, usage);
    let from = seed_of(shoot).map(str::to_owned);
    let leaves = decision.excluded.iter().find(|exclusion| Some(exclusion.seed) == from.as_deref());
    let leaves = leaves.map(|exclusion| ClauseReason {
        text: exclusion.reason.clone().into_owned(),
        clause: exclusion.filter.clause(),
    });
    let to = decision
        .seed
        .map(|seed| seed.metadata.name.clone().unwrap_or_default())
        .map_err(|error| ClauseReason { text: error.to_string(), clause: error.clause() });
    Assignment { name: shoot_name(key), from, to, leaves }
}

/// The Seed of a Shoot's specification.
pub(super) fn seed_of(shoot: &Shoot) -> Option<&str> {
    shoot.spec.seed_name.as_deref().filter(|seed| !seed.is_empty())
}

/// Counts a Shoot where it is.
pub(super) fn observe(usage: &mut Usage, (namespace, name): &Key, shoot: &Shoot) {
    usage.observe((namespace, name), shoot.spec.seed_name.as_deref(), shoot.status.seed_name.as_deref());
}
