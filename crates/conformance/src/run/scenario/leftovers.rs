//! What a scenario leaves in a real cluster, which the next scenario uses too.

use std::collections::BTreeSet;
use std::time::Duration;

use apiserver::{Request, Verb};
use contract::scenario::NAMESPACE;
use schema::Kinds;
use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError};
use substrate::embedded::Embedded;
use substrate::envtest;
use substrate::facts::{self, Before};

use super::events;
use super::standing::{NAMESPACES, Standing};
use super::steps::Ended;

/// How long an API server may take to answer what nobody waits for any more.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
const DEFINITIONS: &str = "customresourcedefinitions";

/// Removes what was made, whoever made it, namespaces last; definitions that were deleted are made again, and namespaces
/// that were there are what they were. What cannot be taken back does not keep the rest.
pub(super) async fn take_back(
    server: &Embedded,
    client: &kube::Client,
    standing: &Standing,
) -> Result<(), Ended> {
    let cluster = Cluster::without_controllers(client.clone());
    // Who was stopped in the middle may have made something and never learnt of it.
    let unsettled = tokio::time::timeout(PATIENCE, server.settled()).await.err();
    let requests = server.requests_since(0);
    let made = requests.iter().rev().filter(|request| is_made(request));
    let (namespaces, objects): (Vec<&Request>, Vec<&Request>) =
        made.partition(|request| request.resource == NAMESPACES);
    let namespaces: BTreeSet<&str> = namespaces.into_iter().map(|request| request.name.as_str()).collect();
    let (mut seen, mut left) = (BTreeSet::new(), Vec::new());
    left.extend(unsettled.map(|_| format!("a request was not answered within {PATIENCE:?}")));
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
    left.extend(standing.restore(client).await);
    let restored = restore_definitions(&requests, client).await;
    if let Some(error) = left.first() {
        return Err(Ended::Environment(format!("failed to take a scenario's objects back: {error}")));
    }
    restored
}

async fn restore_definitions(requests: &[Request], client: &kube::Client) -> Result<(), Ended> {
    let deleted = requests
        .iter()
        .filter(|request| request.resource == DEFINITIONS && is_deleted(request))
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

/// Whether an object came to be, or may have: an apply makes what is not there, and a creation whose answer was lost may have
/// been done.
fn is_made(request: &Request) -> bool {
    let is_doubtful = request.verb == Verb::Create && request.code >= 500;
    (request.code == 201 || is_doubtful) && is_of_object(request)
}

fn is_deleted(request: &Request) -> bool {
    request.verb == Verb::Delete && (200..300).contains(&request.code) && is_of_object(request)
}

fn is_of_object(request: &Request) -> bool {
    !request.dry_run && request.subresource.is_empty() && !request.name.is_empty()
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
    use apiserver::{Effect, Fault, Matching, Refusal};
    use kube::api::{Api, Patch, PatchParams};

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
    async fn everything_that_was_made_goes_and_what_was_there_comes_back() {
        let (real, door) = pair().await;
        let standing = Standing::in_cluster(real.client()).await.expect("its namespaces");
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
        let applied = configmap("default", "applied");
        let configmaps =
            Api::<k8s_openapi::api::core::v1::ConfigMap>::namespaced(through.client().clone(), "default");
        let by = PatchParams::apply("somebody");
        configmaps.patch("applied", &by, &Patch::Apply(&applied)).await.expect("it is made");
        let default = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}});
        let labelled = json!({"metadata": {"labels": {"of": "scenario"}}});
        assert_eq!(through.merge_patch(&default, "", &labelled).await.expect("an answer").code, 200);
        assert_eq!(through.delete(&namespace, "").await.expect("an answer").code, 200);
        assert_eq!(through.delete(&crd, "").await.expect("an answer").code, 200);
        take_back(&door, &door.client_as("somebody"), &standing).await.expect("all is taken back");
        for object in [&namespace, &kept_back, &pod, &applied] {
            assert_eq!(outside.get(object).await.expect("an answer").code, 404, "{object}");
        }
        for object in [&crd, &others] {
            assert_eq!(outside.get(object).await.expect("an answer").code, 200, "{object}");
        }
        let default = outside.get(&default).await.expect("an answer").body;
        assert_eq!(default["metadata"]["labels"], json!({"kubernetes.io/metadata.name": "default"}));
    }

    #[tokio::test]
    async fn what_was_made_though_its_answer_was_lost_goes_too() {
        let (real, door) = pair().await;
        let standing = Standing::in_cluster(real.client()).await.expect("its namespaces");
        let lost = Effect::RefuseAfter(Refusal::InternalError);
        real.faults().add(Fault::new(Matching::resource("", "configmaps").verbs([Verb::Create]), lost));
        let configmap = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}});
        let through = Cluster::new(door.client_as("somebody"));
        assert_eq!(through.create(&configmap, "").await.expect("an answer").code, 500);
        let outside = Cluster::new(real.client());
        assert_eq!(outside.get(&configmap).await.expect("an answer").code, 200);
        take_back(&door, &door.client_as("somebody"), &standing).await.expect("all is taken back");
        assert_eq!(outside.get(&configmap).await.expect("an answer").code, 404);
    }

    #[tokio::test]
    async fn what_was_made_by_who_was_stopped_before_the_answer_goes_too() {
        let (real, door) = pair().await;
        let standing = Standing::in_cluster(real.client()).await.expect("its namespaces");
        let creations = Matching::resource("", "configmaps").verbs([Verb::Create]);
        let unanswered = door.faults().add(Fault::new(creations, Effect::StallAfter));
        let configmap = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}});
        let through = Cluster::new(door.client_as("somebody"));
        tokio::select! {
            _ = through.create(&configmap, "") => panic!("nobody answers"),
            () = unanswered.until_struck(1) => {}
        }
        take_back(&door, &door.client_as("somebody"), &standing).await.expect("all is taken back");
        let outside = Cluster::new(real.client());
        assert_eq!(outside.get(&configmap).await.expect("an answer").code, 404);
    }

    #[tokio::test]
    async fn what_is_made_for_somebody_who_is_gone_goes_too() {
        let (real, door) = pair().await;
        let standing = Standing::in_cluster(real.client()).await.expect("its namespaces");
        let slowly = Effect::Delay(Duration::from_millis(50));
        real.faults().add(Fault::new(Matching::resource("", "configmaps"), slowly));
        let configmap = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}});
        let through = Cluster::new(door.client_as("somebody"));
        let creation = through.create(&configmap, "");
        tokio::time::timeout(Duration::from_millis(10), creation).await.expect_err("nobody waits for it");
        take_back(&door, &door.client_as("somebody"), &standing).await.expect("all is taken back");
        let made = |request: &&Request| request.resource == "configmaps" && is_made(request);
        assert_eq!(real.requests_since(0).iter().filter(made).count(), 1);
        let outside = Cluster::new(real.client());
        assert_eq!(outside.get(&configmap).await.expect("an answer").code, 404);
    }
}
