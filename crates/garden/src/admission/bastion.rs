//! Bastion: a Bastion belongs to a Shoot that can be reached, and takes Seed and provider from it.

use api::garden::{API_VERSION, operations};
use schema::admission_plugins;
use serde_json::{Value, json};
use webhook::field::{Error, Path};
use webhook::object;
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::lookup::{SHOOTS, is_terminating};
use super::{Admit, Attributes, Plugin, messages};

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::BASTION,
    is_on_by_default: true,
    admit: Some(Admit::Plain(admit)),
    validate: None,
};

const KIND: &str = "Bastion";
const CREATED_BY: &str = "gardener.cloud/created-by";

/// GPL-BASTION-001, GPL-BASTION-003 to -005. As in the original, a Bastion whose Shoot is gone cannot be changed at all.
fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> Result<(), Rejection> {
    if attributes.kind != KIND
        || !attributes.subresource.is_empty()
        || !matches!(attributes.operation, Operation::Create | Operation::Update)
    {
        return Ok(());
    }
    let bastion = messages::given(object, "could not convert object to Bastion")?;
    let name = object::text(bastion, &["spec", "shootRef", "name"])?.to_owned();
    let at = Path::new("spec").child("shootRef").child("name");
    let refused =
        |bastion: &Value, error: Error| Err(messages::invalid((operations::GROUP, KIND), bastion, &[error]));
    if name.is_empty() {
        return refused(bastion, Error::required(&at, "shoot is required"));
    }
    let namespace = object::text(bastion, &["metadata", "namespace"])?;
    let Some(shoot) = attributes.objects.get(SHOOTS, namespace, &name) else {
        return refused(bastion, Error::invalid(&at, &name, &format!("shoot {namespace}/{name} not found")));
    };
    if let Some(why) = unreachable(attributes.operation, bastion, &shoot)? {
        return refused(bastion, Error::invalid(&at, &name, why));
    }
    take_over(attributes, bastion, &shoot)
}

/// Why nobody can reach the Shoot's nodes.
fn unreachable(
    operation: Operation,
    bastion: &Value,
    shoot: &Value,
) -> Result<Option<&'static str>, Rejection> {
    if operation == Operation::Create && is_terminating(shoot) {
        return Ok(Some("shoot is in deletion"));
    }
    if object::text(shoot, &["spec", "seedName"])?.is_empty() {
        return Ok(Some("shoot is not yet assigned to a seed"));
    }
    let has_workers = !object::list(shoot, &["spec", "provider", "workers"])?.is_empty();
    let is_on = object::get(shoot, &["spec", "provider", "workersSettings", "sshAccess"])?
        .is_none_or(|access| access["enabled"] == true);
    let why = "ssh access is disabled for worker nodes";
    let is_reachable = has_workers && is_on;
    Ok((!is_terminating(bastion) && !is_reachable).then_some(why))
}

/// Seed, provider, creator, and the Shoot as owner: GPL-BASTION-002.
fn take_over(attributes: &Attributes<'_>, bastion: &mut Value, shoot: &Value) -> Result<(), Rejection> {
    object::set(bastion, &["spec", "seedName"], shoot["spec"]["seedName"].clone())?;
    object::set(bastion, &["spec", "providerType"], object::text(shoot, &["spec", "provider", "type"])?)?;
    if attributes.operation == Operation::Create {
        object::set(bastion, &["metadata", "annotations", CREATED_BY], attributes.user.name.as_str())?;
    }
    let uid = &shoot["metadata"]["uid"];
    let owners = object::list_mut(bastion, &["metadata", "ownerReferences"])?;
    if !owners.iter().any(|owner| &owner["uid"] == uid) {
        owners.push(json!({
            "apiVersion": API_VERSION, "kind": "Shoot", "name": shoot["metadata"]["name"], "uid": uid,
            "controller": true, "blockOwnerDeletion": true,
        }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::admission::testing::{TestGarden, merge};

    fn shoot(change: &Value) -> Value {
        let mut shoot = json!({
            "metadata": {"name": "app", "namespace": "n", "uid": "u"},
            "spec": {"seedName": "s", "provider": {"type": "aws", "workers": [{"name": "w"}]}},
        });
        merge(&mut shoot, change);
        shoot
    }

    fn bastion(name: &str) -> Value {
        json!({"metadata": {"name": "b", "namespace": "n"}, "spec": {"shootRef": {"name": name}}})
    }

    const INVALID: &str = "Bastion.operations.gardener.cloud \"b\" is invalid: spec.shootRef.name: ";

    #[rstest]
    #[case(Operation::Create, "", json!({}), Some("Required value: shoot is required"))]
    #[case(Operation::Create, "x", json!({}), Some("Invalid value: \"x\": shoot n/x not found"))]
    #[case(Operation::Create, "app", json!({"metadata": {"deletionTimestamp": "t"}}),
        Some("Invalid value: \"app\": shoot is in deletion"))]
    #[case(Operation::Update, "app", json!({"metadata": {"deletionTimestamp": "t"}}), None)]
    #[case(Operation::Update, "app", json!({"spec": {"seedName": null}}),
        Some("Invalid value: \"app\": shoot is not yet assigned to a seed"))]
    #[case(Operation::Create, "app", json!({"spec": {"seedName": ""}}),
        Some("Invalid value: \"app\": shoot is not yet assigned to a seed"))]
    #[case(Operation::Create, "app", json!({"spec": {"provider": {"workers": []}}}),
        Some("Invalid value: \"app\": ssh access is disabled for worker nodes"))]
    #[case(Operation::Create, "app",
        json!({"spec": {"provider": {"workersSettings": {"sshAccess": {"enabled": false}}}}}),
        Some("Invalid value: \"app\": ssh access is disabled for worker nodes"))]
    #[case(Operation::Create, "app",
        json!({"spec": {"provider": {"workersSettings": {"sshAccess": {"enabled": true}}}}}), None)]
    #[case(Operation::Create, "app", json!({"spec": {"provider": {"workersSettings": {}}}}), None)]
    fn the_shoot_must_be_reachable(
        #[case] operation: Operation,
        #[case] name: &str,
        #[case] change: Value,
        #[case] want: Option<&str>,
    ) {
        let garden = TestGarden::default().with(SHOOTS, shoot(&change));
        let given = bastion(name);
        let mut object = given.clone();
        let refused = admit(&garden.attributes(operation, KIND, &given), Some(&mut object)).err();
        let codes = refused.as_ref().map(|rejection| (rejection.code, rejection.reason.as_str()));
        assert_eq!(codes, want.map(|_| (422, "Invalid")));
        assert_eq!(refused.map(|rejection| rejection.message), want.map(|why| format!("{INVALID}{why}")));
    }

    #[test]
    fn a_bastion_that_goes_needs_no_ssh() {
        let garden =
            TestGarden::default().with(SHOOTS, shoot(&json!({"spec": {"provider": {"workers": []}}})));
        let mut object = bastion("app");
        object["metadata"]["deletionTimestamp"] = json!("t");
        let given = object.clone();
        assert_eq!(admit(&garden.attributes(Operation::Update, KIND, &given), Some(&mut object)), Ok(()));
    }

    #[test]
    fn a_bastion_takes_over_what_its_shoot_says() {
        let garden = TestGarden::default().with(SHOOTS, shoot(&json!({})));
        let mut object = bastion("app");
        object["spec"]["seedName"] = json!("mine");
        object["metadata"]["annotations"] = json!({CREATED_BY: "bob", "a": "b"});
        let given = object.clone();
        let attributes = garden.attributes(Operation::Create, KIND, &given);
        admit(&attributes, Some(&mut object)).unwrap();
        let owner = json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "name": "app", "uid": "u", "controller": true,
            "blockOwnerDeletion": true,
        });
        let want = json!({
            "metadata": {
                "name": "b", "namespace": "n", "annotations": {CREATED_BY: "alice", "a": "b"},
                    "ownerReferences": [owner],
            },
            "spec": {"shootRef": {"name": "app"}, "seedName": "s", "providerType": "aws"},
        });
        assert_eq!(object, want);
        object["metadata"]["annotations"][CREATED_BY] = json!("bob");
        object["metadata"]["ownerReferences"][0]["controller"] = json!(false);
        let before = object.clone();
        let update = garden.attributes(Operation::Update, KIND, &before);
        admit(&update, Some(&mut object)).unwrap();
        assert_eq!(object, before);
    }
}
