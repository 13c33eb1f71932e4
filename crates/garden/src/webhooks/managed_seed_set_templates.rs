//! The templates of a ManagedSeedSet: of ManagedSeeds, with their Seeds, and of Shoots.

use std::collections::BTreeMap;

use api::garden::managed_seed_set::ManagedSeedSetSpec;
use api::gardener::MAINTENANCE_OPERATION;
use formats::selector::LabelSelector;
use serde_json::Value;
use webhook::field::{Error, Path, Shown};
use webhook::rejection::Rejection;

use super::field_errors::{FieldErrors, immutable};
use super::go_value::GoValue;
use super::managed_seed_spec::Spec;
use super::shoot_spec::{self, Surroundings};
use super::{annotations, labels, shoot_update};

/// The errors of both templates, in the original's order; it crashes where there is no gardenlet: GDN-MSP-001 to -005.
///
/// # Errors
/// 400 when an amount is no quantity.
pub(super) fn validate(
    spec: &ManagedSeedSetSpec,
    template: &Spec<'_>,
    selector: Option<&LabelSelector>,
    at: &Path,
) -> Result<FieldErrors, Rejection> {
    let at_template = at.child("template");
    let metadata = &spec.template.metadata;
    let mut errors: FieldErrors =
        selected(selector, &metadata.labels, &at_template.child("metadata")).into_iter().collect();
    errors.extend(labels::validate(&metadata.labels, &at_template.child("metadata").child("labels")));
    let at_annotations = at_template.child("metadata").child("annotations");
    errors.extend(annotations::validate(&metadata.annotations, &at_annotations));
    let at_template = at_template.child("spec");
    errors.extend(template.validate(&at_template, true)?);
    if spec.template.spec.shoot.is_some() {
        errors.push(Error::forbidden(&at_template.child("shoot"), "shoot is forbidden"));
    }
    if let Some(config) = template.config() {
        let at = at_template.child("gardenlet").child("config").child("seedConfig");
        match &config.seed_config {
            None => errors.push(Error::required(&at, "seedConfig is required")),
            Some(seed) => errors.extend(selected(selector, &seed.metadata.labels, &at.child("metadata"))),
        }
    }
    errors.extend(validate_shoot(spec, selector, &at.child("shootTemplate")));
    Ok(errors)
}

/// The template of Shoots has pools, and else the rules of Shoots: GDN-MSP-006 to -008.
fn validate_shoot(spec: &ManagedSeedSetSpec, selector: Option<&LabelSelector>, at: &Path) -> FieldErrors {
    let template = &spec.shoot_template;
    let (metadata, at_metadata) = (&template.metadata, at.child("metadata"));
    let at_spec = at.child("spec");
    let mut errors: FieldErrors = selected(selector, &metadata.labels, &at_metadata).into_iter().collect();
    if template.spec.provider.workers.is_empty() {
        let why = "workers cannot be empty in the Shoot template for a ManagedSeedSet";
        let none = Shown::verbatim("[]core.Worker(nil)");
        errors.push(Error::invalid(&at_spec.child("provider").child("workers"), none, why));
    }
    errors.extend(labels::validate(&metadata.labels, &at_metadata.child("labels")));
    errors.extend(annotations::validate(&metadata.annotations, &at_metadata.child("annotations")));
    let around = Surroundings {
        namespace: metadata.namespace.as_deref().unwrap_or_default(),
        operation: metadata.annotations.get(MAINTENANCE_OPERATION).map_or("", String::as_str),
        in_template: true,
    };
    errors.extend(shoot_spec::validate(&template.spec, around, &at_spec));
    errors
}

/// What an update may not change of the Shoot template; unlike a Shoot's, the network of nodes is checked twice, and the
/// original crashes where there is no network any more: GDN-MSP-009, GDN-MSP-010.
pub(super) fn validate_shoot_update(
    new: &ManagedSeedSetSpec,
    old: &ManagedSeedSetSpec,
    at: &Path,
) -> FieldErrors {
    let (new, old) = (&new.shoot_template, &old.shoot_template);
    let at = at.child("shootTemplate").child("spec");
    let is_deleted = new.metadata.unknown.get("deletionTimestamp").is_some_and(|time| *time != Value::Null);
    let mut errors = shoot_update::validate(&new.spec, &old.spec, is_deleted, &at);
    if let (Some(after), Some(before)) = (&new.spec.networking, &old.spec.networking)
        && before.nodes.is_some()
    {
        let value = |text: &Option<String>| GoValue::pointer("string", text.as_ref().map(GoValue::text));
        let nodes = (value(&after.nodes), value(&before.nodes));
        errors.extend(immutable(&at.child("networking").child("nodes"), &nodes.0, &nodes.1));
    }
    errors
}

/// What is made of a template must be selected, unless the selector is wrong or empty.
fn selected(selector: Option<&LabelSelector>, labels: &BTreeMap<String, String>, at: &Path) -> Option<Error> {
    let is_missed = !selector?.matches(labels);
    let shown = GoValue::Map(labels.clone());
    let why = "selector does not match template labels";
    is_missed.then(|| Error::invalid(&at.child("labels"), &shown, why))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_template_of_shoots_that_go_stays() {
        let read = |purpose: &str, metadata: Value| -> ManagedSeedSetSpec {
            let spec = json!({"purpose": purpose, "kubernetes": {"version": "1.26.1"}});
            let template = json!({"metadata": metadata, "spec": spec});
            serde_json::from_value(json!({"shootTemplate": template})).expect("it is a spec")
        };
        let (goes, stays) = (json!({"deletionTimestamp": "2024-06-01T00:00:00Z"}), json!({}));
        let table = [("testing", &goes, 0), ("production", &goes, 1), ("production", &stays, 0)];
        for (purpose, metadata, count) in table {
            let (new, old) = (read(purpose, metadata.clone()), read("testing", metadata.clone()));
            let errors = validate_shoot_update(&new, &old, &Path::new("spec"));
            assert_eq!(errors.len(), count, "{purpose} {metadata}: {errors:?}");
        }
    }
}
