//! A host to reach nodes through: `contracts/resource-manager/webhooks/extension-validation/bastion.yaml`.

use serde_json::Value;
use webhook::field::{Error, Path};

use super::comparison::{items, member};
use super::decoding::bytes;
use super::required::{check, check_that};
use super::shape::{PROVIDER_CONFIG, Shape, TEXTS, TYPE, field};
use super::{EXTENSIONS, ExtensionKind, Frozen};

pub(super) const KIND: ExtensionKind = ExtensionKind {
    name: "Bastion",
    group: EXTENSIONS,
    resource: "bastions",
    namespaced: true,
    spec: &[
        TYPE,
        PROVIDER_CONFIG,
        field("userData", "UserData", Shape::Bytes),
        field("ingress", "Ingress", Shape::List("v1alpha1.BastionIngressPolicy", &INGRESS)),
    ],
    immutable: &[&["type"], &["userData"]],
    frozen: Frozen::Forbidden,
    rules,
};

const INGRESS: Shape = Shape::Struct(&[field(
    "ipBlock",
    "IPBlock",
    Shape::Struct(&[field("cidr", "CIDR", Shape::Text), field("except", "Except", TEXTS)]),
)]);

/// GRM-EXV-040 to -044, GRM-EXV-046.
fn rules(object: &Value, errors: &mut Vec<Error>) {
    let spec = member(Some(object), "spec");
    let at = Path::new("spec");
    check(spec, &["type"], &at, errors);
    check_that(!bytes(member(spec, "userData")).is_empty(), &["userData"], &at, errors);
    check_that(!items(member(spec, "ingress")).is_empty(), &["ingress"], &at, errors);
}
