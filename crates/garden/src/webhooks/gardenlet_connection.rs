//! How a gardenlet reaches the garden.

use api::gardenlet::connections::{GardenConnection, KubeconfigValidity};
use formats::duration::GoDuration;
use webhook::field::{Error, Path};

use super::bounds;
use super::field_errors::FieldErrors;

/// The shortest time that a kubeconfig may be valid: ten minutes.
const SHORTEST: i64 = 600_000_000_000;

/// What depends on how the gardenlet gets its credentials: GDN-GLC-011, GDN-GLC-012.
pub(super) fn validate(
    connection: &GardenConnection,
    bootstrap: &str,
    is_merged: bool,
    at: &Path,
) -> FieldErrors {
    let kubeconfig = connection.kubeconfig.as_deref().unwrap_or_default();
    let mut errors = FieldErrors::new();
    match bootstrap {
        "ServiceAccount" | "BootstrapToken" if !kubeconfig.is_empty() => {
            let why = "kubeconfig is forbidden if bootstrap is specified";
            errors.push(Error::forbidden(&at.child("kubeconfig"), why));
        }
        "None" => {
            if kubeconfig.is_empty() && !is_merged {
                let why = "kubeconfig is required if bootstrap is not specified and merging with parent is disabled";
                errors.push(Error::required(&at.child("kubeconfig"), why));
            }
            let present = [
                ("bootstrapKubeconfig", "bootstrap kubeconfig", connection.bootstrap_kubeconfig.is_some()),
                ("kubeconfigSecret", "kubeconfig secret", connection.kubeconfig_secret.is_some()),
            ];
            errors.extend(present.into_iter().filter(|(.., is_present)| *is_present).map(
                |(field, what, _)| {
                    let why = format!("{what} is forbidden if bootstrap is not specified");
                    Error::forbidden(&at.child(field), &why)
                },
            ));
        }
        _ => {}
    }
    errors
}

/// Validity and rotation of the kubeconfig: GDN-GLC-003, GDN-GLC-004.
pub(super) fn validate_validity(validity: &KubeconfigValidity, at: &Path) -> FieldErrors {
    let is_short = |duration: GoDuration| duration.nanos() < SHORTEST;
    let why = "validity must be at least 10m";
    let (min, max) =
        (validity.auto_rotation_jitter_percentage_min, validity.auto_rotation_jitter_percentage_max);
    let (at_min, at_max) =
        (at.child("autoRotationJitterPercentageMin"), at.child("autoRotationJitterPercentageMax"));
    let mut errors = FieldErrors::new();
    errors.extend(bounds::refuse(&at.child("validity"), validity.validity.as_ref(), is_short, why));
    if let Some(min) = min.filter(|min| *min < 1) {
        errors.push(Error::invalid(&at_min, i64::from(min), "minimum percentage must be at least 1"));
    }
    if let Some(max) = max.filter(|max| *max > 100) {
        errors.push(Error::invalid(&at_max, i64::from(max), "maximum percentage must be at most 100"));
    }
    if let Some((min, _)) = min.zip(max).filter(|(min, max)| min >= max) {
        let why = "minimum percentage must be less than maximum percentage";
        errors.push(Error::invalid(&at_min, i64::from(min), why));
    }
    errors
}
