//! The provider's part of a control plane: `contracts/resource-manager/webhooks/extension-validation/controlplane.yaml`.

use serde_json::Value;
use webhook::field::{Error, Path};

use super::comparison::{member, text};
use super::required::check;
use super::shape::{PROVIDER_CONFIG, RAW, REGION, SECRET_REF, Shape, TYPE, field};
use super::{EXTENSIONS, ExtensionKind, Frozen};

pub(super) const KIND: ExtensionKind = ExtensionKind {
    name: "ControlPlane",
    group: EXTENSIONS,
    resource: "controlplanes",
    namespaced: true,
    spec: &[
        TYPE,
        PROVIDER_CONFIG,
        field("purpose", "Purpose", Shape::Pointer("v1alpha1.Purpose", &Shape::Text)),
        field("infrastructureProviderStatus", "InfrastructureProviderStatus", RAW),
        REGION,
        SECRET_REF,
    ],
    immutable: &[&["type"], &["purpose"], &["region"]],
    frozen: Frozen::Forbidden,
    rules,
};

const PURPOSES: [&str; 2] = ["normal", "exposure"];

/// GRM-EXV-080 to -087.
fn rules(object: &Value, errors: &mut Vec<Error>) {
    let spec = member(Some(object), "spec");
    let at = Path::new("spec");
    check(spec, &["type"], &at, errors);
    let purpose = member(spec, "purpose");
    if purpose.is_some() && !PURPOSES.contains(&text(purpose)) {
        errors.push(Error::not_supported(&at.child("purpose"), text(purpose), &PURPOSES));
    }
    check(spec, &["region"], &at, errors);
    check(spec, &["secretRef", "name"], &at, errors);
}
