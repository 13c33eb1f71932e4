//! What the language knows of Gardener: decisions about versions, releases and providers.

pub mod decision;
mod provider;
pub mod release;

/// The group of the kinds of a garden: Shoots, CloudProfiles, Seeds.
pub(crate) const GARDEN_GROUP: &str = "core.gardener.cloud";
