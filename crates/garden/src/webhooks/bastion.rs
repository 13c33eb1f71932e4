//! Validation of a created or updated Bastion.

use api::garden::Bastion;
use api::garden::bastion::BastionSpec;
use api::garden::operations::GROUP;
use serde_json::Value;
use webhook::field::{Error, Path, Shown};
use webhook::object;
use webhook::rejection::Rejection;

use super::cidr::Cidr;
use super::field_errors::{self, FieldErrors, immutable};
use super::go_value::GoValue;
use super::{metadata, names, reading, ssh_public_key};

const KIND: &str = "Bastion";
/// Annotation with the user who created the Bastion.
const CREATED_BY: &str = "gardener.cloud/created-by";

/// Validates a Bastion: GDN-BAS-001.
///
/// # Errors
/// 422 with all errors; 400 when it is not a Bastion.
pub fn validate(old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let bastion: Bastion = reading::read(KIND, new)?;
    let mut errors = FieldErrors::new();
    if let Some(old) = old {
        errors.extend(unchanged(&bastion, &reading::read(KIND, old)?));
    }
    errors.extend(metadata::validate(&bastion.metadata, names::dns_label));
    let has_list = object::get(new, &["spec", "ingress"])?.is_some();
    errors.extend(specification(&bastion.spec, has_list));
    field_errors::invalid_in(GROUP, KIND, &bastion.metadata.name.unwrap_or_default(), &errors)
}

/// GDN-BAS-002, GDN-BAS-003. As in the original, errors of a block do not say which one it is; `has_list` says whether an
/// empty list was written.
fn specification(spec: &BastionSpec, has_list: bool) -> FieldErrors {
    let at = Path::new("spec");
    let mut errors = FieldErrors::new();
    if spec.shoot_ref.name.is_empty() {
        errors.push(Error::invalid(
            &at.child("shootRef").child("name"),
            "",
            "shoot reference must not be empty",
        ));
    }
    let key = &spec.ssh_public_key;
    if key.is_empty() {
        errors.push(Error::invalid(&at.child("sshPublicKey"), "", "sshPublicKey must not be empty"));
    } else if !ssh_public_key::has_key(key) {
        errors.push(Error::invalid(&at.child("sshPublicKey"), key, "invalid sshPublicKey"));
    }
    let at = at.child("ingress");
    if spec.ingress.is_empty() {
        let list = if has_list { "{}" } else { "(nil)" };
        let shown = Shown::verbatim(format!("[]operations.BastionIngressPolicy{list}"));
        errors.push(Error::invalid(&at, shown, "ingress must not be empty"));
    }
    for policy in &spec.ingress {
        let network = &policy.ip_block.cidr;
        if network.is_empty() {
            errors.push(Error::invalid(&at, "", "CIDR must not be empty"));
        } else if Cidr::parse(network).is_err() {
            errors.push(Error::invalid(&at, network, "invalid CIDR"));
        }
    }
    errors
}

/// GDN-BAS-004.
fn unchanged(new: &Bastion, old: &Bastion) -> FieldErrors {
    let creator = |bastion: &Bastion| {
        let annotations = bastion.metadata.annotations.as_ref();
        GoValue::text_or_empty(annotations.and_then(|annotations| annotations.get(CREATED_BY)))
    };
    let at = Path::new("spec");
    let key = |bastion: &Bastion| GoValue::text(&bastion.spec.ssh_public_key);
    let shoots = (GoValue::text(&new.spec.shoot_ref.name), GoValue::text(&old.spec.shoot_ref.name));
    let mut errors = FieldErrors::new();
    errors.extend(immutable(&Path::new("metadata").child("annotations"), &creator(new), &creator(old)));
    errors.extend(immutable(&at.child("shootRef").child("name"), &shoots.0, &shoots.1));
    errors.extend(immutable(&at.child("sshPublicKey"), &key(new), &key(old)));
    errors
}
