//! Writes and deletes ManagedResources with the Secrets of their objects. OPC-005 to -009.

use api::resources::{API_VERSION, GARBAGE_COLLECTABLE};
use controller::reconcile::merge_patch;
use kube::Client;
use serde_json::{Value, json};

use super::error::StepError;
use super::{direct, objects};
use crate::components::rendering::ObjectName;
use crate::components::{DirectStep, ManagedObjects, references};

/// Begin of the name of the Secret that former versions wrote.
const SECRET_PREFIX: &str = "managedresource-";

/// Which Secrets go with a ManagedResource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeletedSecrets {
    /// Those that it refers to, and that of former versions.
    All,
    /// That of former versions.
    Former,
}

/// Writes the Secret, then the ManagedResource, then marks Secrets that it referred to before as garbage.
///
/// # Errors
/// If the objects have no YAML form, or the API server refuses.
pub(super) async fn write(client: &Client, managed: &ManagedObjects) -> Result<(), StepError> {
    let [secret, resource] = managed.written()?;
    direct::perform(client, &DirectStep::CreateOrLabel(secret))
        .await
        .map_err(|error| error.within("could not create or update secret of managed resources"))?;
    write_resource(client, &resource)
        .await
        .map_err(|error| error.within("could not create or update managed resource"))
}

/// Deletes the Secrets, so that they are not forgotten, then the ManagedResource; absent ones are no failure.
///
/// # Errors
/// If the API server refuses.
pub(super) async fn delete(
    client: &Client,
    (namespace, name): (&str, &str),
    secrets: DeletedSecrets,
) -> Result<(), StepError> {
    let resource = resource_name(namespace, name);
    let live = objects::read(client, &resource)
        .await
        .map_err(|error| error.within(format!("could not get managed resource '{namespace}/{name}'")))?;
    let referenced = live.as_ref().filter(|_| secrets == DeletedSecrets::All).map(secrets_of);
    let former = format!("{SECRET_PREFIX}{name}");
    for secret in std::iter::once(former).chain(referenced.unwrap_or_default()) {
        objects::delete(client, &secret_name(namespace, &secret)).await.map_err(|error| {
            error.within(format!("could not delete secret '{namespace}/{secret}' of managed resource"))
        })?;
    }
    objects::delete(client, &resource)
        .await
        .map_err(|error| error.within(format!("could not delete managed resource '{namespace}/{name}'")))
}

async fn write_resource(client: &Client, wanted: &Value) -> Result<(), StepError> {
    let name = objects::name(wanted);
    let Some(live) = objects::read(client, &name).await? else {
        return objects::create(client, wanted).await.map(drop);
    };
    if let Some(patch) = patch(&live, wanted) {
        objects::patch(client, &name, &patch).await?;
    }
    let current = secrets_of(wanted);
    let mut former = secrets_of(&live);
    former.retain(|secret| !current.contains(secret));
    for secret in former {
        mark_as_garbage(client, &secret_name(&name.namespace, &secret)).await?;
    }
    Ok(())
}

async fn mark_as_garbage(client: &Client, secret: &ObjectName) -> Result<(), StepError> {
    let Some(live) = objects::read(client, secret).await? else { return Ok(()) };
    if live["metadata"]["labels"][GARBAGE_COLLECTABLE] == "true" {
        return Ok(());
    }
    objects::patch(client, secret, &json!({"metadata": {"labels": {GARBAGE_COLLECTABLE: "true"}}})).await
}

/// Labels and annotations are added, the specification is replaced, and annotations for former Secrets go.
fn patch(live: &Value, wanted: &Value) -> Option<Value> {
    let former = references::former(&live["metadata"], &wanted["metadata"]);
    let mut patch = merge_patch::between(live, wanted);
    if !former.is_empty() {
        let patch = patch.get_or_insert_with(|| json!({}));
        for key in former {
            patch["metadata"]["annotations"][key] = Value::Null;
        }
    }
    patch
}

fn secrets_of(resource: &Value) -> Vec<String> {
    let references = resource["spec"]["secretRefs"].as_array();
    references.into_iter().flatten().filter_map(|of| of["name"].as_str().map(str::to_owned)).collect()
}

/// The name of a ManagedResource.
pub(super) fn resource_name(namespace: &str, name: &str) -> ObjectName {
    ObjectName {
        api_version: API_VERSION.to_owned(),
        kind: "ManagedResource".to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    }
}

fn secret_name(namespace: &str, name: &str) -> ObjectName {
    ObjectName {
        api_version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::rendering::name_of;

    #[test]
    fn the_specification_is_replaced_and_former_references_go() {
        let live = json!({
            "metadata": {
                "name": "m", "labels": {"own": "stays"},
                "annotations": {"own": "stays", "reference.resources.gardener.cloud/secret-1": "s-1"},
            },
            "spec": {"secretRefs": [{"name": "s-1"}], "class": "seed", "keepObjects": false, "forced": true},
        });
        let wanted = json!({
            "metadata": {
                "name": "m", "labels": {"a": "b"},
                "annotations": {"reference.resources.gardener.cloud/secret-2": "s-2"},
            },
            "spec": {"secretRefs": [{"name": "s-2"}], "class": "seed", "keepObjects": false},
        });
        let want = json!({
            "metadata": {
                "labels": {"a": "b"},
                "annotations": {
                    "reference.resources.gardener.cloud/secret-1": null,
                    "reference.resources.gardener.cloud/secret-2": "s-2",
                },
            },
            "spec": {"secretRefs": [{"name": "s-2"}], "forced": null},
        });
        assert_eq!(patch(&live, &wanted), Some(want));
        assert_eq!(patch(&wanted, &wanted), None);
    }

    #[test]
    fn a_former_reference_alone_is_a_change() {
        let wanted = json!({"metadata": {"name": "m"}, "spec": {}});
        let mut live = wanted.clone();
        live["metadata"]["annotations"]["reference.resources.gardener.cloud/secret-1"] = "s-1".into();
        let want = json!({
            "metadata": {"annotations": {"reference.resources.gardener.cloud/secret-1": null}},
        });
        assert_eq!(patch(&live, &wanted), Some(want));
    }

    #[test]
    fn the_former_secret_has_the_name_that_renderings_give_it() {
        let managed = ManagedObjects::in_runtime("m", Vec::new());
        assert_eq!(format!("{SECRET_PREFIX}{}", managed.name), managed.former_secret_name());
        assert!(name_of(&managed.written().unwrap()[0]).starts_with(SECRET_PREFIX));
    }
}
