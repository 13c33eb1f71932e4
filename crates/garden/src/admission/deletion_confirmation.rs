//! DeletionConfirmation: a Shoot, a Project or a ShootState is deleted only if an annotation says that this is meant.

use api::gardener::CONFIRMATION_DELETION;
use schema::admission_plugins;
use serde_json::Value;
use webhook::object;
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::{Attributes, Plugin, Validate, messages};
use crate::strategies::generation::is_true;

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::DELETION_CONFIRMATION,
    is_on_by_default: true,
    admit: None,
    validate: Some(Validate::Plain(validate)),
};

/// The stored object decides, not that of the request: GPL-DELCONF-002, GPL-DELCONF-005.
fn validate(attributes: &Attributes<'_>, _: Option<&Value>) -> Result<(), Rejection> {
    if attributes.operation != Operation::Delete
        || !matches!(attributes.kind, "Shoot" | "Project" | "ShootState")
    {
        return Ok(());
    }
    if attributes.name.is_empty() {
        return validate_all(attributes);
    }
    let Attributes { objects, resource, namespace, name, .. } = *attributes;
    let object = objects.get(resource, namespace, name).ok_or_else(|| messages::not_found(resource, name))?;
    confirmed(attributes, &object)
}

/// One object of the namespace that is not confirmed blocks the deletion of a collection, whatever the request selects. The
/// original's error is no API status: GPL-DELCONF-003, GPL-DELCONF-004.
fn validate_all(attributes: &Attributes<'_>) -> Result<(), Rejection> {
    let text =
        |object: &Value, field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    let mut errors = Vec::new();
    for object in attributes.objects.list(attributes.resource) {
        let name = text(&object, "name");
        if text(&object, "namespace") == attributes.namespace
            && let Err(refused) = confirmed(&Attributes { name: &name, ..*attributes }, &object)
        {
            errors.push(refused.message);
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(messages::plain(messages::listed(&errors))) }
}

/// GPL-DELCONF-001.
fn confirmed(attributes: &Attributes<'_>, object: &Value) -> Result<(), Rejection> {
    if object::annotation(object, CONFIRMATION_DELETION)?.is_some_and(is_true) {
        return Ok(());
    }
    let why = format!("must have a \"{CONFIRMATION_DELETION}\" annotation to delete");
    Err(messages::forbidden(attributes, None, why))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::lookup::SHOOTS;
    use crate::admission::testing::TestGarden;

    fn shoot(namespace: &str, name: &str, confirmation: Option<&str>) -> Value {
        let mut shoot = json!({"metadata": {"namespace": namespace, "name": name}});
        if let Some(confirmation) = confirmation {
            shoot["metadata"]["annotations"] = json!({CONFIRMATION_DELETION: confirmation});
        }
        shoot
    }

    const WHY: &str = "must have a \"confirmation.gardener.cloud/deletion\" annotation to delete";

    #[rstest]
    #[case(Some("1"), true)]
    #[case(Some("t"), true)]
    #[case(Some("T"), true)]
    #[case(Some("true"), true)]
    #[case(Some("TRUE"), true)]
    #[case(Some("True"), true)]
    #[case(Some("yes"), false)]
    #[case(Some("false"), false)]
    #[case(Some(""), false)]
    #[case(None, false)]
    fn a_deletion_is_confirmed_by_go_s_true(#[case] confirmation: Option<&str>, #[case] is_confirmed: bool) {
        let stored = shoot("n", "app", confirmation);
        let garden = TestGarden::default().with(SHOOTS, stored.clone());
        let refused = validate(&garden.attributes(Operation::Delete, "Shoot", &stored), None).err();
        let want = (!is_confirmed).then(|| format!("shoots.core.gardener.cloud \"app\" is forbidden: {WHY}"));
        assert_eq!(refused.map(|rejection| rejection.message), want);
    }

    #[test]
    fn the_stored_object_decides() {
        let sent = shoot("n", "gone", Some("true"));
        let garden = TestGarden::default();
        let gone = validate(&garden.attributes(Operation::Delete, "Shoot", &sent), None).unwrap_err();
        assert_eq!(
            (gone.code, gone.message.as_str()),
            (404, "shoots.core.gardener.cloud \"gone\" not found")
        );
        let seed = json!({"metadata": {"name": "s"}});
        assert_eq!(validate(&garden.attributes(Operation::Delete, "Seed", &seed), None), Ok(()));
        assert_eq!(validate(&garden.attributes(Operation::Update, "Shoot", &sent), None), Ok(()));
    }

    #[test]
    fn one_unconfirmed_object_of_the_namespace_blocks_a_collection() {
        let asked = shoot("n", "", None);
        let all_confirmed = TestGarden::default()
            .with(SHOOTS, shoot("n", "a", Some("true")))
            .with(SHOOTS, shoot("other", "z", None));
        assert_eq!(validate(&all_confirmed.attributes(Operation::Delete, "Shoot", &asked), None), Ok(()));
        let garden = all_confirmed.with(SHOOTS, shoot("n", "b", None));
        let refused = validate(&garden.attributes(Operation::Delete, "Shoot", &asked), None).unwrap_err();
        let message =
            format!("1 error occurred:\n\t* shoots.core.gardener.cloud \"b\" is forbidden: {WHY}\n\n");
        assert_eq!((refused.code, refused.reason.as_str(), refused.message), (500, "", message));
    }
}
