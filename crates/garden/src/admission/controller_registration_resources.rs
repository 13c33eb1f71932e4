//! ControllerRegistrationResources: two registrations do not lead one type of a kind.

use std::collections::BTreeMap;

use api::garden::ControllerRegistration;
use api::garden::controller_registration::ControllerResource;
use schema::admission_plugins;
use serde_json::Value;
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::lookup::CONTROLLER_REGISTRATIONS;
use super::{Attributes, Plugin, Validate, messages};
use crate::webhooks::reading;

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::CONTROLLER_REGISTRATION_RESOURCES,
    is_on_by_default: true,
    admit: None,
    validate: Some(Validate::Plain(validate)),
};

const KIND: &str = "ControllerRegistration";

/// GPL-CTRLREG-001 to -004. As in the original, of several types of a kind only the last one is protected.
fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> Result<(), Rejection> {
    if attributes.kind != KIND || !matches!(attributes.operation, Operation::Create | Operation::Update) {
        return Ok(());
    }
    let object = messages::given(object, "could not convert resource into ControllerRegistration object")?;
    let registration: ControllerRegistration = reading::read(KIND, object)?;
    let mut others = BTreeMap::new();
    for other in attributes.objects.list(CONTROLLER_REGISTRATIONS) {
        let other: ControllerRegistration = reading::read(KIND, &other)?;
        if other.metadata.name != registration.metadata.name {
            others.extend(led(other.spec.resources).map(|resource| (resource.kind, resource.type_)));
        }
    }
    let taken =
        led(registration.spec.resources).find(|resource| others.get(&resource.kind) == Some(&resource.type_));
    taken.map_or(Ok(()), |ControllerResource { kind, type_, .. }| {
        let why = format!(
            "another ControllerRegistration resource already exists that controls resource {kind}/{type_} primarily"
        );
        Err(messages::forbidden(attributes, Some(object), why))
    })
}

/// The resources that a registration leads.
fn led(resources: Vec<ControllerResource>) -> impl Iterator<Item = ControllerResource> {
    resources.into_iter().filter(|resource| resource.primary != Some(false))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::testing::TestGarden;

    fn registration(name: &str, resources: &Value) -> Value {
        json!({"metadata": {"name": name}, "spec": {"resources": resources}})
    }

    #[rstest]
    #[case(json!([{"kind": "Network", "type": "b"}]), Some("Network/b"))]
    #[case(json!([{"kind": "Network", "type": "b", "primary": true}]), Some("Network/b"))]
    #[case(json!([{"kind": "Network", "type": "b", "primary": false}]), None)]
    #[case::only_the_last_type_is_protected(json!([{"kind": "Network", "type": "a"}]), None)]
    #[case::own_stored_version(json!([{"kind": "Worker", "type": "own"}]), None)]
    #[case::others_may_follow(json!([{"kind": "Extension", "type": "e"}]), None)]
    #[case::another_kind(json!([{"kind": "Worker", "type": "b"}]), None)]
    fn one_registration_leads_a_type(#[case] resources: Value, #[case] want: Option<&str>) {
        let garden = TestGarden::default()
            .with(
                CONTROLLER_REGISTRATIONS,
                registration(
                    "other",
                    &json!([
                        {"kind": "Network", "type": "a"}, {"kind": "Network", "type": "b"},
                            {"kind": "Extension", "type": "e", "primary": false},
                    ]),
                ),
            )
            .with(CONTROLLER_REGISTRATIONS, registration("own", &json!([{"kind": "Worker", "type": "own"}])));
        let object = registration("own", &resources);
        for operation in [Operation::Create, Operation::Update] {
            let refused = validate(&garden.attributes(operation, KIND, &object), Some(&object)).err();
            let want = want.map(|of| {
                format!(
                    "controllerregistrations.core.gardener.cloud \"own\" is forbidden: another ControllerRegistration resource \
                     already exists that controls resource {of} primarily"
                )
            });
            assert_eq!(refused.map(|rejection| rejection.message), want);
        }
    }
}
