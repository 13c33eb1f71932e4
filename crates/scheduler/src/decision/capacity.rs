//! Whether a Seed has capacity for one more Shoot.

use api::garden::Seed;
use formats::quantity::Quantity;

use super::{Usage, name};

/// The resource of a Seed that is counted in Shoots.
const SHOOTS: &str = "shoots";
const NANOS: i128 = 1_000_000_000;

/// Whether the Seed has fewer Shoots than are allocatable; without a limit it always has capacity. Fractions count as
/// a whole Shoot, and what is no quantity as none. SCH-CAP-001, SCH-CAP-002.
pub(super) fn is_free(seed: &Seed, usage: &Usage) -> bool {
    let Some(allocatable) = seed.status.allocatable.get(SHOOTS) else { return true };
    let nanos = Quantity::parse(&allocatable.0).map_or(Some(0), |quantity| quantity.nanos());
    // What does not fit is more Shoots than there can be.
    let used = i128::try_from(usage.of(name(seed))).unwrap_or(i128::MAX);
    nanos.is_none_or(|nanos| used < nanos.saturating_add(NANOS - 1).div_euclid(NANOS))
}
