//! Facts: objects that a case needs before its request, written as if another user had created them.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::certificate_request;
use crate::cluster::{Cluster, ClusterError, Reply, resource};

/// The finalizer that keeps a deleted object.
const HOLD_FINALIZER: &str = "conformance.gardener.cloud/hold";

/// How many times a removal is attempted, 20 ms apart: controllers of the server may interfere.
const MAX_REMOVALS: usize = 100;
/// The timeout of a namespace's deletion, and the pauses between checks.
const NAMESPACE_TIMEOUT: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const MAX_PAUSE: Duration = Duration::from_millis(100);
/// How many times a status is written in case of conflicts.
const MAX_STATUS_WRITES: usize = 20;
/// Metadata that only the server sets.
const SERVER_SET: [&str; 7] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "managedFields",
    "selfLink",
    "deletionGracePeriodSeconds",
];

/// A copy of an object without the metadata that only the server sets, including its deletionTimestamp.
#[must_use]
pub fn stripped(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|field, _| !SERVER_SET.contains(&field.as_str()) && field != "deletionTimestamp");
    }
    object
}

/// Whether the object is being deleted.
#[must_use]
pub fn is_deleting(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].as_str().is_some()
}

/// The state of a namespace before it was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Before {
    /// It did not exist.
    Nothing,
    /// It existed and was not changed.
    Same,
    /// It existed like this, and was replaced.
    Other(Value),
}

/// Makes sure that a namespace exists; `object` has its other fields.
///
/// # Errors
/// When the server refuses it or cannot be reached.
pub async fn write_namespace(
    cluster: &Cluster,
    name: &str,
    object: Option<&Value>,
) -> Result<Before, ClusterError> {
    let mut namespace = object.map_or_else(|| json!({}), stripped);
    namespace["apiVersion"] = json!("v1");
    namespace["kind"] = json!("Namespace");
    namespace["metadata"]["name"] = json!(name);
    let reply = cluster.create(&namespace, "").await?;
    if reply.code != 409 {
        return expect(&reply, &namespace).map(|()| Before::Nothing);
    }
    if object.is_none() {
        return Ok(Before::Same);
    }
    let before = cluster.get(&namespace).await?;
    expect(&before, &namespace)?;
    expect(&cluster.replace(&namespace, "", "").await?, &namespace)?;
    Ok(Before::Other(stripped(&before.body)))
}

/// Creates the default service account of a namespace, as a controller would: without it, API servers refuse pods.
///
/// # Errors
/// When the server refuses it or cannot be reached.
pub async fn write_account(cluster: &Cluster, namespace: &str) -> Result<(), ClusterError> {
    let metadata = json!({"name": "default", "namespace": namespace});
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata});
    let reply = cluster.create(&account, "").await?;
    if reply.code == 409 { Ok(()) } else { expect(&reply, &account) }
}

/// Writes an object: its status through the status subresource, its deletion by a finalizer and a delete request, a
/// CertificateSigningRequest as the user that it names, and its approval through the subresource. Returns the stored
/// object.
///
/// # Errors
/// When the server refuses it or cannot be reached.
pub async fn write(cluster: &Cluster, object: &Value) -> Result<Value, ClusterError> {
    let mut wanted = stripped(object);
    let deleting = is_deleting(object);
    if deleting {
        let finalizers = wanted["metadata"]["finalizers"].as_array().is_none_or(Vec::is_empty);
        if finalizers {
            wanted["metadata"]["finalizers"] = json!([HOLD_FINALIZER]);
        }
    }
    let has_status = resource(&wanted)?.subresources.iter().any(|subresource| subresource.name == "status");
    let mut created = wanted.clone();
    if has_status && let Some(fields) = created.as_object_mut() {
        // The server drops the status, but admission may read it: gardener-apiserver refuses to create a Shoot that is
        // being restored.
        fields.remove("status");
    }
    let reply = match certificate_request::requestor(&wanted) {
        Some(requestor) => cluster.speaking_for(requestor).create(&created, "").await?,
        None => cluster.create(&created, "").await?,
    };
    expect(&reply, &wanted)?;
    let mut written = reply.body;
    if let Some(decision) = certificate_request::decision_status(&wanted) {
        written = write_status(cluster, written, "approval", decision).await?;
    }
    if let Some(status) = wanted.get("status").filter(|status| has_status && !status.is_null()) {
        written = write_status(cluster, written, "status", status).await?;
    }
    if deleting {
        expect(&cluster.delete(&wanted, "").await?, &wanted)?;
        let reply = cluster.get(&wanted).await?;
        expect(&reply, &wanted)?;
        written = reply.body;
    }
    Ok(written)
}

/// As [`write()`], replacing a leftover object, such as one whose create request was never answered.
///
/// # Errors
/// As [`write()`].
pub async fn write_anew(cluster: &Cluster, object: &Value) -> Result<Value, ClusterError> {
    match write(cluster, object).await {
        Err(ClusterError::Refused { .. }) if cluster.get(object).await?.is_success() => {
            remove(cluster, object).await?;
            write(cluster, object).await
        }
        written => written,
    }
}

/// As [`write()`], but replaces the service account `default`, which a controller of the cluster may have created.
///
/// # Errors
/// As [`write()`].
pub async fn write_over(cluster: &Cluster, object: &Value) -> Result<Value, ClusterError> {
    let is_account = object["kind"] == "ServiceAccount" && object["metadata"]["name"] == "default";
    if !is_account {
        return write(cluster, object).await;
    }
    if !cluster.get(object).await?.is_success()
        && let Ok(written) = write(cluster, object).await
    {
        return Ok(written);
    }
    // It exists, or its controller created it in between.
    let reply = cluster.replace(&stripped(object), "", "").await?;
    expect(&reply, object).map(|()| reply.body)
}

/// Writes a status, with retries on conflicts.
async fn write_status(
    cluster: &Cluster,
    mut written: Value,
    subresource: &str,
    status: &Value,
) -> Result<Value, ClusterError> {
    for _ in 0..MAX_STATUS_WRITES {
        written["status"] = status.clone();
        let reply = cluster.replace(&written, subresource, "").await?;
        if reply.code != 409 {
            return expect(&reply, &written).map(|()| reply.body);
        }
        written = cluster.get(&written).await?.body;
    }
    Err(ClusterError::Refused {
        what: describe(&written),
        message: "other clients keep changing its status".to_owned(),
    })
}

/// Removes an object, its finalizers first; it may be absent.
///
/// # Errors
/// When the server refuses it or cannot be reached.
pub async fn remove(cluster: &Cluster, object: &Value) -> Result<(), ClusterError> {
    for _ in 0..MAX_REMOVALS {
        let found = cluster.get(object).await?;
        if found.code == 404 {
            return Ok(());
        }
        expect(&found, object)?;
        let mut bare = found.body;
        if bare["metadata"]["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty()) {
            bare["metadata"]["finalizers"] = Value::Null;
            // After a conflict, the next round retries.
            cluster.replace(&bare, "", "").await?;
        }
        // A pod on a node would wait for a kubelet.
        let reply = cluster.delete(object, "gracePeriodSeconds=0").await?;
        if reply.is_success() && is_deleting(&reply.body) {
            cluster.finalize(&reply.body).await?;
        } else if reply.is_success() || reply.code == 404 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Err(ClusterError::Refused { what: describe(object), message: "the object still exists".to_owned() })
}

/// Restores a namespace; deletes it if it did not exist before, and waits for that if another case may need its name.
///
/// # Errors
/// When the server refuses it, cannot be reached, or the namespace still exists after 30 seconds.
pub async fn restore_namespace(
    cluster: &Cluster,
    name: &str,
    before: &Before,
    wait: bool,
) -> Result<(), ClusterError> {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    match before {
        Before::Same => return Ok(()),
        Before::Other(object) => return expect(&cluster.replace(object, "", "").await?, object),
        Before::Nothing => {
            cluster.merge_patch(&namespace, "", &json!({"metadata": {"finalizers": null}})).await?;
            cluster.delete(&namespace, "").await?
        }
    };
    let (started_at, mut pause) = (Instant::now(), FIRST_PAUSE);
    while started_at.elapsed() < NAMESPACE_TIMEOUT {
        // A repeated deletion is refused, but the namespace is still finalized.
        let found = cluster.get(&namespace).await?;
        if found.code == 404 {
            return Ok(());
        }
        cluster.finalize(&found.body).await?;
        if !wait {
            return Ok(());
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
    Err(ClusterError::Refused { what: describe(&namespace), message: "the object still exists".to_owned() })
}

/// Allows every user to create CertificateSigningRequests, which are created as the users that they name: with RBAC
/// they would be refused.
///
/// # Errors
/// When the server refuses it or cannot be reached.
pub async fn let_askers_in(client: &kube::Client) -> Result<(), ClusterError> {
    const ROLE: &str = "gardener-conformance:askers";
    const GROUP: &str = "rbac.authorization.k8s.io";
    let api_version = format!("{GROUP}/v1");
    let cluster = Cluster::new(client.clone());
    let role = json!({
        "apiVersion": api_version, "kind": "ClusterRole", "metadata": {"name": ROLE},
        "rules": [{
            "apiGroups": ["certificates.k8s.io"], "resources": ["certificatesigningrequests"], "verbs": ["create"],
        }],
    });
    let binding = json!({
        "apiVersion": api_version, "kind": "ClusterRoleBinding", "metadata": {"name": ROLE},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": ROLE},
        "subjects": [{"apiGroup": GROUP, "kind": "Group", "name": "system:authenticated"}],
    });
    for object in [role, binding] {
        let reply = cluster.create(&object, "").await?;
        if reply.code != 409 {
            expect(&reply, &object)?;
        }
    }
    Ok(())
}

fn expect(reply: &Reply, object: &Value) -> Result<(), ClusterError> {
    if reply.is_success() {
        return Ok(());
    }
    Err(ClusterError::Refused { what: describe(object), message: reply.message() })
}

fn describe(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::Embedded;

    #[tokio::test]
    async fn leftover_objects_are_replaced_and_invalid_ones_refused() {
        let server = Embedded::start(false, None).await.unwrap();
        let cluster = Cluster::new(server.client());
        let named = |data: Value| {
            let metadata = json!({"name": "a", "namespace": "default"});
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
        };
        let left = write(&cluster, &named(json!({"left": "x"}))).await.unwrap();
        assert!(write(&cluster, &named(json!({"wanted": "y"}))).await.is_err());
        let written = write_anew(&cluster, &named(json!({"wanted": "y"}))).await.unwrap();
        assert_eq!(written["data"], json!({"wanted": "y"}));
        assert_ne!(written["metadata"]["uid"], left["metadata"]["uid"]);
        let wrong = write_anew(&cluster, &named(json!({"no key": "y"}))).await;
        assert!(matches!(wrong, Err(ClusterError::Refused { .. })), "{wrong:?}");
    }

    #[tokio::test]
    async fn a_namespace_gets_its_account_once_and_is_deleted_with_its_content() {
        let server = Embedded::start(false, None).await.unwrap();
        let cluster = Cluster::without_controllers(server.client());
        write_namespace(&cluster, "a", None).await.unwrap();
        let metadata = json!({"name": "default", "namespace": "a"});
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata});
        for _ in 0..2 {
            write_account(&cluster, "a").await.unwrap();
            assert!(cluster.get(&account).await.unwrap().is_success());
        }
        let nowhere = write_account(&cluster, "nowhere").await;
        assert!(matches!(nowhere, Err(ClusterError::Refused { .. })), "{nowhere:?}");
        restore_namespace(&cluster, "a", &Before::Nothing, true).await.unwrap();
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}});
        assert_eq!(cluster.get(&namespace).await.unwrap().code, 404);
    }
}
