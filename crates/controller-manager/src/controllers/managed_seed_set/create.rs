//! The Shoot and the ManagedSeed of a replica, made of their templates.

use api::garden::managed_seed::{Gardenlet, ManagedSeedShoot, ManagedSeedSpec};
use api::garden::{ManagedSeed, ManagedSeedSet, Shoot, TemplateMetadata};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource as _, ResourceExt as _};
use serde_json::Value;

/// Stands in domains for the name of the replica.
const PLACEHOLDER: &str = "replica-name";
/// Domain of a Seed in the configuration of its gardenlet.
const INGRESS_DOMAIN: &str = "/seedConfig/spec/ingress/domain";
const GARDENLET_CONFIG: [&str; 2] = ["gardenlet.config.gardener.cloud/v1alpha1", "GardenletConfiguration"];

/// Why a template makes no ManagedSeed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The gardenlet's configuration is of another kind, or of none.
    #[error(
        "spec.template.spec.gardenlet.config must be a GardenletConfiguration of gardenlet.config.gardener.cloud/v1alpha1, but is {0}"
    )]
    Kind(String),
    /// The gardenlet's configuration registers no Seed.
    #[error("spec.template.spec.gardenlet.config has no seedConfig")]
    SeedConfig,
}

/// GCM-MSS-040.
pub(super) fn shoot(set: &ManagedSeedSet, name: &str) -> Shoot {
    let template = &set.spec.shoot_template;
    let mut spec = template.spec.clone();
    if let Some(domain) = spec.dns.as_mut().and_then(|dns| dns.domain.as_mut()) {
        *domain = domain.replace(PLACEHOLDER, name);
    }
    Shoot { metadata: metadata(set, &template.metadata, name), spec, ..Shoot::default() }
}

/// GCM-MSS-041, GCM-MSS-042.
pub(super) fn managed_seed(set: &ManagedSeedSet, name: &str) -> Result<ManagedSeed, TemplateError> {
    let template = &set.spec.template;
    let gardenlet =
        template.spec.gardenlet.clone().map(|gardenlet| configured(gardenlet, name)).transpose()?;
    let shoot = ManagedSeedShoot { name: name.to_owned(), ..ManagedSeedShoot::default() };
    let spec = ManagedSeedSpec { shoot: Some(shoot), gardenlet, ..ManagedSeedSpec::default() };
    Ok(ManagedSeed { metadata: metadata(set, &template.metadata, name), spec, ..ManagedSeed::default() })
}

fn metadata(set: &ManagedSeedSet, template: &TemplateMetadata, name: &str) -> ObjectMeta {
    let of =
        |map: &std::collections::BTreeMap<String, String>| Some(map.clone()).filter(|map| !map.is_empty());
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: set.namespace(),
        labels: of(&template.labels),
        annotations: of(&template.annotations),
        owner_references: set.controller_owner_ref(&()).map(|mut owner| {
            owner.block_owner_deletion = Some(true);
            vec![owner]
        }),
        ..ObjectMeta::default()
    }
}

/// The gardenlet of a replica; the original checks the configuration, and passes it on with the placeholder in it.
fn configured(mut gardenlet: Gardenlet, name: &str) -> Result<Gardenlet, TemplateError> {
    let config = gardenlet.config.get_or_insert(Value::Null);
    let text = |field: &str| config.get(field).and_then(Value::as_str).unwrap_or_default();
    let kind = [text("apiVersion"), text("kind")];
    if kind != GARDENLET_CONFIG {
        return Err(TemplateError::Kind(kind.join(" ").trim().to_owned()));
    }
    if !config.get("seedConfig").is_some_and(Value::is_object) {
        return Err(TemplateError::SeedConfig);
    }
    if let Some(Value::String(domain)) = config.pointer_mut(INGRESS_DOMAIN) {
        *domain = domain.replace(PLACEHOLDER, name);
    }
    Ok(gardenlet)
}
