//! A started control plane.

use std::time::Instant;

use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::envtest::Envtest;

use crate::world::{World, assert_empty, processes};

fn config_map(name: &str, owner: Option<&Value>) -> Value {
    let mut object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"},
    });
    if let Some(owner) = owner {
        object["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
        }]);
    }
    object
}

async fn created(cluster: &Cluster, object: &Value) -> Value {
    let reply = cluster.create(object, "").await.unwrap();
    assert_eq!(reply.code, 201, "{}", reply.body);
    reply.body
}

/// The CustomResourceDefinition of a kind that is unknown to the project.
fn bastions() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "bastions.operations.gardener.cloud"},
        "spec": {
            "group": "operations.gardener.cloud", "scope": "Namespaced",
            "names": {"kind": "Bastion", "plural": "bastions", "singular": "bastion", "listKind": "BastionList"},
            "versions": [{
                "name": "v1alpha1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}

async fn code(cluster: &Cluster, object: &Value) -> u16 {
    cluster.get(object).await.unwrap().code
}

/// Waits until a GET of the object returns this code.
async fn until(cluster: &Cluster, object: &Value, want: u16) {
    let started_at = Instant::now();
    while code(cluster, object).await != want {
        assert!(started_at.elapsed().as_secs() < 60, "{} is not {want}", object["metadata"]["name"]);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

pub(crate) async fn a_server_is_ready_serves_crds_and_leaves_nothing(world: World) {
    let within = tempfile::tempdir().unwrap();
    let mut options = world.options(within.path());
    options.crds = schema::crds().iter().map(|crd| crd.json().clone()).collect();
    options.crds.push(bastions());
    let started_at = Instant::now();
    let started = Envtest::start(&options).await.unwrap();
    println!("    ready with {} CRDs after {:.2} s", options.crds.len(), started_at.elapsed().as_secs_f64());
    for program in ["etcd", "kube-apiserver"] {
        assert_eq!(processes(program, started.folder()).len(), 1, "{program}");
    }
    let kubeconfig = started.cluster("cluster").kubeconfig.clone();
    let cluster = Cluster::new(substrate::kubeconfig::client(&kubeconfig).await.unwrap());
    created(&cluster, &config_map("a", None)).await;
    let network = json!({
        "apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "Network",
        "metadata": {"name": "a", "namespace": "default"}, "spec": {"type": "calico"},
    });
    created(&cluster, &network).await;
    assert_eq!(code(&cluster, &network).await, 200);
    assert!(cluster.serves("operations.gardener.cloud", "v1alpha1", "bastions").await.unwrap());
    assert!(!cluster.serves("operations.gardener.cloud", "v1alpha1", "openings").await.unwrap());
    started.alive().unwrap();
    drop(started);
    assert_empty(within.path());
}

pub(crate) async fn concurrent_control_planes_are_independent(world: World) {
    let within = tempfile::tempdir().unwrap();
    let (first, second) = tokio::join!(world.start(within.path()), world.start(within.path()));
    let [one, other] =
        [&first, &second].map(|started| Cluster::new(started.cluster("cluster").client.clone()));
    created(&one, &config_map("a", None)).await;
    assert_eq!(
        (code(&one, &config_map("a", None)).await, code(&other, &config_map("a", None)).await),
        (200, 404)
    );
    drop(first);
    assert_eq!(code(&other, &config_map("a", None)).await, 404);
    drop(second);
    assert_empty(within.path());
}

pub(crate) async fn two_clusters_share_an_etcd_and_are_independent(world: World) {
    let within = tempfile::tempdir().unwrap();
    let mut options = world.options(within.path());
    options.clusters = vec!["source".to_owned(), "target".to_owned()];
    let started = Envtest::start(&options).await.unwrap();
    let counted = ["etcd", "kube-apiserver"].map(|program| processes(program, started.folder()).len());
    assert_eq!(counted, [1, 2]);
    let [source, target] =
        ["source", "target"].map(|name| Cluster::new(started.cluster(name).client.clone()));
    created(&source, &config_map("a", None)).await;
    assert_eq!(
        (code(&source, &config_map("a", None)).await, code(&target, &config_map("a", None)).await),
        (200, 404)
    );
    // The credentials of one cluster are not valid in the other.
    let text = std::fs::read_to_string(&started.cluster("source").kubeconfig).unwrap();
    let crossed = text.replace(&started.cluster("source").url, &started.cluster("target").url);
    let file = within.path().join("crossed");
    std::fs::write(&file, crossed).unwrap();
    assert!(substrate::kubeconfig::client(&file).await.is_err());
    std::fs::remove_file(&file).unwrap();
    drop(started);
    assert_empty(within.path());
}

pub(crate) async fn controllers_collect_garbage_delete_namespaces_and_roll_out(world: World) {
    let within = tempfile::tempdir().unwrap();
    let mut options = world.options(within.path());
    options.controller_manager = true;
    let started = Envtest::start(&options).await.unwrap();
    let cluster = Cluster::new(started.cluster("cluster").client.clone());
    let owner = created(&cluster, &config_map("owner", None)).await;
    let dependent = created(&cluster, &config_map("owned", Some(&owner))).await;
    cluster.delete(&owner, "").await.unwrap();
    until(&cluster, &dependent, 404).await;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "short"}});
    created(&cluster, &namespace).await;
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "short"},
    });
    until(&cluster, &account, 200).await;
    cluster.delete(&namespace, "").await.unwrap();
    until(&cluster, &namespace, 404).await;
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "app", "image": "app:1"}]},
        }},
    });
    created(&cluster, &deployment).await;
    let started_at = Instant::now();
    // The Deployment's ReplicaSet and its pod.
    while cluster.get(&deployment).await.unwrap().body["status"]["unavailableReplicas"] != 1 {
        assert!(started_at.elapsed().as_secs() < 60, "the deployment is not rolled out");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    drop(started);
    assert_empty(within.path());
}
