//! The strategy `SameRegion`: Seeds of the Shoot's provider and region.

use std::borrow::Cow;

use api::garden::{Seed, Shoot};

use super::same_provider;

/// Why the Seed is not in the Shoot's region of its provider. SCH-STR-002.
pub(super) fn reason(seed: &Seed, shoot: &Shoot) -> Option<Cow<'static, str>> {
    same_provider::reason(seed, shoot).or_else(|| {
        let region = &seed.spec.provider.region;
        (*region != shoot.spec.region).then(|| Cow::Owned(format!("its region is {region}")))
    })
}
