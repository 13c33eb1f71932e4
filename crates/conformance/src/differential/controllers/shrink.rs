//! Shrinks worlds, as long as they have an unexplained difference at the same place.

use serde_json::Value;

use super::{ControllerPair, WorldDifference, smaller, world};
use crate::parallel::in_parallel;

/// Maximum number of smaller worlds that are tried; in real time each takes seconds.
const TRIES: usize = 200;
const REAL_TRIES: usize = 40;

impl ControllerPair<'_> {
    /// The unexplained differences of the smallest world that still has one at the place; empty if no smaller world has one.
    pub(super) fn shrink(&self, world: Value, group: &str) -> Vec<WorldDifference> {
        let is_outside = self.a.is_outside() || self.b.is_outside();
        let most = self.tries.unwrap_or(if is_outside { REAL_TRIES } else { TRIES });
        let (mut smallest, mut differences) = (world, Vec::new());
        let (mut next, mut tries, mut is_changed) = (0, 0, false);
        while tries < most && self.interrupt.raised().is_none() {
            let mut candidates = smaller::smaller(&smallest);
            candidates.retain(|candidate| world::scenario(candidate).is_ok());
            let batch = candidates.get(next..).unwrap_or_default();
            let batch = &batch[..batch.len().min(self.parallel)];
            if batch.is_empty() {
                if !is_changed {
                    break;
                }
                (next, is_changed) = (0, false);
                continue;
            }
            tries += batch.len();
            let found = in_parallel(batch, self.parallel, |_, candidate| self.differs(candidate, group));
            match found.into_iter().enumerate().find_map(|(at, found)| Some((at, found?))) {
                Some((at, found)) => {
                    (smallest, differences, is_changed) = (batch[at].clone(), found, true);
                    next += at;
                }
                None => next += batch.len(),
            }
        }
        differences
    }

    /// The unexplained differences of a world, if one is at the place. A world that cannot run has none.
    fn differs(&self, world: &Value, group: &str) -> Option<Vec<WorldDifference>> {
        let (_, mut found) = self.compare(world, "a smaller world").ok()?;
        found.retain(|found| found.explanation.is_none());
        found.iter().any(|found| found.difference.group() == group).then_some(found)
    }
}
