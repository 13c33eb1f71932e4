//! Whether a Shoot tolerates the taints of a Seed.

use api::garden::reference::Toleration;
use api::garden::seed::SeedTaint;

/// Whether each taint has a toleration of its key, and of its value if it has one; there must not be more taints than
/// tolerations. Of several tolerations of a key the last counts. SCH-TNT-001.
pub(super) fn are_tolerated(taints: &[SeedTaint], tolerations: &[Toleration]) -> bool {
    let is_tolerated = |taint: &SeedTaint| {
        let toleration = tolerations.iter().rev().find(|toleration| toleration.key == taint.key);
        toleration.is_some_and(|toleration| {
            let value = toleration.value.as_deref().unwrap_or_default();
            taint.value.as_deref().is_none_or(|wanted| wanted == value)
        })
    };
    taints.len() <= tolerations.len() && taints.iter().all(is_tolerated)
}
