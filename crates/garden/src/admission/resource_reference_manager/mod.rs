//! ResourceReferenceManager: what an object refers to must exist, and who refers to it may have to be allowed to read it.

mod backup;
mod cloud_profile;
mod project;
mod secret_binding;
mod shoot;

use schema::admission_plugins;
use serde_json::Value;
use webhook::object;
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::lookup::{CONTROLLER_DEPLOYMENTS, SECRETS, is_terminating, live};
use super::{Admit, Attributes, Plugin, messages};

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::RESOURCE_REFERENCE_MANAGER,
    is_on_by_default: true,
    admit: Some(Admit::Plain(admit)),
    validate: None,
};

/// Of deletions only those of BackupBuckets are looked at: GPL-RRM-001. Subresources count as the object itself: GPL-RRM-035.
fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> Result<(), Rejection> {
    match attributes.operation {
        Operation::Delete if attributes.kind == "BackupBucket" => return backup::may_delete(attributes),
        Operation::Create | Operation::Update if is_checked(attributes.kind) => {}
        _ => return Ok(()),
    }
    let text = format!("could not convert resource into {} object", attributes.kind);
    let object = messages::given(object, &text)?;
    let old = match attributes.operation {
        Operation::Update => {
            let text = format!("could not convert old resource into {} object", attributes.kind);
            Some(messages::given(attributes.old, &text)?)
        }
        _ => None,
    };
    if old.is_some() && is_skipped(attributes.kind, object) {
        return Ok(());
    }
    let checked = match attributes.kind {
        "SecretBinding" => secret_binding::check(attributes, object),
        "Seed" => of_seed(attributes, object),
        "Shoot" => shoot::admit(attributes, old, object),
        "Project" => project::admit(attributes, old, object),
        "BackupBucket" => backup::check_bucket(attributes, old, object),
        "BackupEntry" => backup::check_entry(attributes, old, object),
        "CloudProfile" => cloud_profile::check(attributes, old, object),
        _ => of_controller_registration(attributes, object),
    };
    checked.map_err(|error| messages::wrapped(attributes, Some(&*object), error))
}

fn is_checked(kind: &str) -> bool {
    matches!(
        kind,
        "SecretBinding"
            | "Seed"
            | "Shoot"
            | "Project"
            | "BackupBucket"
            | "BackupEntry"
            | "CloudProfile"
            | "ControllerRegistration"
    )
}

/// Updates of an object that is being deleted pass, but not of every kind: GPL-RRM-002.
fn is_skipped(kind: &str, object: &Value) -> bool {
    is_terminating(object) && matches!(kind, "SecretBinding" | "Seed" | "Shoot" | "Project" | "CloudProfile")
}

/// GPL-RRM-020.
fn of_seed(attributes: &Attributes<'_>, seed: &Value) -> Result<(), Rejection> {
    match object::map(seed, &["spec", "secretRef"])? {
        Some(_) => secret(attributes, seed, &["spec", "secretRef"]),
        None => Ok(()),
    }
}

/// GPL-RRM-080.
fn of_controller_registration(attributes: &Attributes<'_>, registration: &Value) -> Result<(), Rejection> {
    let mut errors = Vec::new();
    for reference in object::list(registration, &["spec", "deployment", "deploymentRefs"])? {
        let name = object::text(reference, &["name"])?;
        if let Err(missing) = live(attributes.objects, CONTROLLER_DEPLOYMENTS, None, name) {
            errors.push(missing.message);
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(messages::plain(messages::listed(&errors))) }
}

/// The Secret that a reference names exists.
fn secret(attributes: &Attributes<'_>, object: &Value, reference: &[&str]) -> Result<(), Rejection> {
    let text = |field| object::text(object, &[reference, &[field]].concat());
    live(attributes.objects, SECRETS, Some(text("namespace")?), text("name")?).map(drop)
}

/// A text of the spec that differs from the old one, and is there; an absent one differs from an empty one.
fn changed<'a>(old: Option<&Value>, new: &'a Value, field: &str) -> Result<Option<&'a str>, Rejection> {
    let path = ["spec", field];
    let before = old.map(|old| object::get(old, &path)).transpose()?.flatten();
    let after = object::get(new, &path)?;
    Ok(if before == after { None } else { after.and_then(Value::as_str) })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::testing::TestGarden;

    #[rstest]
    #[case(json!({}), None)]
    #[case(json!({"secretRef": {"name": "s", "namespace": "garden"}}), None)]
    #[case(json!({"secretRef": {"name": "x", "namespace": "garden"}}), Some("secrets \"x\" not found"))]
    #[case(json!({"secretRef": {}}), Some("resource name may not be empty"))]
    fn the_secret_of_a_seed_exists(#[case] spec: Value, #[case] want: Option<&str>) {
        let secret = json!({"metadata": {"name": "s", "namespace": "garden"}});
        let garden = TestGarden::default().with(SECRETS, secret);
        let given = json!({"metadata": {"name": "a"}, "spec": spec});
        let mut object = given.clone();
        let refused = admit(&garden.attributes(Operation::Create, "Seed", &given), Some(&mut object)).err();
        let want = want.map(|why| format!("seeds.core.gardener.cloud \"a\" is forbidden: {why}"));
        assert_eq!(refused.map(|rejection| rejection.message), want);
    }

    #[rstest]
    #[case(json!({}), None)]
    #[case(json!({"deployment": {"deploymentRefs": [{"name": "a"}]}}), None)]
    #[case(json!({"deployment": {"deploymentRefs": [{"name": "x"}, {"name": "a"}, {"name": "y"}]}}), Some(
        "2 errors occurred:\n\t* controllerdeployments.core.gardener.cloud \"x\" not found\n\t\
         * controllerdeployments.core.gardener.cloud \"y\" not found\n\n"
    ))]
    fn the_deployments_of_a_registration_exist(#[case] spec: Value, #[case] want: Option<&str>) {
        let garden = TestGarden::default().with(CONTROLLER_DEPLOYMENTS, json!({"metadata": {"name": "a"}}));
        let given = json!({"metadata": {"name": "r", "deletionTimestamp": "t"}, "spec": spec});
        let mut object = given.clone();
        let asked = garden.attributes(Operation::Update, "ControllerRegistration", &given);
        let refused = admit(&Attributes { old: Some(&given), ..asked }, Some(&mut object)).err();
        let want =
            want.map(|why| format!("controllerregistrations.core.gardener.cloud \"r\" is forbidden: {why}"));
        assert_eq!(refused.map(|rejection| rejection.message), want);
    }

    #[rstest]
    #[case(Operation::Delete, "Shoot")]
    #[case(Operation::Delete, "SecretBinding")]
    #[case(Operation::Create, "Quota")]
    fn other_requests_pass(#[case] operation: Operation, #[case] kind: &str) {
        let object = json!({"metadata": {"name": "a"}});
        assert_eq!(admit(&TestGarden::default().attributes(operation, kind, &object), None), Ok(()));
    }

    #[test]
    fn an_object_of_a_checked_kind_is_needed() {
        let object = json!({"metadata": {"name": "a"}});
        let garden = TestGarden::default();
        let refused = admit(&garden.attributes(Operation::Create, "Shoot", &object), None).unwrap_err();
        assert_eq!(
            (refused.code, refused.message.as_str()),
            (400, "could not convert resource into Shoot object")
        );
        let mut sent = object.clone();
        let refused = admit(&garden.attributes(Operation::Update, "Shoot", &object), Some(&mut sent));
        assert_eq!(refused.unwrap_err().message, "could not convert old resource into Shoot object");
    }
}
