//! Shoots.

use api::garden::CloudProfile;
use schema::TypedKindDetails;
use serde_json::{Map, Value};
use webhook::object;
use webhook::rejection::Rejection;
use webhook::strategy::{Generation, Situation, Strategy};

use super::{
    ALL, CORE, GardenKind, admin_kubeconfig, shoot_columns, shoot_generation, shoot_scheduling, shoot_status,
    shoot_warnings,
};
use crate::serving::number_below;
use crate::webhooks::kubernetes_version::is_from;
use crate::webhooks::{reading, shoot, shoot_profile};

pub(super) static KIND: GardenKind = GardenKind {
    crd: "shoots.core.gardener.cloud",
    details: TypedKindDetails {
        merged_lists: &[
            ("spec.dns.providers", "type"),
            ("spec.kubernetes.kubeAPIServer.admissionPlugins", "name"),
            ("spec.provider.workers", "name"),
            ("spec.tolerations", "key"),
            ("status.advertisedAddresses", "name"),
            ("status.conditions", "type"),
            ("status.constraints", "type"),
        ],
        selectable: &[
            "metadata.name",
            "metadata.namespace",
            "spec.seedName",
            "spec.cloudProfileName",
            "status.seedName",
        ],
        categories: ALL,
        subresources: &[("binding", None)],
        posted: &[admin_kubeconfig::BODY],
        ..CORE
    },
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    default,
    admit,
    prepare_changed,
    prepare_status: |_, _, new| Ok(shoot_generation::of_status(new)),
    validate,
    validate_status: |_, old, new| shoot_status::validate(old, new),
    warnings: |situation, old, new| shoot_warnings::of(old, new, situation.now),
    canonicalize: drop_pod_security_policy,
    has_generation: true,
    columns: shoot_columns::COLUMNS,
    posted: &[admin_kubeconfig::SUBRESOURCE],
    ..Strategy::PLAIN
};

/// Where several Shoots could have any value, each gets one that depends on its name.
fn default(shoot: &mut Value) -> Result<(), Rejection> {
    let seed = seed_of(shoot);
    Ok(shoot::default(shoot, |end| number_below(&seed, end))?)
}

fn seed_of(shoot: &Value) -> String {
    let text = |field: &str| shoot["metadata"][field].as_str().unwrap_or_default();
    format!("{}/{}/{}", text("namespace"), text("name"), text("generateName"))
}

/// The profile must exist, the Seed may be chosen, and missing fields get defaults from the profile. The status is
/// not checked here. Admission plugins do all of it, where the server has them.
fn admit(situation: &Situation<'_>, old: Option<&Value>, shoot: &mut Value) -> Result<(), Rejection> {
    if !matches!(situation.subresource, "" | "binding") {
        return Ok(());
    }
    if situation.has_plugins {
        return if situation.subresource == "binding" { Ok(()) } else { shoot::prepare(shoot, old) };
    }
    let profile = needed_profile(situation, old, shoot)?;
    shoot_scheduling::check(situation, old, shoot)?;
    if situation.subresource == "binding" {
        return Ok(());
    }
    let seed = seed_of(shoot);
    shoot::mutate(shoot, old, profile.as_ref(), situation.now, |end| number_below(&seed, end))
}

/// The profile that a changed spec names.
fn needed_profile(
    situation: &Situation<'_>,
    old: Option<&Value>,
    shoot: &Value,
) -> Result<Option<CloudProfile>, Rejection> {
    if !shoot::needs_profile(shoot, old)? {
        return Ok(None);
    }
    let name = object::text(shoot, &["spec", "cloudProfileName"])?;
    if let Some(profile) = situation.objects.get("cloudprofiles.core.gardener.cloud", "", name) {
        return reading::read("CloudProfile", &profile).map(Some);
    }
    let old = old.map(|old| reading::read("Shoot", old)).transpose()?;
    Err(shoot_profile::missing(&reading::read("Shoot", shoot)?, old.as_ref()))
}

/// The Seed is changed by the subresource `binding` alone, which counts nothing but the spec.
fn prepare_changed(situation: &Situation<'_>, old: &Value, new: &mut Value) -> Result<Generation, Rejection> {
    if situation.subresource == "binding" {
        return shoot_generation::of_binding(old, new);
    }
    match old.pointer("/spec/seedName") {
        Some(seed) => object::set(new, &["spec", "seedName"], seed.clone())?,
        None if new["spec"].is_object() => {
            object::map_mut(new, &["spec"])?.remove("seedName");
        }
        None => {}
    }
    shoot_generation::of_update(old, new)
}

fn validate(situation: &Situation<'_>, old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    if situation.has_plugins {
        return shoot::validate_in_itself(old, new);
    }
    let profile = needed_profile(situation, old, new)?;
    shoot::validate(old, new, profile.as_ref(), situation.now)
}

/// From 1.25 on, the admission plugin PodSecurityPolicy is not stored, on or off.
fn drop_pod_security_policy(shoot: &mut Value) -> Result<(), Rejection> {
    const API_SERVER: [&str; 3] = ["spec", "kubernetes", "kubeAPIServer"];
    const PLUGINS: [&str; 4] = [API_SERVER[0], API_SERVER[1], API_SERVER[2], "admissionPlugins"];
    let version = object::text(shoot, &["spec", "kubernetes", "version"])?;
    if !is_from(version, 25) || object::list(shoot, &PLUGINS)?.is_empty() {
        return Ok(());
    }
    let plugins = object::list_mut(shoot, &PLUGINS)?;
    plugins.retain(|plugin| plugin["name"] != "PodSecurityPolicy");
    if plugins.is_empty() {
        let server: &mut Map<String, Value> = object::map_mut(shoot, &API_SERVER)?;
        server.remove(PLUGINS[3]);
    }
    Ok(())
}
