//! Our resource-manager, asked by a real API server through its Service.

use std::time::Instant;

use serde_json::{Value, json};

use crate::cluster::Running;

/// A namespace as gardenlet makes them for control planes.
fn namespace(running: &Running, name: &str) -> Result<Value, String> {
    running.created(&json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": name, "labels": {
            "gardener.cloud/role": "shoot", "high-availability-config.resources.gardener.cloud/consider": "true",
        }},
    }))
}

pub(crate) fn a_deployment_is_mutated_by_every_webhook_that_selects_it_and_runs(
    running: &Running,
) -> Result<(), String> {
    namespace(running, "shoot--e2e--one")?;
    let deployment = running.created(&json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "server", "namespace": "shoot--e2e--one", "labels": {
            "high-availability-config.resources.gardener.cloud/type": "server",
        }},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "server"}},
            "template": {"metadata": {"labels": {"app": "server"}}, "spec": {"containers": [
                {"name": "server", "image": running.image()?, "imagePullPolicy": "Never"},
            ]}},
        },
    }))?;
    same(&deployment["spec"]["replicas"], &json!(2), "replicas")?;
    let toleration =
        |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60});
    let template = &deployment["spec"]["template"]["spec"];
    let tolerations =
        json!([toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable")]);
    same(&template["tolerations"], &tolerations, "tolerations")?;
    let constraint = &template["topologySpreadConstraints"][0];
    same(&constraint["topologyKey"], &json!("kubernetes.io/hostname"), "topology key")?;
    running.until(&deployment, |found| found["status"]["availableReplicas"] == 2)?;
    let pods = running.ask("/api/v1/namespaces/shoot--e2e--one/pods")?;
    let profiles: Vec<&Value> = pods["items"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|pod| &pod["spec"]["securityContext"]["seccompProfile"]["type"])
        .collect();
    same(&json!(profiles), &json!(["RuntimeDefault", "RuntimeDefault"]), "seccomp profiles of its pods")
}

pub(crate) fn the_deletion_of_a_protected_crd_is_refused_in_our_words(
    running: &Running,
) -> Result<(), String> {
    let crd = running.created(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "things.e2e.example.test",
            "labels": {"gardener.cloud/deletion-protected": "true"},
        },
        "spec": {
            "group": "e2e.example.test", "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    }))?;
    let refused = running.delete(&crd)?;
    let words = refused.message();
    if refused.is_success() || !words.contains("confirmation.gardener.cloud/deletion") {
        return Err(format!("deleting it was answered by {}: {words}", refused.code));
    }
    let confirmed = json!({"metadata": {"annotations": {"confirmation.gardener.cloud/deletion": "true"}}});
    running.patch(&crd, &confirmed)?;
    let deleted = running.delete(&crd)?;
    if deleted.is_success() { Ok(()) } else { Err(deleted.message()) }
}

pub(crate) fn a_secret_that_a_managed_resource_names_becomes_objects(
    running: &Running,
) -> Result<(), String> {
    namespace(running, "shoot--e2e--two")?;
    let made = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "made", "namespace": "shoot--e2e--two"}});
    running.created(&json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "objects", "namespace": "shoot--e2e--two"},
        "stringData": {"made.yaml": made.to_string()},
    }))?;
    let resource = running.created(&json!({
        "apiVersion": "resources.gardener.cloud/v1alpha1", "kind": "ManagedResource",
        "metadata": {"name": "one", "namespace": "shoot--e2e--two"},
        "spec": {"class": "seed", "secretRefs": [{"name": "objects"}]},
    }))?;
    running.until(&made, |found| found["kind"] == "ConfigMap")?;
    running.until(&resource, |found| {
        let mut conditions = found["status"]["conditions"].as_array().into_iter().flatten();
        conditions.any(|condition| condition["type"] == "ResourcesHealthy" && condition["status"] == "True")
    })?;
    running.delete(&resource)?;
    running.until(&made, |found| found["code"] == 404).map(|_| ())
}

pub(crate) fn without_the_pod_the_failure_policy_refuses_and_with_the_next_one_all_goes_on(
    running: &Running,
) -> Result<(), String> {
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "gardener-resource-manager", "namespace": "garden"},
    });
    let pod = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": {"containers": [{"name": "one", "image": "none", "imagePullPolicy": "Never"}]},
        })
    };
    running.patch(&deployment, &json!({"spec": {"replicas": 0}}))?;
    running.until(&deployment, |found| found["status"]["replicas"].as_u64().unwrap_or(0) == 0)?;
    let begun = Instant::now();
    let refused = loop {
        let reply = running.create(&pod("refused"))?;
        if !reply.is_success() {
            break reply.message();
        }
        running.delete(&pod("refused"))?;
        if begun.elapsed().as_secs() > 60 {
            return Err("pods are still created without the webhooks".to_owned());
        }
    };
    if !refused.contains("failed calling webhook") {
        return Err(format!("refused in other words: {refused}"));
    }
    running.patch(&deployment, &json!({"spec": {"replicas": 1}}))?;
    let begun = Instant::now();
    let message = loop {
        let reply = running.create(&pod("allowed"))?;
        if reply.is_success() {
            break None;
        }
        if begun.elapsed().as_secs() > 120 {
            break Some(reply.message());
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    running.delete(&pod("allowed"))?;
    message.map_or(Ok(()), Err)
}

fn same(got: &Value, want: &Value, what: &str) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{what}: want {want:#}, got {got:#}")) }
}
