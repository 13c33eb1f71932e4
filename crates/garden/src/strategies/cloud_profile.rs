//! CloudProfiles.

use api::garden::Shoot;
use jiff::Timestamp;
use schema::TypedKindDetails;
use serde_json::Value;
use webhook::object::{self, WrongType};
use webhook::rejection::Rejection;
use webhook::strategy::{Situation, Strategy};

use super::columns::{AGE, NAME, column, text};
use super::{CORE, GardenKind};
use crate::webhooks::{cloud_profile, reading};

pub(super) static KIND: GardenKind = GardenKind {
    crd: "cloudprofiles.core.gardener.cloud",
    details: TypedKindDetails {
        merged_lists: &[
            ("spec.kubernetes.versions", "version"),
            ("spec.machineImages", "name"),
            ("spec.machineImages[].versions", "version"),
            ("spec.machineTypes", "name"),
            ("spec.regions", "name"),
            ("spec.regions[].zones", "name"),
            ("spec.volumeTypes", "name"),
        ],
        ..CORE
    },
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    default: cloud_profile::mutate,
    prepare_new: |situation, profile| Ok(drop_expired(profile, situation.now)?),
    validate,
    allows_unconditional_update: true,
    columns: &[NAME, column("Provider", |profile, _| text(profile, "/spec/type")), AGE],
    ..Strategy::PLAIN
};

fn validate(situation: &Situation<'_>, old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let removes = match old {
        // The plugin ResourceReferenceManager looks at the Shoots that use the profile.
        _ if situation.has_plugins => false,
        Some(old) => !cloud_profile::removed(old, new)?.is_empty(),
        None => false,
    };
    let users = if removes { users(situation, new)? } else { Vec::new() };
    cloud_profile::validate(old, new, &users, situation.now)
}

/// The Shoots that use a profile and are not being deleted.
fn users(situation: &Situation<'_>, profile: &Value) -> Result<Vec<Shoot>, Rejection> {
    let name = object::text(profile, &["metadata", "name"])?;
    let shoots = situation.objects.list("shoots.core.gardener.cloud");
    let uses = |shoot: &&Value| {
        shoot["spec"]["cloudProfileName"] == name && shoot["metadata"].get("deletionTimestamp").is_none()
    };
    shoots.iter().filter(uses).map(|shoot| reading::read("Shoot", shoot)).collect()
}

/// A new profile loses the versions of Kubernetes and of machine images that expired before.
fn drop_expired(profile: &mut Value, now: Timestamp) -> Result<(), WrongType> {
    let versions = ["spec", "kubernetes", "versions"];
    if object::get(profile, &versions)?.is_some() {
        object::list_mut(profile, &versions)?.retain(|version| !has_expired(version, now));
    }
    let images = ["spec", "machineImages"];
    if object::get(profile, &images)?.is_some() {
        for image in object::list_mut(profile, &images)? {
            if object::get(image, &["versions"])?.is_some() {
                object::list_mut(image, &["versions"])?.retain(|version| !has_expired(version, now));
            }
        }
    }
    Ok(())
}

fn has_expired(version: &Value, now: Timestamp) -> bool {
    let date = version["expirationDate"].as_str().and_then(|date| date.parse::<Timestamp>().ok());
    date.is_some_and(|date| date < now)
}
