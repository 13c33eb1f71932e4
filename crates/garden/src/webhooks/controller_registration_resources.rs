//! The resources that a ControllerRegistration is responsible for.

use std::collections::BTreeMap;

use api::garden::controller_registration::{ControllerResource, ControllerResourceLifecycle};
use webhook::field::{Error, Path};

use super::controller_registration_defaults::EXTENSION;
use super::field_errors::{FieldErrors, immutable, required, supported};
use super::go_value::GoValue;

/// The kinds of extensions. The original lists them in random order.
const KINDS: [&str; 11] = [
    "BackupBucket",
    "BackupEntry",
    "Bastion",
    "ContainerRuntime",
    "ControlPlane",
    "DNSRecord",
    EXTENSION,
    "Infrastructure",
    "Network",
    "OperatingSystemConfig",
    "Worker",
];
const STRATEGIES: [&str; 2] = ["AfterKubeAPIServer", "BeforeKubeAPIServer"];

/// The errors of the resources: GDN-CRR-001 to -005.
#[must_use]
pub fn validate(resources: &[ControllerResource]) -> FieldErrors {
    let at = Path::new("spec").child("resources");
    // As in the original, a resource is compared with the last one of its kind alone.
    let mut types: BTreeMap<&str, &str> = BTreeMap::new();
    let mut errors = FieldErrors::new();
    for (index, resource) in resources.iter().enumerate() {
        let at = at.index(index);
        let (kind, kind_at) = (resource.kind.as_str(), at.child("kind"));
        errors.extend(required(&kind_at, kind, "field is required"));
        errors.extend(supported(&kind_at, kind, &KINDS));
        errors.extend(required(&at.child("type"), &resource.type_, "field is required"));
        if types.insert(kind, &resource.type_) == Some(resource.type_.as_str()) {
            errors.push(Error::duplicate(&at, format!("{kind}/{}", resource.type_).as_str()));
        }
        match &resource.lifecycle {
            _ if kind != EXTENSION => errors.extend(of_extensions_alone(resource, &at)),
            Some(of) => errors.extend(lifecycle(of, &at.child("lifecycle"))),
            None => {}
        }
    }
    errors
}

/// Whether a resource is primary never changes, as long as it is there: GDN-CRR-006.
#[must_use]
pub fn validate_update(new: &[ControllerResource], old: &[ControllerResource]) -> FieldErrors {
    let at = Path::new("spec").child("resources");
    let key = |resource: &ControllerResource| format!("{}{}", resource.kind, resource.type_);
    let primary =
        |resource: &ControllerResource| GoValue::pointer("bool", resource.primary.map(GoValue::Bool));
    let before: BTreeMap<String, GoValue> =
        old.iter().map(|resource| (key(resource), primary(resource))).collect();
    let changed = new.iter().enumerate().filter_map(|(index, resource)| {
        immutable(&at.index(index).child("primary"), &primary(resource), before.get(&key(resource))?)
    });
    changed.collect()
}

fn of_extensions_alone(resource: &ControllerResource, at: &Path) -> FieldErrors {
    let fields = [
        ("globallyEnabled", resource.globally_enabled.is_some()),
        ("reconcileTimeout", resource.reconcile_timeout.is_some()),
        ("lifecycle", resource.lifecycle.is_some()),
    ];
    let text = format!("field must not be set when kind != {EXTENSION}");
    let set = fields.into_iter().filter(|(_, is_set)| *is_set);
    set.map(|(field, _)| Error::forbidden(&at.child(field), &text)).collect()
}

fn lifecycle(lifecycle: &ControllerResourceLifecycle, at: &Path) -> FieldErrors {
    let ControllerResourceLifecycle { reconcile, delete, migrate, .. } = lifecycle;
    let fields = [("reconcile", reconcile), ("delete", delete), ("migrate", migrate)];
    let errors = fields.into_iter().filter_map(|(field, strategy)| {
        strategy.as_ref().and_then(|strategy| supported(&at.child(field), strategy, &STRATEGIES))
    });
    errors.collect()
}
