//! Which ControllerRegistrations a Seed needs.

use std::collections::{BTreeMap, BTreeSet};

use api::garden::{ControllerInstallation, ControllerRegistration};
use formats::selector::LabelSelector;
use kube::ResourceExt as _;
use serde_json::json;

use super::State;
use super::required::Ids;
use super::triggers::is_required;

/// Why it is unknown what a Seed needs.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum WantedError {
    /// Nothing is registered for a kind and type.
    #[error(
        "need to install an extension controller for {0:?} but no appropriate ControllerRegistration found"
    )]
    Nobody(String),
    /// An installation is required whose registration does not exist.
    #[error("ControllerRegistration with name {0} not found")]
    Required(String),
    /// An installation has no registration.
    #[error("ControllerRegistration {0:?} does not exist")]
    Registration(String),
    /// The selector of Seeds is invalid.
    #[error("label selector conversion failed for seedSelector of ControllerRegistration {name:?}: {reason}")]
    Selector {
        /// The ControllerRegistration.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

/// The names of the registrations that a Seed with these needs shall have. GCM-CRS-050 to -059.
pub(super) fn names(state: &State, ids: &Ids) -> Result<BTreeSet<String>, WantedError> {
    let mut names: BTreeSet<String> = by_policy(state).collect();
    let by_id = registered(state);
    for id in ids {
        let registered = by_id.get(id).ok_or_else(|| WantedError::Nobody(id.clone()))?;
        names.extend(registered.iter().cloned());
    }
    names.extend(installations(state).filter(|installation| is_required(installation)).map(registration));
    let mut matching = BTreeSet::new();
    for name in names {
        let found = state.registrations.get(&name);
        let registration = found.ok_or_else(|| WantedError::Required(name.clone()))?;
        if selects(registration, state)? {
            matching.insert(name);
        }
    }
    Ok(matching)
}

/// The installations of the Seed, by their registrations: of several the last counts.
pub(super) fn installed(state: &State) -> Result<BTreeMap<String, &ControllerInstallation>, WantedError> {
    let mut installed = BTreeMap::new();
    for installation in installations(state) {
        let name = registration(installation);
        if !state.registrations.contains_key(&name) {
            return Err(WantedError::Registration(name));
        }
        installed.insert(name, installation);
    }
    Ok(installed)
}

/// Registrations that are deployed whatever is required.
fn by_policy(state: &State) -> impl Iterator<Item = String> {
    let is_live = state.seed.metadata.deletion_timestamp.is_none();
    let has_shoots = !state.shoots.is_empty();
    let wanted = state.registrations.iter().filter(move |(_, registration)| {
        let policy =
            registration.spec.deployment.as_ref().and_then(|deployment| deployment.policy.as_deref());
        registration.metadata.deletion_timestamp.is_none()
            && match policy {
                Some("Always") => is_live,
                Some("AlwaysExceptNoShoots") => has_shoots,
                _ => false,
            }
    });
    wanted.map(|(name, _)| name.clone())
}

/// All registrations of each kind and type.
fn registered(state: &State) -> BTreeMap<String, Vec<String>> {
    let mut by_id: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, registration) in &state.registrations {
        for resource in &registration.spec.resources {
            by_id.entry(format!("{}/{}", resource.kind, resource.type_)).or_default().push(name.clone());
        }
    }
    by_id
}

fn installations(state: &State) -> impl Iterator<Item = &ControllerInstallation> {
    let seed = state.seed.name_any();
    let installations = state.installations.iter();
    installations.filter(move |installation| installation.spec.seed_ref.name.as_deref() == Some(&*seed))
}

fn registration(installation: &ControllerInstallation) -> String {
    installation.spec.registration_ref.name.clone().unwrap_or_default()
}

/// Whether a registration may be installed in the Seed.
fn selects(registration: &ControllerRegistration, state: &State) -> Result<bool, WantedError> {
    let selector =
        registration.spec.deployment.as_ref().and_then(|deployment| deployment.seed_selector.as_ref());
    let Some(selector) = selector else { return Ok(true) };
    let refused = |reason: String| WantedError::Selector { name: registration.name_any(), reason };
    let selector: LabelSelector =
        serde_json::from_value(json!(selector)).map_err(|error| refused(error.to_string()))?;
    if let Some(violation) = selector.validate().into_iter().next() {
        return Err(refused(format!("{}: {}", violation.field, violation.message)));
    }
    Ok(selector.matches(state.seed.labels()))
}
