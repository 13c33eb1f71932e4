//! Defaults of a ManagedSeedSet.

use serde_json::Value;
use webhook::object::{self, WrongType};

use super::managed_seed_defaults;
use super::shoot_defaults::if_absent;

/// Numbers and strategy, and the Deployment of a gardenlet that has one: GDN-MDS-001 to -004. Nothing else of the templates
/// gets defaults: what is made of them has its own.
pub(super) fn default(set: &mut Value) -> Result<(), WrongType> {
    const GARDENLET: [&str; 4] = ["spec", "template", "spec", "gardenlet"];
    if_absent(set, &["spec", "replicas"], 1)?;
    if_absent(set, &["spec", "revisionHistoryLimit"], 10)?;
    if object::map(set, &GARDENLET)?.is_some() {
        let gardenlet = object::map_mut(set, &GARDENLET)?;
        managed_seed_defaults::named(gardenlet)?;
        if let Some(deployment) = gardenlet.get_mut("deployment").filter(|value| !value.is_null()) {
            managed_seed_defaults::deployment(deployment)?;
        }
    }
    if_absent(set, &["spec", "updateStrategy", "type"], "RollingUpdate")?;
    if object::map(set, &["spec", "updateStrategy", "rollingUpdate"])?.is_some() {
        if_absent(set, &["spec", "updateStrategy", "rollingUpdate", "partition"], 0)?;
    }
    Ok(())
}
