//! A CloudProfile that only one case's Shoot mentions.

use contract::case::Case;
use serde_json::{Value, json};

use crate::place::names::mentions;

/// The name of the CloudProfile of a case about a Shoot, if only that Shoot mentions it: then the profile is renamed, so that
/// others do not see it.
pub(crate) fn name(case: &Case) -> Option<&str> {
    let subject = case.given.object.as_ref()?;
    let profile = case.given.cluster.iter().find(|fact| fact["kind"] == "CloudProfile")?;
    let name = profile["metadata"]["name"].as_str()?;
    let is_asserted = case.when.decision().is_none() && mentions(&format!("{:?}", case.then), name);
    (subject["kind"] == "Shoot" && !is_asserted).then_some(name)
}

/// Whether an object is that profile.
pub(crate) fn is_own(case: &Case, fact: &Value) -> bool {
    fact["kind"] == "CloudProfile" && fact["metadata"]["name"].as_str() == name(case)
}

/// Renames a CloudProfile, in itself and in a Shoot.
pub(crate) fn rename(object: &mut Value, old: &str, new: &str) {
    let place = match object["kind"].as_str() {
        Some("CloudProfile") => "/metadata/name",
        Some("Shoot") => "/spec/cloudProfileName",
        _ => return,
    };
    if let Some(reference) = object.pointer_mut(place).filter(|reference| *reference == old) {
        *reference = json!(new);
    }
}
