//! What a Shoot names, and its purpose: region, CloudProfile, SecretBinding, Seed.

use api::garden::shoot::ShootSpec;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, immutable, required, supported};
use super::go_value::GoValue;
use super::shoot_provider::WORKERLESS;
use super::{label_selector, shoot_profile, tolerations};

/// The namespace of the garden's own clusters.
const GARDEN: &str = "garden";

/// Region, CloudProfile, SecretBinding, Seed, purpose and tolerations: GDN-SRF-001 to -006.
pub(super) fn validate(spec: &ShootSpec, namespace: &str, at: &Path, in_template: bool) -> FieldErrors {
    let mut errors = FieldErrors::new();
    errors.extend(required(&at.child("region"), &spec.region, "must specify a region"));
    errors.extend(shoot_profile::validate(spec, at));
    let (binding, at_binding) = (spec.secret_binding_name.as_deref(), at.child("secretBindingName"));
    match (binding, spec.provider.workers.is_empty()) {
        (Some(_), true) => errors.push(Error::forbidden(&at_binding, WORKERLESS)),
        (None | Some(""), false) => errors.push(Error::required(&at_binding, "must specify a name")),
        _ => {}
    }
    if let Some("") = spec.seed_name.as_deref() {
        let detail = "seed name must not be empty when providing the key";
        errors.push(Error::invalid(&at.child("seedName"), "", detail));
    }
    if let Some(selector) = &spec.seed_selector {
        let at = at.child("seedSelector");
        errors.extend(label_selector::validate(&selector.match_labels, &selector.match_expressions, &at));
    }
    if let Some(purpose) = &spec.purpose {
        let mut known = vec!["development", "evaluation", "production", "testing"];
        if namespace == GARDEN || in_template {
            known.insert(2, "infrastructure");
        }
        errors.extend(supported(&at.child("purpose"), purpose, &known));
    }
    errors.extend(tolerations::validate(&spec.tolerations, &at.child("tolerations")));
    errors
}

/// What an update may not change: GDN-SRF-007, GDN-SPR-004.
pub(super) fn validate_update(new: &ShootSpec, old: &ShootSpec, at: &Path) -> FieldErrors {
    let same = |name: &str, of: fn(&ShootSpec) -> GoValue| immutable(&at.child(name), &of(new), &of(old));
    let pointer = |text: &Option<String>| GoValue::pointer("string", text.as_ref().map(GoValue::text));
    let (bindings, classes) = (
        [new, old].map(|spec| pointer(&spec.secret_binding_name)),
        [new, old].map(|spec| pointer(&spec.exposure_class_name)),
    );
    let errors = [
        same("region", |spec| GoValue::text(&spec.region)),
        same("cloudProfileName", |spec| GoValue::text(&spec.cloud_profile_name)),
        immutable(&at.child("secretBindingName"), &bindings[0], &bindings[1]),
        immutable(&at.child("exposureClassName"), &classes[0], &classes[1]),
    ];
    errors.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_of_the_garden_may_be_infrastructure() {
        let spec = ShootSpec { purpose: Some("infrastructure".to_owned()), ..ShootSpec::default() };
        let at = Path::new("spec");
        let is_refused = |namespace: &str, in_template: bool| {
            let errors = validate(&spec, namespace, &at, in_template);
            errors.iter().any(|error| error.field == "spec.purpose")
        };
        assert!(is_refused("garden-dev", false));
        assert!(!is_refused("garden", false));
        assert!(!is_refused("garden-dev", true));
        let unknown = ShootSpec { purpose: Some("foo".to_owned()), ..ShootSpec::default() };
        let errors = validate(&unknown, "garden", &at, false);
        let error = errors.iter().find(|error| error.field == "spec.purpose").unwrap();
        let known = "\"development\", \"evaluation\", \"infrastructure\", \"production\", \"testing\"";
        assert_eq!(error.body(), format!("Unsupported value: \"foo\": supported values: {known}"));
    }
}
