//! How many Shoots each Seed has before and after a simulation.

use std::sync::Arc;

use api::garden::Seed;

use super::assignment::Assignments;
use super::landscape::Landscape;

/// A Seed, and how many Shoots it has.
#[derive(Debug, serde::Serialize)]
pub(super) struct SeedRow {
    pub(super) name: String,
    pub(super) before: usize,
    pub(super) after: usize,
    /// How many Shoots it can have; `None` for no limit.
    pub(super) allocatable: Option<String>,
}

/// A row for each Seed, in the order of the landscape.
pub(super) fn all(landscape: &Landscape, assignments: &Assignments) -> Vec<SeedRow> {
    let row = |seed: &Arc<Seed>| {
        let name = seed.metadata.name.clone().unwrap_or_default();
        let allocatable = seed.status.allocatable.get("shoots").map(|quantity| quantity.0.clone());
        SeedRow {
            before: assignments.before.of(&name),
            after: assignments.after.of(&name),
            name,
            allocatable,
        }
    };
    landscape.seeds.iter().map(row).collect()
}
