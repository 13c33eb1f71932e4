//! ShootManagedSeed: a Shoot that is a Seed keeps what a Seed needs.

use std::collections::BTreeSet;

use api::garden::seed::SeedTemplate;
use api::garden::{ManagedSeed, Shoot};
use schema::admission_plugins;
use serde_json::Value;
use webhook::field::{Error, Path, Shown};
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::shoot_support::{NO_SHOOT, SHOOTS, forbidden_for, internal, invalid, is_shoot, list};
use super::{Attributes, Plugin, Validate};
use crate::webhooks::field_errors::FieldErrors;
use crate::webhooks::gardenlet_configuration;

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::SHOOT_MANAGED_SEED,
    is_on_by_default: true,
    admit: None,
    validate: Some(Validate::Plain(validate)),
};

/// Updates and deletions of Shoots that ManagedSeeds refer to, even of those that are being deleted. A deletion of a
/// collection counts all Shoots, whatever it selects: GPL-SHMS-001, GPL-SHMS-004, GPL-SHMS-005.
fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> Result<(), Rejection> {
    if !is_shoot(attributes) || !attributes.subresource.is_empty() {
        return Ok(());
    }
    match attributes.operation {
        Operation::Update => managed_seed(attributes, attributes.name)?
            .map_or(Ok(()), |seed| changed(attributes, object, &seed)),
        Operation::Delete if attributes.name.is_empty() => {
            let all = attributes.objects.list(SHOOTS);
            let mut names = all.iter().filter_map(|shoot| shoot["metadata"]["name"].as_str());
            names.try_for_each(|name| deleted(attributes, name))
        }
        Operation::Delete => deleted(attributes, attributes.name),
        _ => Ok(()),
    }
}

/// The ManagedSeed that refers to the Shoot of this name.
fn managed_seed(attributes: &Attributes<'_>, name: &str) -> Result<Option<ManagedSeed>, Rejection> {
    let namespace = attributes.namespace;
    let failed =
        |why: &str| internal(&format!("could not get ManagedSeed for shoot '{namespace}/{name}': {why}"));
    let all: Vec<ManagedSeed> =
        list(attributes.objects, "managedseeds.seedmanagement.gardener.cloud").map_err(|why| failed(&why))?;
    let refers = |seed: &ManagedSeed| {
        seed.metadata.namespace.as_deref() == Some(namespace)
            && seed.spec.shoot.as_ref().is_some_and(|shoot| shoot.name == name)
    };
    let mut found = all.into_iter().filter(refers);
    let first = found.next();
    if found.next().is_some() {
        return Err(failed(&format!("found more than one ManagedSeed objects for shoot {namespace}/{name}")));
    }
    Ok(first)
}

fn deleted(attributes: &Attributes<'_>, name: &str) -> Result<(), Rejection> {
    if managed_seed(attributes, name)?.is_none() {
        return Ok(());
    }
    let namespace = attributes.namespace;
    let text =
        format!("cannot delete shoot {namespace}/{name} since it is still referenced by a managed seed");
    Err(forbidden_for(attributes, name, &text))
}

/// All errors of an update; that there is no template of a Seed is the only one then: GPL-SHMS-002, GPL-SHMS-003.
fn changed(attributes: &Attributes<'_>, object: Option<&Value>, seed: &ManagedSeed) -> Result<(), Rejection> {
    let read = |object: Option<&Value>| -> Result<Shoot, Rejection> {
        let shoot = object.and_then(|object| serde_json::from_value(object.clone()).ok());
        shoot.ok_or_else(|| internal(NO_SHOOT))
    };
    let (shoot, old) = (read(object)?, read(attributes.old)?);
    let template =
        template(seed).map_err(|why| internal(&format!("cannot extract the seed template: {why}")))?;
    let mut errors = components(&shoot);
    errors.extend(nodes(&shoot, &old));
    let token = shoot.spec.kubernetes.enable_static_token_kubeconfig;
    if template.spec.secret_ref.is_some() && token != Some(true) {
        let at = Path::new("spec").child("kubernetes").child("enableStaticTokenKubeconfig");
        let detail = "shoot static token kubeconfig cannot be disabled when the seed secretRef is set";
        let shown = token.map_or_else(|| Shown::from("null"), Shown::from);
        errors.push(Error::invalid(&at, shown, detail));
    }
    let zones = |shoot: &Shoot| -> BTreeSet<String> {
        shoot.spec.provider.workers.iter().flat_map(|pool| &pool.zones).cloned().collect()
    };
    let (before, after) = (zones(&old), zones(&shoot));
    if template.spec.provider.zones.iter().any(|zone| before.contains(zone) && !after.contains(zone)) {
        // The path is the original's.
        let at = Path::new("spec").child("providers").child("workers");
        let detail = "shoot worker zone(s) must not be removed as long as registered in managedseed";
        errors.push(Error::forbidden(&at, detail));
    }
    if errors.is_empty() { Ok(()) } else { Err(invalid(&shoot, &errors)) }
}

/// A Seed has its own ingress controller, and needs the vertical pod autoscaler.
fn components(shoot: &Shoot) -> FieldErrors {
    let (at, mut errors) = (Path::new("spec"), FieldErrors::new());
    let ingress = shoot.spec.addons.as_ref().and_then(|addons| addons.nginx_ingress.as_ref());
    if ingress.is_some_and(|ingress| ingress.enabled) {
        let detail = "shoot ingress addon is not supported for managed seeds - use the managed seed ingress controller";
        errors.push(Error::invalid(&at.child("addons").child("nginxIngress").child("enabled"), true, detail));
    }
    let autoscaler = shoot.spec.kubernetes.vertical_pod_autoscaler.as_ref();
    if !autoscaler.is_some_and(|autoscaler| autoscaler.enabled) {
        let at = at.child("kubernetes").child("verticalPodAutoscaler").child("enabled");
        errors.push(Error::invalid(&at, false, "shoot VPA has to be enabled for managed seeds"));
    }
    errors
}

/// The network of nodes stays. The original panics where it is taken away.
fn nodes(shoot: &Shoot, old: &Shoot) -> Option<Error> {
    let of = |shoot: &Shoot| shoot.spec.networking.as_ref().and_then(|networking| networking.nodes.clone());
    let (before, after) = (of(old)?, of(shoot));
    if after.as_ref() == Some(&before) {
        return None;
    }
    let at = Path::new("spec").child("networking").child("nodes");
    let shown = after.unwrap_or_else(|| "null".to_owned());
    Some(Error::invalid(&at, &shown, "field is immutable for managed seeds"))
}

/// The template of the Seed, in the configuration of the gardenlet.
fn template(seed: &ManagedSeed) -> Result<SeedTemplate, String> {
    const KIND: &str = "ManagedSeed";
    let name = seed.metadata.name.as_deref().unwrap_or_default();
    let gardenlet = seed.spec.gardenlet.as_ref();
    let gardenlet = gardenlet.ok_or_else(|| format!("no gardenlet specified in managedseed: {name:?}"))?;
    let config = gardenlet_configuration::read(KIND, gardenlet.config.as_ref()).map_err(|rejection| {
        let prefix = format!("failed to read the {KIND}: ");
        let why = rejection.message.strip_prefix(&prefix).unwrap_or(&rejection.message).to_owned();
        format!("could not decode gardenlet configuration: {why}")
    })?;
    config.seed_config.ok_or_else(|| format!("no seed config found for managedseed {name}"))
}

#[cfg(test)]
mod tests;
