//! Protects Secrets and ConfigMaps that Shoots refer to from deletion
//! (contracts/controller-manager/controllers/shoot-reference.yaml).

use std::collections::BTreeSet;

use api::garden::Shoot;
use controller::reconcile::references::{self, Reference, ReferenceKind, ReferenceRule};
use controller::{Controller, Event, Selection, Watch};

use super::{Context, TIMEOUT, finalizer};

/// Name in log and metrics.
pub const NAME: &str = "reference";

/// Finalizer of a Shoot that refers to objects, and of those.
const PROTECTION: &str = "gardener.cloud/reference-protection";

/// The controller of one instance. GCM-SRF-001 to -007.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let shoots = garden.store::<Shoot>(Selection::all());
    let changed = Watch::of(&shoots).filter(matters);
    let rule = ReferenceRule {
        name: NAME,
        workers: super::workers(context.config.controllers.shoot_reference.concurrent_syncs),
        timeout: TIMEOUT,
        finalizer: PROTECTION,
        managed: api::gardener::ROLE,
        namespace: None,
        references,
        is_released,
    };
    references::controller(garden, rule, shoots, changed)
}

/// GCM-SRF-008.
fn matters(event: &Event<Shoot>) -> bool {
    let Event::Update { old, new } = event else { return matches!(event, Event::Create(_)) };
    old.spec.dns != new.spec.dns
        || audit_config(old) != audit_config(new)
        || resources(old) != resources(new)
        || is_released(new)
}

fn audit_config(shoot: &Shoot) -> Option<&api::garden::shoot::api_server::AuditConfig> {
    shoot.spec.kubernetes.kube_api_server.as_ref()?.audit_config.as_ref()
}

/// Whether Gardener has nothing more to do for a Shoot that is being deleted.
fn is_released(shoot: &Shoot) -> bool {
    shoot.metadata.deletion_timestamp.is_some() && !finalizer::is_present(shoot)
}

/// The objects that a Shoot refers to. GCM-SRF-001, GCM-SRF-002.
fn references(shoot: &Shoot) -> BTreeSet<Reference<'_>> {
    let providers = shoot.spec.dns.iter().flat_map(|dns| &dns.providers);
    let secrets =
        providers.filter_map(|provider| Some((ReferenceKind::Secret, provider.secret_name.as_deref()?)));
    let policy = audit_config(shoot).and_then(|config| config.audit_policy.as_ref()?.config_map_ref.as_ref());
    let policy =
        policy.map(|reference| (ReferenceKind::ConfigMap, reference.name.as_deref().unwrap_or_default()));
    secrets.chain(policy).chain(resources(shoot)).collect()
}

fn resources(shoot: &Shoot) -> BTreeSet<Reference<'_>> {
    let references = shoot.spec.resources.iter().map(|resource| &resource.resource_ref);
    let known = references.filter(|reference| reference.api_version.as_deref() == Some("v1"));
    let known = known.filter_map(|reference| match &*reference.kind {
        "Secret" => Some((ReferenceKind::Secret, &*reference.name)),
        "ConfigMap" => Some((ReferenceKind::ConfigMap, &*reference.name)),
        _ => None,
    });
    known.collect()
}
