//! Which Seed a Shoot may be given, by whom it is changed, and what may not change while a Shoot moves to another Seed. Who may
//! bind a Shoot is not asked here, because a strategy does not know the user.

use std::collections::BTreeMap;

use api::garden::condition::LastOperation;
use api::garden::{CloudProfile, Seed, Shoot};
use api::gardener::CONFIRMATION_DELETION;
use formats::quantity::Quantity;
use formats::selector::LabelSelector;
use serde_json::{Map, Value, json};
use webhook::rejection::Rejection;
use webhook::strategy::Situation;

use crate::webhooks::reading;

const KIND: &str = "Shoot";
const SHOOTS: &str = "shoots.core.gardener.cloud";
const LEAST_ZONES: usize = 3;

/// Checks a new or changed Shoot, on its own or through the subresource `binding`, in the original's order.
pub(super) fn check(situation: &Situation<'_>, old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let shoot: Shoot = reading::read(KIND, new)?;
    let before: Option<Shoot> = old.map(|old| reading::read(KIND, old)).transpose()?;
    let is_update = before.is_some();
    let before = before.unwrap_or_default();
    let (from, to) = (before.spec.seed_name.as_ref(), shoot.spec.seed_name.as_ref());
    if is_update {
        changed_by(situation.subresource == "binding", &before, &shoot)?;
    }
    let seed = to.and_then(|name| situation.objects.get("seeds.core.gardener.cloud", "", name));
    let seed: Option<Seed> = seed.map(|seed| reading::read("Seed", &seed)).transpose()?;
    if let (Some(to), true) = (to, from != to) {
        let missing = || Rejection::forbidden(format!("seed.core.gardener.cloud {to:?} not found"));
        accepts(situation, &shoot, seed.as_ref().ok_or_else(missing)?)?;
    }
    match (from.filter(|_| to.is_some() && from != to), &seed) {
        (Some(from), Some(seed)) => can_move(situation, from, seed)?,
        _ => stays(&before, &shoot)?,
    }
    seed.map_or(Ok(()), |seed| fits(&before, &shoot, &seed))
}

/// The Seed is changed through `binding` alone, which changes it, and nothing else if there was one.
fn changed_by(binding: bool, old: &Shoot, new: &Shoot) -> Result<(), Rejection> {
    let (from, to) = (&old.spec.seed_name, &new.spec.seed_name);
    if !binding {
        let why = "spec.seedName cannot be changed by patching the shoot, please use the shoots/binding subresource";
        return if from == to { Ok(()) } else { Err(Rejection::forbidden(why)) };
    }
    if from == to {
        // The original's error is none of an API, so that it is the server's.
        return Err(Rejection::errored(
            500,
            "update of binding rejected, shoot is already assigned to the same seed",
        ));
    }
    if to.is_none() {
        return Err(Rejection::forbidden("spec.seedName cannot be set to nil"));
    }
    let mut moved = old.spec.clone();
    moved.seed_name.clone_from(to);
    if from.is_some() && moved != new.spec {
        let why = "only spec.seedName can be changed using the binding subresource when the shoot is being rescheduled \
                   to a new seed";
        return Err(Rejection::forbidden(why));
    }
    Ok(())
}

/// Whether a Seed takes another Shoot.
fn accepts(situation: &Situation<'_>, shoot: &Shoot, seed: &Seed) -> Result<(), Rejection> {
    let (name, seed_name) = (name(shoot), seed.metadata.name.as_deref().unwrap_or_default());
    let refused = |why: &str| {
        Err(Rejection::forbidden(format!("cannot schedule shoot '{name}' on seed '{seed_name}' {why}")))
    };
    if seed.metadata.deletion_timestamp.is_some() {
        return refused("that is already marked for deletion");
    }
    if !are_tolerated(seed, shoot) {
        let why = "forbidden to use a seed whose taints are not tolerated by the shoot";
        return Err(Rejection::forbidden(why));
    }
    if let Some(most) = capacity(seed)
        && used(situation, seed_name) >= most
    {
        return refused(&format!("that already has the maximum number of shoots scheduled on it ({most})"));
    }
    let profile_name = &shoot.spec.cloud_profile_name;
    let Some(profile) = situation.objects.get("cloudprofiles.core.gardener.cloud", "", profile_name) else {
        return Ok(());
    };
    let profile: CloudProfile = reading::read("CloudProfile", &profile)?;
    let Some(selector) = profile.spec.seed_selector else { return Ok(()) };
    let of = format!("seed selector of cloud profile '{profile_name}' is");
    let labels =
        json!({"matchLabels": selector.match_labels, "matchExpressions": selector.match_expressions});
    let selected: LabelSelector = serde_json::from_value(labels).map_err(|error| {
        let message = format!("Internal error occurred: label selector conversion failed: {error}");
        Rejection::status(500, "InternalError", message, Map::new())
    })?;
    let empty = BTreeMap::new();
    if !selected.matches(seed.metadata.labels.as_ref().unwrap_or(&empty)) {
        return refused(&format!("because the {of} not matching the labels of the seed"));
    }
    let types = &selector.provider_types;
    let is_any = |kind: &String| *kind == seed.spec.provider.type_ || kind == "*";
    if !types.is_empty() && !types.iter().any(is_any) {
        let why = "matching the provider type of the seed";
        return refused(&format!("because none of the provider types in the {of} {why}"));
    }
    Ok(())
}

/// A Seed whose taints are more than a Shoot's tolerations is not tolerated.
fn are_tolerated(seed: &Seed, shoot: &Shoot) -> bool {
    let (taints, tolerations) = (&seed.spec.taints, &shoot.spec.tolerations);
    let values: BTreeMap<&str, &str> = tolerations
        .iter()
        .map(|toleration| (toleration.key.as_str(), toleration.value.as_deref().unwrap_or_default()))
        .collect();
    taints.len() <= tolerations.len()
        && taints.iter().all(|taint| {
            let tolerated = values.get(taint.key.as_str());
            tolerated.is_some_and(|value| taint.value.as_ref().is_none_or(|taint| taint == value))
        })
}

/// How many Shoots a Seed can have.
fn capacity(seed: &Seed) -> Option<i64> {
    let quantity = Quantity::parse(&seed.status.allocatable.get("shoots")?.0).ok()?;
    i64::try_from(quantity.nanos()? / 1_000_000_000).ok()
}

/// How many Shoots a Seed has: those that are to be there, and those that still are.
fn used(situation: &Situation<'_>, seed: &str) -> i64 {
    let is_there = |shoot: &Value| shoot["spec"]["seedName"] == seed || shoot["status"]["seedName"] == seed;
    let count = situation.objects.list(SHOOTS).iter().filter(|shoot| is_there(shoot)).count();
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A Shoot moves between Seeds with backups of one provider.
fn can_move(situation: &Situation<'_>, from: &str, to: &Seed) -> Result<(), Rejection> {
    let Some(old) = situation.objects.get("seeds.core.gardener.cloud", "", from) else {
        let message = format!(
            "Internal error occurred: could not find referenced seed: seed.core.gardener.cloud {from:?} not found"
        );
        return Err(Rejection::status(500, "InternalError", message, Map::new()));
    };
    let old: Seed = reading::read("Seed", &old)?;
    let new_name = to.metadata.name.as_deref().unwrap_or_default();
    let unbacked = [("old ", from, &old), ("", new_name, to)]
        .into_iter()
        .find(|(_, _, seed)| seed.spec.backup.is_none());
    if let Some((which, name, _)) = unbacked {
        let why =
            format!("cannot change seed name because backup is not configured for {which}seed {name:?}");
        return Err(Rejection::forbidden(why));
    }
    let (new_type, old_type) = (&to.spec.provider.type_, &old.spec.provider.type_);
    if new_type == old_type {
        return Ok(());
    }
    Err(Rejection::forbidden(format!(
        "cannot change seed because cloud provider for new seed ({new_type}) is not equal to cloud provider for old seed \
         ({old_type})"
    )))
}

/// The spec of a Shoot on its way stays; the status is that of the request.
fn stays(old: &Shoot, new: &Shoot) -> Result<(), Rejection> {
    let Some(LastOperation { type_, state, .. }) = &new.status.last_operation else { return Ok(()) };
    if old.spec == new.spec {
        return Ok(());
    }
    let (wanted, current) = (&new.spec.seed_name, &new.status.seed_name);
    if type_ != "Migrate" && wanted.is_some() && current.is_some() && wanted != current {
        let why = "shoot spec cannot be changed because shoot has been rescheduled to a new seed";
        return Err(Rejection::forbidden(why));
    }
    if type_ == "Migrate" || (type_ == "Restore" && state != "Succeeded") {
        let why = format!("cannot change shoot spec during {type_} operation that is in state {state}");
        return Err(Rejection::forbidden(why));
    }
    Ok(())
}

/// The Seed has enough zones; on one that is being deleted, a Shoot only goes.
fn fits(old: &Shoot, new: &Shoot, seed: &Seed) -> Result<(), Rejection> {
    let (name, seed_name) = (name(new), seed.metadata.name.as_deref().unwrap_or_default());
    let zones = seed.spec.provider.zones.len();
    let control_plane = new.spec.control_plane.as_ref();
    let availability = control_plane.and_then(|control_plane| control_plane.high_availability.as_ref());
    if availability.is_some_and(|of| of.failure_tolerance.type_ == "zone") && zones < LEAST_ZONES {
        return Err(Rejection::forbidden(format!(
            "cannot schedule shoot '{name}' with failure tolerance of zone on seed '{seed_name}' with only {zones} zones, \
             at least 3 zones are required"
        )));
    }
    if seed.metadata.deletion_timestamp.is_none() {
        return Ok(());
    }
    let annotations = |shoot: &Shoot| shoot.metadata.annotations.clone().unwrap_or_default();
    let (mut before, after) = (annotations(old), annotations(new));
    if let Some(confirmation) = after.get(CONFIRMATION_DELETION) {
        before.insert(CONFIRMATION_DELETION.to_owned(), confirmation.clone());
    }
    let gone = format!("of shoot '{name}' on seed '{seed_name}' already marked for deletion");
    if before != after {
        return Err(Rejection::forbidden(format!(
            "cannot update annotations {gone}: only the '{CONFIRMATION_DELETION}' annotation can be changed"
        )));
    }
    if old.spec == new.spec {
        Ok(())
    } else {
        Err(Rejection::forbidden(format!("cannot update spec {gone}")))
    }
}

fn name(shoot: &Shoot) -> &str {
    shoot.metadata.name.as_deref().unwrap_or_default()
}
