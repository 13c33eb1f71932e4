//! Shoots for testing: any Seed of their provider.

use std::borrow::Cow;

use api::garden::{Seed, Shoot};

/// Why a Shoot for testing does not go to this Seed. SCH-STR-001.
pub(super) fn reason(seed: &Seed, shoot: &Shoot) -> Option<Cow<'static, str>> {
    let type_ = &seed.spec.provider.type_;
    (*type_ != shoot.spec.provider.type_).then(|| Cow::Owned(format!("its provider is {type_}")))
}
