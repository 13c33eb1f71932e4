//! Defaults of a Seed.

use serde_json::{Value, json};
use webhook::object::{self, WrongType};

const SETTINGS: [&str; 2] = ["spec", "settings"];

/// Settings of a Seed and its family of IP addresses: GDN-SED-001 to -004. Then the names of the dependency watchdog's
/// parts: GDN-SED-005.
pub(super) fn default(seed: &mut Value) -> Result<(), WrongType> {
    excess_capacity(seed)?;
    let settings = [
        ("scheduling", json!({"visible": true})),
        ("verticalPodAutoscaler", json!({"enabled": true})),
        ("dependencyWatchdog", json!({})),
        ("topologyAwareRouting", json!({"enabled": false})),
    ];
    for (name, value) in settings {
        let path = [SETTINGS[0], SETTINGS[1], name];
        if object::map(seed, &path)?.is_none() {
            object::set(seed, &path, value)?;
        }
    }
    let families = ["spec", "networks", "ipFamilies"];
    if object::list(seed, &families)?.is_empty() {
        object::set(seed, &families, json!(["IPv4"]))?;
    }
    watchdog(seed, "weeder", "endpoint")?;
    watchdog(seed, "prober", "probe")
}

/// Capacity is reserved unless the Seed says otherwise.
fn excess_capacity(seed: &mut Value) -> Result<(), WrongType> {
    let path = |name| [SETTINGS[0], SETTINGS[1], "excessCapacityReservation", name];
    let is_enabled = object::boolean(seed, &path("enabled"))?.unwrap_or(true);
    if is_enabled && object::list(seed, &path("configs"))?.is_empty() {
        object::set(seed, &path("configs"), json!([{"resources": {"cpu": "2", "memory": "6Gi"}}]))?;
    }
    Ok(())
}

/// Each part of the watchdog has two names; the value of the new one counts.
fn watchdog(seed: &mut Value, new: &str, old: &str) -> Result<(), WrongType> {
    let part = |name| [SETTINGS[0], SETTINGS[1], "dependencyWatchdog", name];
    let enabled = |name| [SETTINGS[0], SETTINGS[1], "dependencyWatchdog", name, "enabled"];
    let named = [new, old].into_iter();
    let mut said = None;
    for name in named {
        if said.is_none() && object::map(seed, &part(name))?.is_some() {
            said = Some(object::boolean(seed, &enabled(name))?.unwrap_or_default());
        }
    }
    for name in [new, old] {
        if object::boolean(seed, &enabled(name))? != Some(said.unwrap_or(true)) {
            object::set(seed, &enabled(name), said.unwrap_or(true))?;
        }
    }
    Ok(())
}
