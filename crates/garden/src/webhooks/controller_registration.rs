//! Defaulting and validation of a created or updated ControllerRegistration.

use api::garden::ControllerRegistration;
use api::garden::controller_registration::{ControllerRegistrationDeployment, ControllerRegistrationSpec};
use formats::duration::GoDuration;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::controller_registration_defaults::default;
use super::field_errors::{self, FieldErrors, required, supported};
use super::{
    controller_registration_differences, controller_registration_resources, label_selector, metadata, names,
    reading,
};

const KIND: &str = "ControllerRegistration";
const POLICIES: [&str; 3] = ["Always", "AlwaysExceptNoShoots", "OnDemand"];

/// Sets the defaults of a registration.
///
/// # Errors
/// 400 when it is not a ControllerRegistration.
pub fn mutate(registration: &mut Value) -> Result<(), Rejection> {
    reading::read::<ControllerRegistration>(KIND, registration)?;
    Ok(default(registration)?)
}

/// Validates a ControllerRegistration: GDN-CRG-001, GDN-CRG-007.
///
/// # Errors
/// 422 with all errors; 400 when it is not a ControllerRegistration.
pub fn validate(old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let registration = read(new)?;
    let mut errors = FieldErrors::new();
    if let Some(old) = old {
        errors.extend(unchanged(&registration, &read(old)?));
    }
    errors.extend(metadata::validate(&registration.metadata, names::dns_label));
    errors.extend(controller_registration_resources::validate(&registration.spec.resources));
    errors.extend(deployment(&registration.spec));
    field_errors::invalid(KIND, &registration.metadata.name.unwrap_or_default(), &errors)
}

fn read(object: &Value) -> Result<ControllerRegistration, Rejection> {
    let registration: ControllerRegistration = reading::read_defaulted(KIND, object, default)?;
    for timeout in
        registration.spec.resources.iter().filter_map(|resource| resource.reconcile_timeout.as_ref())
    {
        GoDuration::parse(&timeout.0)
            .map_err(|error| Rejection::undecodable(format!("failed to read the {KIND}: {error}")))?;
    }
    Ok(registration)
}

/// While it is being deleted, its whole spec stays: GDN-CRG-006.
fn unchanged(new: &ControllerRegistration, old: &ControllerRegistration) -> FieldErrors {
    let differences = new.metadata.deletion_timestamp.as_ref();
    match differences.and_then(|_| controller_registration_differences::forbidden(&new.spec, &old.spec)) {
        Some(error) => vec![error],
        None => controller_registration_resources::validate_update(&new.spec.resources, &old.spec.resources),
    }
}

/// GDN-CRG-002 to -005.
fn deployment(spec: &ControllerRegistrationSpec) -> FieldErrors {
    let Some(ControllerRegistrationDeployment { policy, seed_selector, deployment_refs, .. }) =
        &spec.deployment
    else {
        return FieldErrors::new();
    };
    let at = Path::new("spec").child("deployment");
    let mut errors = FieldErrors::new();
    errors.extend(policy.as_ref().and_then(|policy| supported(&at.child("policy"), policy, &POLICIES)));
    if let Some(selector) = seed_selector {
        let at = at.child("seedSelector");
        if spec.resources.iter().any(|resource| resource.primary.unwrap_or(true)) {
            let text = "specifying a seed selector is not allowed when controlling resources primarily";
            errors.push(Error::forbidden(&at, text));
        }
        errors.extend(label_selector::validate(&selector.match_labels, &selector.match_expressions, &at));
    }
    let at = at.child("deploymentRefs");
    if deployment_refs.len() > 1 {
        errors.push(Error::forbidden(&at, "only one deployment reference is allowed"));
    }
    let unnamed = deployment_refs.iter().enumerate();
    errors.extend(unnamed.filter_map(|(index, reference)| {
        required(&at.index(index).child("name"), &reference.name, "must not be empty")
    }));
    errors
}
