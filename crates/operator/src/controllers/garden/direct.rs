//! Does what a component has the operator do in the runtime cluster itself.

use kube::Client;
use serde_json::{Value, json};

use super::error::StepError;
use super::managed::{self, DeletedSecrets};
use super::{merge, objects};
use crate::components::rendering::{AccessSecret, ObjectAnnotation};
use crate::components::{DirectStep, NAMESPACE, references};

/// What an existing object needs.
#[derive(Debug, PartialEq)]
enum NeededWrite {
    /// It is as it should be.
    Nothing,
    /// A merge patch.
    Patch(Value),
    /// Another object in its place.
    Replace(Value),
}

/// Does one thing; what is as it should be is not written.
///
/// # Errors
/// If the API server refuses.
pub(super) async fn perform(client: &Client, step: &DirectStep) -> Result<(), StepError> {
    match step {
        DirectStep::Create(object) => objects::create(client, object).await.map(drop),
        DirectStep::Annotate(annotation) => annotate(client, annotation).await,
        DirectStep::Delete(name) => objects::delete(client, name).await,
        DirectStep::DeleteManaged(name) => {
            managed::delete(client, (NAMESPACE, name.as_str()), DeletedSecrets::All).await
        }
        DirectStep::CreateOrLabel(object) => {
            if objects::create(client, object).await? {
                return Ok(());
            }
            write(client, object, |live| as_patch(labels(live, object))).await
        }
        DirectStep::Patch(object) => write(client, object, |live| as_patch(patch(live, object))).await,
        DirectStep::PatchLocked(secret) => {
            write(client, &secret.object, |live| as_patch(locked(live, secret))).await
        }
        DirectStep::Replace(object) => write(client, object, |live| replacement(live, object)).await,
    }
}

/// Sets an annotation of an object; the API server refuses if it is absent.
async fn annotate(client: &Client, annotation: &ObjectAnnotation) -> Result<(), StepError> {
    let ObjectAnnotation { object, value, .. } = annotation;
    let key = annotation.key;
    let live = objects::read(client, object).await?;
    if live.is_some_and(|live| live["metadata"]["annotations"][key] == value.as_str()) {
        return Ok(());
    }
    objects::patch(client, object, &json!({"metadata": {"annotations": {key: value}}})).await
}

/// Creates an object, or writes what the existing one needs.
async fn write(
    client: &Client,
    object: &Value,
    needed: impl Fn(&Value) -> NeededWrite + Send,
) -> Result<(), StepError> {
    let name = objects::name(object);
    let Some(live) = objects::read(client, &name).await? else {
        if objects::create(client, object).await? {
            return Ok(());
        }
        let text = format!("{} {:?} has been created by another client", name.kind, name.name);
        return Err(StepError::State(text));
    };
    match needed(&live) {
        NeededWrite::Nothing => Ok(()),
        NeededWrite::Patch(patch) => objects::patch(client, &name, &patch).await,
        NeededWrite::Replace(object) => objects::replace(client, &object).await,
    }
}

fn as_patch(patch: Option<Value>) -> NeededWrite {
    patch.map_or(NeededWrite::Nothing, NeededWrite::Patch)
}

/// What is missing, without annotations for ConfigMaps and Secrets that a workload does not use any more. OPC-013.
fn patch(live: &Value, wanted: &Value) -> Option<Value> {
    let mut wanted = wanted.clone();
    if wanted.pointer("/spec/template").is_some() {
        references::remove_former(&mut wanted, live);
    }
    merge::missing(live, &wanted)
}

/// The labels become those that are wanted.
fn labels(live: &Value, wanted: &Value) -> Option<Value> {
    let changes = merge::changes(&live["metadata"]["labels"], &wanted["metadata"]["labels"])?;
    Some(json!({"metadata": {"labels": changes}}))
}

/// What is missing, without the data of the removed key; the patch fails if the Secret has changed.
fn locked(live: &Value, secret: &AccessSecret) -> Option<Value> {
    let mut wanted = secret.object.clone();
    if live["data"].get(secret.removed_key).is_some() {
        wanted["data"][secret.removed_key] = Value::Null;
    }
    let mut patch = merge::missing(live, &wanted)?;
    patch["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
    Some(patch)
}

/// The wanted object with finalizers and resource version of the existing one; labels and annotations of others go.
fn replacement(live: &Value, wanted: &Value) -> NeededWrite {
    let same = |field: &str| live["metadata"][field] == wanted["metadata"][field];
    if merge::missing(live, wanted).is_none() && same("labels") && same("annotations") {
        return NeededWrite::Nothing;
    }
    let mut object = wanted.clone();
    for field in ["resourceVersion", "finalizers"] {
        let value = &live["metadata"][field];
        if !value.is_null() {
            object["metadata"][field] = value.clone();
        }
    }
    NeededWrite::Replace(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_the_wanted_ones() {
        let live = json!({"metadata": {"labels": {"a": "b", "c": "d"}}});
        assert_eq!(labels(&live, &live), None);
        let wanted = json!({"metadata": {"labels": {"a": "c"}}});
        assert_eq!(labels(&live, &wanted), Some(json!({"metadata": {"labels": {"a": "c", "c": null}}})));
    }

    #[test]
    fn annotations_for_what_a_workload_no_longer_uses_go() {
        let reference = |number: u8| format!("reference.resources.gardener.cloud/secret-{number}");
        let workload = |annotations: &Value| {
            let template = json!({"metadata": {"annotations": annotations}});
            json!({"metadata": {"annotations": annotations}, "spec": {"template": template}})
        };
        let live = workload(&json!({"own": "stays", reference(1): "goes", reference(2): "stays"}));
        let wanted = workload(&json!({reference(2): "stays", reference(3): "new"}));
        let change = workload(&json!({reference(1): null, reference(3): "new"}));
        assert_eq!(patch(&live, &wanted), Some(change));
        let kept = workload(&json!({reference(1): "goes", reference(2): "stays"}));
        assert_eq!(patch(&live, &kept), None);
        let no_workload = json!({"metadata": {"annotations": {reference(2): "stays"}}});
        assert_eq!(patch(&live, &no_workload), None);
    }

    #[test]
    fn an_access_secret_keeps_its_token() {
        let object = json!({"metadata": {"name": "a", "labels": {"b": "c"}}, "type": "Opaque"});
        let secret = AccessSecret { object, removed_key: "kubeconfig" };
        let live = |data: Value| {
            json!({
                "metadata": {"name": "a", "labels": {"b": "c"}, "resourceVersion": "7"}, "type": "Opaque",
                "data": data,
            })
        };
        assert_eq!(locked(&live(json!({"token": "dA=="})), &secret), None);
        let patch = json!({"metadata": {"resourceVersion": "7"}, "data": {"kubeconfig": null}});
        assert_eq!(locked(&live(json!({"token": "dA==", "kubeconfig": "aw=="})), &secret), Some(patch));
    }

    #[test]
    fn a_replaced_object_keeps_its_finalizers() {
        let wanted = json!({"metadata": {"name": "a", "labels": {"b": "c"}}, "spec": {"x": 1}});
        let live = |spec: Value, labels: Value| {
            let metadata =
                json!({"name": "a", "labels": labels, "resourceVersion": "7", "finalizers": ["f"]});
            json!({"metadata": metadata, "spec": spec, "status": {}})
        };
        assert_eq!(
            replacement(&live(json!({"x": 1, "y": 2}), json!({"b": "c"})), &wanted),
            NeededWrite::Nothing
        );
        let object = json!({
            "metadata": {"name": "a", "labels": {"b": "c"}, "resourceVersion": "7", "finalizers": ["f"]},
            "spec": {"x": 1},
        });
        assert_eq!(
            replacement(&live(json!({"x": 2}), json!({"b": "c"})), &wanted),
            NeededWrite::Replace(object.clone())
        );
        let labelled = live(json!({"x": 1}), json!({"b": "c", "d": "e"}));
        assert_eq!(replacement(&labelled, &wanted), NeededWrite::Replace(object));
    }
}
