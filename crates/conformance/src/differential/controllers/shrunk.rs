//! Playing ever smaller worlds, as long as they differ at the same place without explanation.

use serde_json::Value;

use super::{Found, Pair, side_by_side, smaller, world};

/// So many smaller worlds are played; in real time each takes seconds.
const TRIES: usize = 200;
const REAL_TRIES: usize = 40;

impl Pair<'_> {
    /// The differences that nothing explains of the smallest world that still has one at the place; none where no smaller
    /// world has.
    pub(super) fn shrunk(&self, world: Value, group: &str) -> Vec<Found> {
        let is_outside = self.a.is_outside() || self.b.is_outside();
        let most = self.tries.unwrap_or(if is_outside { REAL_TRIES } else { TRIES });
        let (mut kept, mut shown) = (world, Vec::new());
        let (mut next, mut tries, mut is_changed) = (0, 0, false);
        while tries < most && self.interrupt.raised().is_none() {
            let mut candidates = smaller::smaller(&kept);
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
            let found = side_by_side(batch, self.parallel, |_, candidate| self.differs(candidate, group));
            match found.into_iter().enumerate().find_map(|(at, found)| Some((at, found?))) {
                Some((at, found)) => {
                    (kept, shown, is_changed) = (batch[at].clone(), found, true);
                    next += at;
                }
                None => next += batch.len(),
            }
        }
        shown
    }

    /// The differences of a world that nothing explains, if one is at the place. A world that cannot be played has none.
    fn differs(&self, world: &Value, group: &str) -> Option<Vec<Found>> {
        let (_, mut found) = self.compared(world, "a smaller world").ok()?;
        found.retain(|found| found.explanation.is_none());
        found.iter().any(|found| found.difference.group() == group).then_some(found)
    }
}
