//! Removes what a scenario leaves in a real cluster, since the next scenario uses the cluster, too.

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
use super::snapshot::{NAMESPACES, NamespaceSnapshot};
use super::steps::ScenarioEnd;

/// How long an API server may take to answer requests whose client is gone.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
const DEFINITIONS: &str = "customresourcedefinitions";

/// Removes all created objects, namespaces last; recreates deleted CustomResourceDefinitions and restores the namespaces of the
/// snapshot. Continues after failures.
pub(super) async fn clean_up(
    server: &Embedded,
    client: &kube::Client,
    snapshot: &NamespaceSnapshot,
) -> Result<(), ScenarioEnd> {
    let cluster = Cluster::without_controllers(client.clone());
    // A client that was stopped may have created an object without getting the answer.
    let unanswered = tokio::time::timeout(PATIENCE, server.wait_until_idle()).await.err();
    let requests = server.requests_since(0);
    let created = requests.iter().rev().filter(|request| is_created(request));
    let (namespaces, objects): (Vec<&Request>, Vec<&Request>) =
        created.partition(|request| request.resource == NAMESPACES);
    let namespaces: BTreeSet<&str> = namespaces.into_iter().map(|request| request.name.as_str()).collect();
    let (mut seen, mut left) = (BTreeSet::new(), Vec::new());
    left.extend(unanswered.map(|_| format!("a request was not answered within {PATIENCE:?}")));
    // Removing finalizers is an update, which fails in a deleted namespace.
    for name in &namespaces {
        left.extend(error_text(facts::write_namespace(&cluster, name, None).await));
    }
    for object in objects.into_iter().filter_map(head).filter(|object| seen.insert(object.to_string())) {
        left.extend(error_text(facts::remove(&cluster, &object).await));
    }
    // Events that the API server writes itself are in no log.
    for namespace in namespaces.iter().copied().chain([NAMESPACE]) {
        left.extend(events::delete_all(client.clone(), namespace).await.err());
    }
    for name in &namespaces {
        left.extend(error_text(facts::restore_namespace(&cluster, name, &Before::Nothing, true).await));
    }
    left.extend(snapshot.restore(client).await);
    let restored = restore_definitions(&requests, client).await;
    if let Some(error) = left.first() {
        return Err(ScenarioEnd::Environment(format!("failed to clean up after a scenario: {error}")));
    }
    restored
}

async fn restore_definitions(requests: &[Request], client: &kube::Client) -> Result<(), ScenarioEnd> {
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
    envtest::install(client, &definitions).await.map_err(|error| ScenarioEnd::Environment(error.to_string()))
}

fn error_text<T>(outcome: Result<T, ClusterError>) -> Option<String> {
    outcome.err().map(|error| error.to_string())
}

/// Whether a request created an object, or may have: an apply creates missing objects, and a creation may succeed though its
/// answer is lost.
fn is_created(request: &Request) -> bool {
    let is_doubtful = request.verb == Verb::Create && request.code >= 500;
    (request.code == 201 || is_doubtful) && is_of_object(request)
}

fn is_deleted(request: &Request) -> bool {
    request.verb == Verb::Delete && (200..300).contains(&request.code) && is_of_object(request)
}

fn is_of_object(request: &Request) -> bool {
    !request.dry_run && request.subresource.is_empty() && !request.name.is_empty()
}

/// The object with its name only; `None` if its kind cannot be deleted, such as reviews.
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

    /// A server that simulates a real one, and an embedded server in front of it.
    async fn pair() -> (Embedded, Embedded) {
        let real = Embedded::start(true, None).await.expect("a server");
        let cluster = envtest::Cluster {
            url: String::new(),
            kubeconfig: real.kubeconfig().expect("it is served").to_owned(),
            client: real.client(),
            version: String::new(),
            has_controllers: false,
        };
        let proxy = Embedded::before(&cluster, false).await.expect("a server in front of it");
        (real, proxy)
    }

    #[tokio::test]
    async fn created_objects_are_removed_and_deleted_and_changed_ones_are_restored() {
        let (real, proxy) = pair().await;
        let snapshot = NamespaceSnapshot::take(real.client()).await.expect("its namespaces");
        let (outside, through) = (Cluster::new(real.client()), Cluster::new(proxy.client_as("somebody")));
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
        configmaps.patch("applied", &by, &Patch::Apply(&applied)).await.expect("it is created");
        let default = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}});
        let labelled = json!({"metadata": {"labels": {"of": "scenario"}}});
        assert_eq!(through.merge_patch(&default, "", &labelled).await.expect("an answer").code, 200);
        assert_eq!(through.delete(&namespace, "").await.expect("an answer").code, 200);
        assert_eq!(through.delete(&crd, "").await.expect("an answer").code, 200);
        clean_up(&proxy, &proxy.client_as("somebody"), &snapshot).await.expect("everything is removed");
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
    async fn an_object_whose_creation_was_answered_with_an_error_is_removed() {
        let (real, proxy) = pair().await;
        let snapshot = NamespaceSnapshot::take(real.client()).await.expect("its namespaces");
        let lost = Effect::RefuseAfter(Refusal::InternalError);
        real.faults().add(Fault::new(Matching::resource("", "configmaps").verbs([Verb::Create]), lost));
        let configmap = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}});
        let through = Cluster::new(proxy.client_as("somebody"));
        assert_eq!(through.create(&configmap, "").await.expect("an answer").code, 500);
        let outside = Cluster::new(real.client());
        assert_eq!(outside.get(&configmap).await.expect("an answer").code, 200);
        clean_up(&proxy, &proxy.client_as("somebody"), &snapshot).await.expect("everything is removed");
        assert_eq!(outside.get(&configmap).await.expect("an answer").code, 404);
    }

    #[tokio::test]
    async fn an_object_whose_creator_was_stopped_before_the_answer_is_removed() {
        let (real, proxy) = pair().await;
        let snapshot = NamespaceSnapshot::take(real.client()).await.expect("its namespaces");
        let creations = Matching::resource("", "configmaps").verbs([Verb::Create]);
        let unanswered = proxy.faults().add(Fault::new(creations, Effect::StallAfter));
        let configmap = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}});
        let through = Cluster::new(proxy.client_as("somebody"));
        tokio::select! {
            _ = through.create(&configmap, "") => panic!("there is no answer"),
            () = unanswered.until_struck(1) => {}
        }
        clean_up(&proxy, &proxy.client_as("somebody"), &snapshot).await.expect("everything is removed");
        let outside = Cluster::new(real.client());
        assert_eq!(outside.get(&configmap).await.expect("an answer").code, 404);
    }

    #[tokio::test]
    async fn an_object_whose_creation_ends_after_its_client_left_is_removed() {
        let (real, proxy) = pair().await;
        let snapshot = NamespaceSnapshot::take(real.client()).await.expect("its namespaces");
        let slowly = Effect::Delay(Duration::from_millis(50));
        real.faults().add(Fault::new(Matching::resource("", "configmaps"), slowly));
        let configmap = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}});
        let through = Cluster::new(proxy.client_as("somebody"));
        let creation = through.create(&configmap, "");
        tokio::time::timeout(Duration::from_millis(10), creation).await.expect_err("the client gives up");
        clean_up(&proxy, &proxy.client_as("somebody"), &snapshot).await.expect("everything is removed");
        let created = |request: &&Request| request.resource == "configmaps" && is_created(request);
        assert_eq!(real.requests_since(0).iter().filter(created).count(), 1);
        let outside = Cluster::new(real.client());
        assert_eq!(outside.get(&configmap).await.expect("an answer").code, 404);
    }
}
