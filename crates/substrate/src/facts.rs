//! Facts: objects that stand before a request, written as another user would have written them.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::certificate_request;
use crate::cluster::{Cluster, ClusterError, Reply, resource};

/// Holds an object whose deletion has begun.
const HOLD: &str = "conformance.gardener.cloud/hold";

/// How often a removal is begun, 20 ms apart: a server's own controllers have a say in some kinds.
const REMOVALS: usize = 100;
/// How long a namespace may take to go, and the pauses between two looks.
const PATIENCE: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
/// How often a status is written that somebody else changed meanwhile.
const WRITES: usize = 20;
/// Metadata that only a server sets.
const SERVER_SET: [&str; 7] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "managedFields",
    "selfLink",
    "deletionGracePeriodSeconds",
];

/// An object without what only a server sets, its deletionTimestamp included.
#[must_use]
pub fn stripped(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|field, _| !SERVER_SET.contains(&field.as_str()) && field != "deletionTimestamp");
    }
    object
}

/// Whether the deletion of the object has begun.
#[must_use]
pub fn is_deleting(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].as_str().is_some()
}

/// What was there before a namespace was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Before {
    /// Nothing: it was made.
    Nothing,
    /// It was there and was left alone.
    Same,
    /// It was there as this, and was replaced.
    Other(Value),
}

/// Makes sure that a namespace exists; `object` says more of it than its name.
///
/// # Errors
/// When the server refuses it or cannot be asked.
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

/// Writes the service account that every namespace has, as a controller would: no API server takes pods without.
///
/// # Errors
/// When the server refuses it or cannot be asked.
pub async fn write_account(cluster: &Cluster, namespace: &str) -> Result<(), ClusterError> {
    let metadata = json!({"name": "default", "namespace": namespace});
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata});
    let reply = cluster.create(&account, "").await?;
    if reply.code == 409 { Ok(()) } else { expect(&reply, &account) }
}

/// Writes one object: its status through the status subresource, a begun deletion by a finalizer and a delete; a
/// certificate request as the user that it names, a decision about it through its subresource.
/// Gives it back as it stands then.
///
/// # Errors
/// When the server refuses it or cannot be asked.
pub async fn write(cluster: &Cluster, object: &Value) -> Result<Value, ClusterError> {
    let mut wanted = stripped(object);
    let deleting = is_deleting(object);
    if deleting {
        let finalizers = wanted["metadata"]["finalizers"].as_array().is_none_or(Vec::is_empty);
        if finalizers {
            wanted["metadata"]["finalizers"] = json!([HOLD]);
        }
    }
    let has_status = resource(&wanted)?.subresources.iter().any(|subresource| subresource.name == "status");
    let mut created = wanted.clone();
    if has_status && let Some(fields) = created.as_object_mut() {
        // The server leaves it out, but what it asks before may look at it: gardener-apiserver lets nobody create a Shoot
        // that is being restored.
        fields.remove("status");
    }
    let reply = match certificate_request::asker(&wanted) {
        Some(asker) => cluster.speaking_for(asker).create(&created, "").await?,
        None => cluster.create(&created, "").await?,
    };
    expect(&reply, &wanted)?;
    let mut written = reply.body;
    if let Some(decided) = certificate_request::decided(&wanted) {
        written = write_status(cluster, written, "approval", decided).await?;
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

/// As [`write()`], in the place of an object that somebody left: one whose creation was answered to nobody.
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

/// As [`write()`], over an object that a controller of the cluster made first, as every namespace's own service account.
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
    // It is there, or its controller came between the look and the writing.
    let reply = cluster.replace(&stripped(object), "", "").await?;
    expect(&reply, object).map(|()| reply.body)
}

/// Writes a status, again where a controller of the server was faster.
async fn write_status(
    cluster: &Cluster,
    mut written: Value,
    subresource: &str,
    status: &Value,
) -> Result<Value, ClusterError> {
    for _ in 0..WRITES {
        written["status"] = status.clone();
        let reply = cluster.replace(&written, subresource, "").await?;
        if reply.code != 409 {
            return expect(&reply, &written).map(|()| reply.body);
        }
        written = cluster.get(&written).await?.body;
    }
    Err(ClusterError::Refused {
        what: describe(&written),
        message: "its status changes all the time".to_owned(),
    })
}

/// Removes an object, its finalizers first; absent is fine.
///
/// # Errors
/// When the server refuses it or cannot be asked.
pub async fn remove(cluster: &Cluster, object: &Value) -> Result<(), ClusterError> {
    for _ in 0..REMOVALS {
        let found = cluster.get(object).await?;
        if found.code == 404 {
            return Ok(());
        }
        expect(&found, object)?;
        let mut bare = found.body;
        if bare["metadata"]["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty()) {
            bare["metadata"]["finalizers"] = Value::Null;
            // A conflict is answered by the next round.
            cluster.replace(&bare, "", "").await?;
        }
        // A pod on a node would wait for the kubelet, which nobody is.
        let reply = cluster.delete(object, "gracePeriodSeconds=0").await?;
        if reply.is_success() && is_deleting(&reply.body) {
            cluster.finalize(&reply.body).await?;
        } else if reply.is_success() || reply.code == 404 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Err(ClusterError::Refused { what: describe(object), message: "it is still there".to_owned() })
}

/// Brings a namespace back to what it was; one that was made is deleted, and waited for if another case may want
/// its name.
///
/// # Errors
/// When the server refuses it, cannot be asked, or the namespace is still there after 30 seconds.
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
    let (begun, mut pause) = (Instant::now(), FIRST_PAUSE);
    while begun.elapsed() < PATIENCE {
        // A deletion that had begun before is refused, and ended all the same.
        let found = cluster.get(&namespace).await?;
        if found.code == 404 {
            return Ok(());
        }
        cluster.finalize(&found.body).await?;
        if !wait {
            return Ok(());
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    Err(ClusterError::Refused { what: describe(&namespace), message: "it is still there".to_owned() })
}

/// Lets every user make certificate requests, as those are made by whom they name: a cluster with roles would refuse them.
///
/// # Errors
/// When the server refuses it or cannot be asked.
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
    async fn what_somebody_left_is_made_anew_and_what_is_wrong_is_refused() {
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
    async fn a_namespace_is_given_its_account_once_and_goes_with_all_that_is_in_it() {
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
