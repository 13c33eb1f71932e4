//! ControllerRegistrations.

use api::garden::ControllerRegistration;
use schema::TypedKindDetails;
use serde_json::Value;
use webhook::strategy::{Column, Strategy};

use super::columns::{AGE, NAME, column};
use super::{ALL, CORE, GardenKind, generation};
use crate::webhooks::controller_registration;

pub(super) static KIND: GardenKind = GardenKind {
    crd: "controllerregistrations.core.gardener.cloud",
    details: TypedKindDetails { categories: ALL, ..CORE },
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    default: controller_registration::mutate,
    prepare_changed: |_, old, new| {
        let kind = "ControllerRegistration";
        generation::of_spec(kind, (old, new), |registration: &ControllerRegistration| &registration.spec)
    },
    validate: |_, old, new| controller_registration::validate(old, new),
    has_generation: true,
    columns: COLUMNS,
    ..Strategy::PLAIN
};

const COLUMNS: &[Column] =
    &[NAME, column("Resources", |registration, _| resources(registration).into()), AGE];

/// `Worker/aws, Infrastructure/aws`.
fn resources(registration: &Value) -> String {
    let resources = registration.pointer("/spec/resources").and_then(Value::as_array).into_iter().flatten();
    let text = |resource: &Value, field: &str| resource[field].as_str().unwrap_or_default().to_owned();
    let named = resources.map(|resource| format!("{}/{}", text(resource, "kind"), text(resource, "type")));
    named.collect::<Vec<_>>().join(", ")
}
