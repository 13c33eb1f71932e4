//! Defaulting and validation of a created or updated ManagedSeedSet.

use api::garden::ManagedSeedSet;
use api::garden::managed_seed_set::{ManagedSeedSetSpec, UpdateStrategy};
use api::garden::seed_management::GROUP;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors, immutable};
use super::go_value::GoValue;
use super::managed_seed_set_defaults::default;
use super::managed_seed_spec::Spec;
use super::{bounds, managed_seed_set_templates, metadata, names, reading, selection};

const KIND: &str = "ManagedSeedSet";
/// The only namespace of ManagedSeedSets.
const GARDEN: &str = "garden";
const ROLLING: &str = "RollingUpdate";

/// Sets the defaults of a ManagedSeedSet.
///
/// # Errors
/// 400 when it is not a ManagedSeedSet.
pub fn mutate(set: &mut Value) -> Result<(), Rejection> {
    let read: ManagedSeedSet = reading::read(KIND, set)?;
    Spec::read(KIND, &read.spec.template.spec)?;
    Ok(default(set)?)
}

/// Validates a ManagedSeedSet: GDN-MSS-001, GDN-MSS-002.
///
/// # Errors
/// 422 with all errors; 400 when it is not a ManagedSeedSet.
pub fn validate(old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let set: ManagedSeedSet = reading::read_defaulted(KIND, new, default)?;
    let template = Spec::read(KIND, &set.spec.template.spec)?;
    let at = Path::new("spec");
    let mut errors = FieldErrors::new();
    if let Some(old) = old {
        let old: ManagedSeedSet = reading::read_defaulted(KIND, old, default)?;
        let before = Spec::read(KIND, &old.spec.template.spec)?;
        errors.extend(unchanged(&set.spec, &old.spec, &at));
        errors.extend(template.validate_update(&before, &at.child("template").child("spec")));
        errors.extend(managed_seed_set_templates::validate_shoot_update(&set.spec, &old.spec, &at));
    }
    let namespace = set.metadata.namespace.as_deref().unwrap_or_default();
    if namespace != GARDEN {
        let at = Path::new("metadata").child("namespace");
        errors.push(Error::invalid(&at, namespace, "namespace must be garden"));
    }
    errors.extend(metadata::validate(&set.metadata, names::dns_subdomain));
    errors.extend(specification(&set.spec, &template, &at)?);
    field_errors::invalid_in(GROUP, KIND, set.metadata.name.as_deref().unwrap_or_default(), &errors)
}

/// The errors of a spec, in the original's order: GDN-MSS-003 to -006.
fn specification(
    spec: &ManagedSeedSetSpec,
    template: &Spec<'_>,
    at: &Path,
) -> Result<FieldErrors, Rejection> {
    let mut errors: FieldErrors =
        bounds::non_negative(&at.child("replicas"), spec.replicas).into_iter().collect();
    let (of_selector, selector) = selection::validate(&spec.selector, &at.child("selector"));
    errors.extend(of_selector);
    errors.extend(managed_seed_set_templates::validate(spec, template, selector.as_ref(), at)?);
    if let Some(strategy) = &spec.update_strategy {
        errors.extend(validate_strategy(strategy, &at.child("updateStrategy")));
    }
    errors.extend(bounds::non_negative(&at.child("revisionHistoryLimit"), spec.revision_history_limit));
    Ok(errors)
}

/// GDN-MSS-005.
fn validate_strategy(strategy: &UpdateStrategy, at: &Path) -> Option<Error> {
    let at_type = at.child("type");
    match strategy.type_.as_deref()? {
        "" => Some(Error::required(&at_type, "")),
        ROLLING => {
            let partition = strategy.rolling_update.as_ref()?.partition;
            bounds::non_negative(&at.child("rollingUpdate").child("partition"), partition)
        }
        other => Some(Error::not_supported(&at_type, other, &[ROLLING])),
    }
}

/// GDN-MSS-007.
fn unchanged(new: &ManagedSeedSetSpec, old: &ManagedSeedSetSpec, at: &Path) -> FieldErrors {
    let selectors = (selection::value(&new.selector), selection::value(&old.selector));
    let limit = |spec: &ManagedSeedSetSpec| {
        let limit = spec.revision_history_limit.map(|limit| GoValue::Integer(limit.into()));
        GoValue::pointer("int32", limit)
    };
    let mut errors = FieldErrors::new();
    errors.extend(immutable(&at.child("selector"), &selectors.0, &selectors.1));
    errors.extend(immutable(&at.child("revisionHistoryLimit"), &limit(new), &limit(old)));
    errors
}
