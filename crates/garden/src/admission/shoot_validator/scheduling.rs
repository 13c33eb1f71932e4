//! Which Seed a Shoot may be given, by whom it is changed, and what may not change while a Shoot moves to another Seed.

use std::collections::BTreeMap;

use api::garden::condition::LastOperation;
use api::garden::reference::LabelSelector;
use api::garden::{CloudProfile, GROUP, Seed, Shoot};
use api::gardener::CONFIRMATION_DELETION;
use formats::quantity::Quantity;
use serde_json::Value;
use webhook::field::quote;
use webhook::rejection::Rejection;
use webhook::review::Operation;
use webhook::strategy::ObjectReader;

use super::ValidationContext;
use crate::admission::shoot_support::{SEEDS, SHOOTS, internal};
use crate::admission::{Action, Attributes};
use crate::webhooks::selection;

const LEAST_ZONES: usize = 3;

/// All rules of a created or updated Shoot, in the original's order; a deletion has none.
pub(super) fn check(context: &ValidationContext<'_>) -> Result<(), Rejection> {
    let ValidationContext { attributes, profile, seed, shoot, old, .. } = context;
    let (from, to) = (old.spec.seed_name.as_ref(), shoot.spec.seed_name.as_ref());
    match attributes.operation {
        Operation::Create if to.is_some() => is_allowed(attributes)?,
        Operation::Update => changed_by(attributes.subresource == "binding", old, shoot)?,
        Operation::Delete => return Ok(()),
        _ => {}
    }
    if let (Some(seed), true) = (seed, from != to) {
        accepts(attributes.objects, shoot, seed, Some(profile))?;
    }
    match (from.filter(|_| from != to), seed) {
        (Some(from), Some(seed)) => can_move(attributes.objects, from, seed)?,
        _ => stays(old, shoot)?,
    }
    seed.as_ref().map_or(Ok(()), |seed| fits(old, shoot, seed))
}

/// Who creates a Shoot on a Seed must be allowed to bind it: GPL-SHVAL-020.
fn is_allowed(attributes: &Attributes<'_>) -> Result<(), Rejection> {
    let action = Action {
        verb: "update",
        group: GROUP,
        version: "",
        resource: "shoots",
        subresource: "binding",
        namespace: attributes.namespace,
        name: attributes.name,
    };
    if attributes.authorizer.is_allowed(attributes.user, &action) {
        return Ok(());
    }
    let user = quote(&attributes.user.name);
    Err(Rejection::forbidden(format!("user {user} is not allowed to set .spec.seedName for \"shoots\"")))
}

/// A binding to the Seed that the Shoot has already is none. The original's error is none of an API, so that it is the
/// server's: GPL-SHVAL-002.
pub(crate) fn is_new_seed(old: &Shoot, new: &Shoot) -> Result<(), Rejection> {
    if old.spec.seed_name != new.spec.seed_name {
        return Ok(());
    }
    Err(Rejection::errored(500, "update of binding rejected, shoot is already assigned to the same seed"))
}

/// The Seed is changed through `binding` alone, which changes it, and nothing else if there was one: GPL-SHVAL-021,
/// GPL-SHVAL-022.
pub(crate) fn changed_by(binding: bool, old: &Shoot, new: &Shoot) -> Result<(), Rejection> {
    let (from, to) = (&old.spec.seed_name, &new.spec.seed_name);
    if !binding {
        let why = "spec.seedName cannot be changed by patching the shoot, please use the shoots/binding subresource";
        return if from == to { Ok(()) } else { Err(Rejection::forbidden(why)) };
    }
    if from.is_none() {
        return Ok(());
    }
    if to.is_none() {
        return Err(Rejection::forbidden("spec.seedName cannot be set to nil"));
    }
    let mut moved = old.spec.clone();
    moved.seed_name.clone_from(to);
    if moved == new.spec {
        return Ok(());
    }
    let why = "only spec.seedName can be changed using the binding subresource when the shoot is being rescheduled to \
        a new seed";
    Err(Rejection::forbidden(why))
}

/// Whether a Seed takes another Shoot: GPL-SHVAL-023 to -025.
pub(crate) fn accepts(
    objects: &dyn ObjectReader,
    shoot: &Shoot,
    seed: &Seed,
    profile: Option<&CloudProfile>,
) -> Result<(), Rejection> {
    let seed_name = name_of_seed(seed);
    if seed.metadata.deletion_timestamp.is_some() {
        return Err(unscheduled(shoot, seed, "that is already marked for deletion"));
    }
    if !are_tolerated(seed, shoot) {
        let why = "forbidden to use a seed whose taints are not tolerated by the shoot";
        return Err(Rejection::forbidden(why));
    }
    if let Some(most) = capacity(seed)
        && used(objects, seed_name) >= most
    {
        let why = format!("that already has the maximum number of shoots scheduled on it ({most})");
        return Err(unscheduled(shoot, seed, &why));
    }
    profile.map_or(Ok(()), |profile| is_selected(shoot, seed, profile))
}

/// The profile's selector selects the Seed: GPL-SHVAL-026.
fn is_selected(shoot: &Shoot, seed: &Seed, profile: &CloudProfile) -> Result<(), Rejection> {
    let Some(selector) = &profile.spec.seed_selector else { return Ok(()) };
    let labels = LabelSelector {
        match_labels: selector.match_labels.clone(),
        match_expressions: selector.match_expressions.clone(),
        ..LabelSelector::default()
    };
    let selected = selection::converted(&labels, &labels, "seedSelector").map_err(|why| internal(&why))?;
    let of = format!("seed selector of cloud profile '{}' is", shoot.spec.cloud_profile_name);
    let empty = BTreeMap::new();
    if !selected.matches(seed.metadata.labels.as_ref().unwrap_or(&empty)) {
        let why = format!("because the {of} not matching the labels of the seed");
        return Err(unscheduled(shoot, seed, &why));
    }
    let types = &selector.provider_types;
    let is_any = |kind: &String| *kind == seed.spec.provider.type_ || kind == "*";
    if !types.is_empty() && !types.iter().any(is_any) {
        let why =
            format!("because none of the provider types in the {of} matching the provider type of the seed");
        return Err(unscheduled(shoot, seed, &why));
    }
    Ok(())
}

fn unscheduled(shoot: &Shoot, seed: &Seed, why: &str) -> Rejection {
    let (name, seed) = (name(shoot), name_of_seed(seed));
    Rejection::forbidden(format!("cannot schedule shoot '{name}' on seed '{seed}' {why}"))
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
fn used(objects: &dyn ObjectReader, seed: &str) -> i64 {
    let is_there = |shoot: &Value| shoot["spec"]["seedName"] == seed || shoot["status"]["seedName"] == seed;
    let count = objects.list(SHOOTS).iter().filter(|shoot| is_there(shoot)).count();
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A Shoot moves between Seeds with backups of one provider: GPL-SHVAL-027.
pub(crate) fn can_move(objects: &dyn ObjectReader, from: &str, to: &Seed) -> Result<(), Rejection> {
    let missing = |why: String| internal(&format!("could not find referenced seed: {why}"));
    let old: Seed = SEEDS.get(objects, "", from).map_err(missing)?;
    let unbacked = [("old ", from, &old), ("", name_of_seed(to), to)]
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
        "cannot change seed because cloud provider for new seed ({new_type}) is not equal to cloud provider for old \
         seed ({old_type})"
    )))
}

/// The last operation of a Shoot that leaves its Seed, or is not yet back.
pub(super) fn moving(shoot: &Shoot) -> Option<&LastOperation> {
    let last = shoot.status.last_operation.as_ref()?;
    let is_moving = last.type_ == "Migrate" || (last.type_ == "Restore" && last.state != "Succeeded");
    is_moving.then_some(last)
}

/// The spec of a Shoot on its way stays; the status is that of the request: GPL-SHVAL-028.
pub(crate) fn stays(old: &Shoot, new: &Shoot) -> Result<(), Rejection> {
    let Some(last) = &new.status.last_operation else { return Ok(()) };
    if old.spec == new.spec {
        return Ok(());
    }
    let (wanted, current) = (&new.spec.seed_name, &new.status.seed_name);
    if last.type_ != "Migrate" && wanted.is_some() && current.is_some() && wanted != current {
        let why = "shoot spec cannot be changed because shoot has been rescheduled to a new seed";
        return Err(Rejection::forbidden(why));
    }
    if let Some(LastOperation { type_, state, .. }) = moving(new) {
        let why = format!("cannot change shoot spec during {type_} operation that is in state {state}");
        return Err(Rejection::forbidden(why));
    }
    Ok(())
}

/// The Seed has enough zones; on one that is being deleted, a Shoot only goes: GPL-SHVAL-029, GPL-SHVAL-030.
pub(crate) fn fits(old: &Shoot, new: &Shoot, seed: &Seed) -> Result<(), Rejection> {
    let (name, seed_name) = (name(new), name_of_seed(seed));
    let zones = seed.spec.provider.zones.len();
    let control_plane = new.spec.control_plane.as_ref();
    let availability = control_plane.and_then(|control_plane| control_plane.high_availability.as_ref());
    if availability.is_some_and(|of| of.failure_tolerance.type_ == "zone") && zones < LEAST_ZONES {
        return Err(Rejection::forbidden(format!(
            "cannot schedule shoot '{name}' with failure tolerance of zone on seed '{seed_name}' with only {zones} \
             zones, at least 3 zones are required"
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

fn name_of_seed(seed: &Seed) -> &str {
    seed.metadata.name.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests;
