//! Our resource-manager for a Shoot: its source is a namespace of a seed, its target a cluster that it reaches with a kubeconfig
//! and a token. In this test, one cluster is both.

use std::path::Path;

use serde_json::{Value, json};
use substrate::identity::Identity;

use crate::cluster::{Running, check};

const MANIFESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kind/manifests/resource-manager/shoot");
const NAMESPACE: &str = "shoot--local--local";
const IMAGE: &str = "gardener-conformance/gardener-resource-manager:local";

pub(crate) fn it_acts_in_the_target_with_a_token_and_reads_its_namespace_of_the_source_alone(
    running: &Running,
) -> Result<(), String> {
    running.created(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}))?;
    let target = Path::new(MANIFESTS).join("target").display().to_string();
    check_output(running.kubectl(&["apply", "--kustomize", &target])?)?;
    for secret in secrets(running)? {
        running.created(&secret)?;
    }
    install(running)?;
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "gardener-resource-manager", "namespace": NAMESPACE},
    });
    running.wait_until(&deployment, |found| found["status"]["availableReplicas"] == 1)?;
    let made = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "of-the-shoot", "namespace": "kube-system"}});
    running.created(&json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "objects", "namespace": NAMESPACE},
        "stringData": {"made.yaml": made.to_string()},
    }))?;
    let resource = running.created(&json!({
        "apiVersion": "resources.gardener.cloud/v1alpha1", "kind": "ManagedResource",
        "metadata": {"name": "one", "namespace": NAMESPACE}, "spec": {"secretRefs": [{"name": "objects"}]},
    }))?;
    running.wait_until(&resource, |found| {
        let conditions = || found["status"]["conditions"].as_array().into_iter().flatten();
        ["ResourcesApplied", "ResourcesHealthy"].iter().all(|kind| {
            conditions().any(|condition| condition["type"] == *kind && condition["status"] == "True")
        })
    })?;
    running.wait_until(&made, |found| found["kind"] == "ConfigMap")?;
    check(&running.delete(&resource)?)?;
    running.wait_until(&made, |found| found["code"] == 404)?;
    // It must not read other namespaces of its source.
    let account = format!("--as=system:serviceaccount:{NAMESPACE}:gardener-resource-manager");
    let (may, output) =
        running.kubectl(&["auth", "can-i", "list", "secrets", "--namespace=garden", &account])?;
    if may { Err(format!("it may read the Secrets in garden: {output}")) } else { Ok(()) }
}

/// The Secrets that gardenlet creates for it: a certificate, a kubeconfig without a token, and the token.
fn secrets(running: &Running) -> Result<[Value; 3], String> {
    let secret = |name: &str, data: Value| {
        json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": NAMESPACE},
            "stringData": data,
        })
    };
    let server = format!("gardener-resource-manager.{NAMESPACE}");
    let server = Identity::made("server", [server]).map_err(|error| error.to_string())?;
    let token = ["create", "token", "gardener-resource-manager", "--namespace=kube-system"];
    let token = check_output(running.kubectl(&token)?)?;
    let roots = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt", "namespace": NAMESPACE}});
    let roots = running.wait_until(&roots, |found| found["data"]["ca.crt"].is_string())?;
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "shoot",
        "contexts": [{"name": "shoot", "context": {"cluster": "shoot", "user": "shoot"}}],
        "clusters": [{"name": "shoot", "cluster": {
            "server": "https://kubernetes.default.svc",
            "certificate-authority-data": crate::cluster::base64(roots["data"]["ca.crt"].as_str().unwrap_or_default()),
        }}],
        "users": [{"name": "shoot", "user": {
            "tokenFile": "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/token",
        }}],
    });
    Ok([
        secret(
            "gardener-resource-manager-server",
            json!({"tls.crt": server.certificate, "tls.key": server.key}),
        ),
        secret("generic-token-kubeconfig", json!({"kubeconfig": kubeconfig.to_string()})),
        secret("shoot-access-gardener-resource-manager", json!({"token": token.trim()})),
    ])
}

fn install(running: &Running) -> Result<(), String> {
    let objects = check_output(running.kubectl(&["kustomize", MANIFESTS])?)?;
    let objects = objects.replace("image: gardener-resource-manager\n", &format!("image: {IMAGE}\n"));
    let file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    std::fs::write(file.path(), objects).map_err(|error| error.to_string())?;
    check_output(running.kubectl(&["apply", "--filename", &file.path().display().to_string()])?).map(|_| ())
}

fn check_output((succeeded, output): (bool, String)) -> Result<String, String> {
    if succeeded { Ok(output) } else { Err(output) }
}
