//! Judges Gardens (contracts/operator/webhooks/garden-*.yaml).

mod admission_plugins;
mod api_server;
mod feature_gates;
mod gardener;
mod kubernetes;
mod networks;
mod oidc;
mod operations;
mod pod_security;
mod resource_sizes;
mod routing;
mod selector;
mod update;
mod virtual_cluster;

use api::gardener::CONFIRMATION_DELETION;
use api::operator::{FINALIZER, GROUP, Garden, REFERENCE_PROTECTION};
use serde_json::Map;
use webhook::field::{Error, quote};
use webhook::rejection::Rejection;

/// Errors of fields, in the original's order.
pub type FieldErrors = Vec<Error>;

/// Judges a Garden that is created: it is the only one, has no finalizer of the operator, and is valid. OPR-GDN-001,
/// OPR-GDN-002.
///
/// # Errors
/// 400 if it is not the only one or has such a finalizer, 422 if it is invalid.
pub fn validate_create(garden: &Garden, is_only_one: bool) -> Result<(), Rejection> {
    if !is_only_one {
        return Err(bad_request(
            "there can be only one operator.gardener.cloud/v1alpha1.Garden resource in the system at a time",
        ));
    }
    let mut finalizers = garden.metadata.finalizers.iter().flatten();
    let reserved = |finalizer: &&String| [FINALIZER, REFERENCE_PROTECTION].contains(&finalizer.as_str());
    if let Some(finalizer) = finalizers.find(reserved) {
        return Err(bad_request(&format!("finalizer {} cannot be added on creation", quote(finalizer))));
    }
    invalid(garden, &errors(garden))
}

/// Judges a Garden that is updated.
///
/// # Errors
/// 422 if it, or the change, is invalid.
pub fn validate_update(old: &Garden, new: &Garden) -> Result<(), Rejection> {
    let mut all = update::errors(&old.spec.virtual_cluster, &new.spec.virtual_cluster);
    all.extend(errors(new));
    invalid(new, &all)
}

/// A Garden may be deleted if an annotation confirms it. OPR-GDN-004, OPR-GDN-005.
///
/// # Errors
/// 403 if it is not.
pub fn validate_delete(garden: &Garden) -> Result<(), Rejection> {
    let annotations = garden.metadata.annotations.as_ref();
    let value = annotations.and_then(|annotations| annotations.get(CONFIRMATION_DELETION));
    if value.is_some_and(|value| ["1", "t", "T", "true", "TRUE", "True"].contains(&value.as_str())) {
        return Ok(());
    }
    let why = format!("must have a {} annotation to delete", quote(CONFIRMATION_DELETION));
    Err(Rejection::forbidden(why))
}

/// 500, because it is unknown whether there is a Garden.
#[must_use]
pub fn unknown(why: &str) -> Rejection {
    Rejection::status(500, "InternalError", format!("Internal error occurred: {why}"), Map::new())
}

/// All errors of a Garden, in this order. OPR-GDN-003, OPR-GDN-007.
fn errors(garden: &Garden) -> FieldErrors {
    let (runtime, cluster) = (&garden.spec.runtime_cluster, &garden.spec.virtual_cluster);
    let mut errors = operations::errors(garden);
    errors.extend(networks::runtime(&runtime.networking));
    errors.extend(virtual_cluster::errors(cluster, &runtime.networking));
    errors.extend(routing::errors(runtime, cluster));
    errors
}

fn invalid(garden: &Garden, errors: &[Error]) -> Result<(), Rejection> {
    if errors.is_empty() {
        return Ok(());
    }
    let name = garden.metadata.name.as_deref().unwrap_or_default();
    Err(Rejection::invalid(GROUP, "Garden", name, errors))
}

fn bad_request(why: &str) -> Rejection {
    Rejection::status(400, "BadRequest", why, Map::new())
}
