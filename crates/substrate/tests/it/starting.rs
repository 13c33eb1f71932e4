//! The initial objects of a real control plane and of the embedded one.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kube::Client;
use serde_json::Value;
use substrate::embedded::ControlPlane;

use crate::world::World;

/// Objects by kind, namespace and name, without values that differ between servers.
type Objects = BTreeMap<String, Value>;

pub(crate) async fn real_and_embedded_servers_start_with_the_same_objects(world: World) {
    let within = tempfile::tempdir().unwrap();
    let real = world.start(within.path()).await;
    let cluster = real.cluster("cluster");
    let advertised = cluster.url.trim_start_matches("https://").parse().unwrap();
    let embedded = ControlPlane { crds: Vec::new(), advertised: Some(advertised), ..ControlPlane::default() };
    let embedded = all(&Client::new(embedded.start(), "default")).await;
    let client = substrate::kubeconfig::client(&cluster.kubeconfig).await.unwrap();
    let started_at = Instant::now();
    // kube-apiserver is ready before it has written everything.
    while all(&client).await != embedded {
        if started_at.elapsed() > Duration::from_secs(30) {
            assert_eq!(all(&client).await, embedded);
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert!(embedded.len() > 180, "{}", embedded.len());
}

/// All objects that can be listed.
async fn all(client: &Client) -> Objects {
    let mut roots = vec!["/api/v1".to_owned()];
    for group in get(client, "/apis").await["groups"].as_array().unwrap() {
        roots.push(format!("/apis/{}", group["preferredVersion"]["groupVersion"].as_str().unwrap()));
    }
    let mut all = Objects::new();
    for root in roots {
        for resource in get(client, &root).await["resources"].as_array().unwrap() {
            let name = resource["name"].as_str().unwrap();
            let lists = resource["verbs"].as_array().unwrap().iter().any(|verb| verb == "list");
            // ComponentStatuses are computed on each request and not stored.
            if name.contains('/') || !lists || name == "componentstatuses" {
                continue;
            }
            let list = get(client, &format!("{root}/{name}")).await;
            for mut object in list["items"].as_array().cloned().unwrap_or_default() {
                plain(&mut object);
                let metadata = &object["metadata"];
                let key = format!("{root}/{name} {} {}", metadata["namespace"], metadata["name"]);
                all.insert(key, object);
            }
        }
    }
    all
}

/// Removes times, numbers, generated names, certificates, and what the real server lacks: it has no front proxy.
fn plain(object: &mut Value) {
    if object["metadata"]["name"] == "extension-apiserver-authentication" {
        object["metadata"]["managedFields"] = Value::Null;
        object["data"].as_object_mut().unwrap().retain(|key, _| key == "client-ca-file");
    }
    if let Some(labels) = object.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove("kubernetes.io/hostname");
    }
    for field in ["uid", "resourceVersion"] {
        object["metadata"].as_object_mut().unwrap().remove(field);
    }
    walk(object);
}

fn walk(value: &mut Value) {
    match value {
        Value::String(text) => {
            let is_time = text.len() >= 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-';
            if is_time {
                "time".clone_into(text);
            } else if text.starts_with("apiserver-") {
                "lease".clone_into(text);
            } else if text.contains("BEGIN CERTIFICATE") {
                "certificate".clone_into(text);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(walk),
        Value::Object(fields) => fields.values_mut().for_each(walk),
        _ => {}
    }
}

async fn get(client: &Client, path: &str) -> Value {
    client.request(http::Request::get(path).body(Vec::new()).unwrap()).await.unwrap()
}
