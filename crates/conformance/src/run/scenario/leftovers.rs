//! What a scenario leaves in a real cluster, which the next scenario uses too.

use std::collections::BTreeSet;

use apiserver::{Request, Verb};
use contract::scenario::NAMESPACE;
use schema::Kinds;
use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError};
use substrate::embedded::Embedded;
use substrate::envtest;
use substrate::facts::{self, Before};

use super::events;
use super::steps::Ended;

const NAMESPACES: &str = "namespaces";
const DEFINITIONS: &str = "customresourcedefinitions";

/// Removes what was made, whoever made it, namespaces last; definitions that were deleted are made again. What cannot be
/// taken back does not keep the rest.
pub(super) async fn take_back(server: &Embedded, client: &kube::Client) -> Result<(), Ended> {
    let cluster = Cluster::without_controllers(client.clone());
    let requests = server.requests_since(0);
    let made = requests.iter().rev().filter(|request| is_done(request, Verb::Create));
    let (namespaces, objects): (Vec<&Request>, Vec<&Request>) =
        made.partition(|request| request.resource == NAMESPACES);
    let namespaces: BTreeSet<&str> = namespaces.into_iter().map(|request| request.name.as_str()).collect();
    let (mut seen, mut left) = (BTreeSet::new(), Vec::new());
    // In a namespace that is gone nothing can be changed, and finalizers are taken off by a change.
    for name in &namespaces {
        left.extend(words(facts::write_namespace(&cluster, name, None).await));
    }
    for object in objects.into_iter().filter_map(head).filter(|object| seen.insert(object.to_string())) {
        left.extend(words(facts::remove(&cluster, &object).await));
    }
    // A server tells of objects itself, which is in no log.
    for namespace in namespaces.iter().copied().chain([NAMESPACE]) {
        left.extend(events::forget(client.clone(), namespace).await.err());
    }
    for name in &namespaces {
        left.extend(words(facts::restore_namespace(&cluster, name, &Before::Nothing, true).await));
    }
    let restored = restore_definitions(&requests, client).await;
    if let Some(error) = left.first() {
        return Err(Ended::Environment(format!("failed to take a scenario's objects back: {error}")));
    }
    restored
}

async fn restore_definitions(requests: &[Request], client: &kube::Client) -> Result<(), Ended> {
    let deleted = requests
        .iter()
        .filter(|request| request.resource == DEFINITIONS && is_done(request, Verb::Delete))
        .map(|request| request.name.as_str())
        .collect::<BTreeSet<_>>();
    let definitions = schema::crds().iter().map(schema::Crd::json);
    let definitions: Vec<Value> = definitions
        .filter(|crd| crd["metadata"]["name"].as_str().is_some_and(|name| deleted.contains(name)))
        .cloned()
        .collect();
    envtest::install(client, &definitions).await.map_err(|error| Ended::Environment(error.to_string()))
}

fn words<T>(outcome: Result<T, ClusterError>) -> Option<String> {
    outcome.err().map(|error| error.to_string())
}

fn is_done(request: &Request, verb: Verb) -> bool {
    let done = request.verb == verb && (200..300).contains(&request.code);
    done && !request.dry_run && request.subresource.is_empty() && !request.name.is_empty()
}

/// The object by its name; absent if it cannot be deleted, as reviews cannot.
fn head(request: &Request) -> Option<Value> {
    let resource = Kinds::gardener().resource(&request.group, &request.version, &request.resource)?;
    let mut head = json!({
        "apiVersion": resource.api_version(), "kind": resource.kind, "metadata": {"name": request.name},
    });
    if resource.namespaced {
        head["metadata"]["namespace"] = json!(request.namespace);
    }
    resource.serves("delete").then_some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server in the place of a real one, and its door.
    async fn pair() -> (Embedded, Embedded) {
        let real = Embedded::start(true, None).await.expect("a server");
        let cluster = envtest::Cluster {
            url: String::new(),
            kubeconfig: real.kubeconfig().expect("it is served").to_owned(),
            client: real.client(),
            version: String::new(),
            has_controllers: false,
        };
        let door = Embedded::before(&cluster, false).await.expect("its door");
        (real, door)
    }

    #[tokio::test]
    async fn everything_that_was_made_goes_and_definitions_come_back() {
        let (real, door) = pair().await;
        let (outside, through) = (Cluster::new(real.client()), Cluster::new(door.client_as("somebody")));
        let held = json!(["example.com/hold"]);
        let configmap = |namespace: &str, name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}});
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x", "finalizers": held}});
        let mut kept_back = configmap("x", "held");
        kept_back["metadata"]["finalizers"] = held.clone();
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "x"},
            "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
        });
        let crd = schema::crds()[0].json().clone();
        let others = configmap("default", "others");
        outside.create(&others, "").await.expect("an answer");
        for object in [&namespace, &kept_back, &pod] {
            let reply = through.create(object, "").await.expect("an answer");
            assert_eq!(reply.code, 201, "{}", reply.message());
        }
        assert_eq!(through.delete(&namespace, "").await.expect("an answer").code, 200);
        assert_eq!(through.delete(&crd, "").await.expect("an answer").code, 200);
        take_back(&door, &door.client_as("somebody")).await.expect("all is taken back");
        for (object, code) in [(&namespace, 404), (&kept_back, 404), (&pod, 404), (&crd, 200), (&others, 200)]
        {
            assert_eq!(outside.get(object).await.expect("an answer").code, code, "{object}");
        }
    }
}
