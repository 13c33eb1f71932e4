//! What the language knows of Gardener: decisions about versions, releases, their versions of Kubernetes, admission plugins,
//! providers and namespaces of control planes.

pub mod decision;
pub mod kubernetes;
pub mod plugins;
mod provider;
pub mod release;
mod surroundings;

/// The group of the kinds of a garden: Shoots, CloudProfiles, Seeds.
pub(crate) const GARDEN_GROUP: &str = "core.gardener.cloud";
