//! Facts in a given cluster: written, visible only to their own cases, and removed.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its world fails")]

use std::sync::Arc;
use std::time::Duration;

use apiserver::{Effect, Fault, Matching, Refusal, Verb};
use async_trait::async_trait;
use bytes::Bytes;
use conformance::render;
use conformance::report::{Report, Status};
use conformance::run::{self, FactsFrom, Interrupt, Options, Substrate};
use conformance::target::Facts;
use contract::case::{Case, Given};
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::embedded::Embedded;
use webhook::dial::{DialError, Dialer, HttpAnswer};

use crate::direct::options;
use crate::fake::{Fake, Manner, Scripted, registered};
use crate::small;

async fn names(client: &kube::Client, path: &str) -> Vec<String> {
    let request = http::Request::get(path).body(Vec::new()).unwrap();
    let list: Value = client.request(request).await.unwrap();
    let items = list["items"].as_array().cloned().unwrap_or_default();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect()
}

fn with_facts() -> Vec<Case> {
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "finalizers": ["example.com/hold"]}});
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "app"}});
    let labelled = |name: &str| json!({"metadata": {"name": name, "labels": {"a": "b"}}});
    let table = [
        ("a node", vec![node.clone()], None),
        ("the same node", vec![node], None),
        ("an account in a labelled namespace", vec![account.clone()], Some(labelled("garden"))),
        ("an account in kube-system", vec![account], Some(labelled("kube-system"))),
    ];
    let case = |(name, cluster, namespace): (&str, Vec<Value>, Option<Value>)| {
        let mut object = small::deployment("controller", false);
        if let Some(namespace) = &namespace {
            object["metadata"]["namespace"] = namespace["metadata"]["name"].clone();
        }
        let given = Given { cluster, namespace, object: Some(object), ..Given::default() };
        let inputs = vec![("fact".to_owned(), name.to_owned())];
        Case { name: name.to_owned(), inputs, given, ..small::replica_case("controller", "2") }
    };
    table.map(case).into()
}

#[tokio::test]
async fn written_facts_are_removed() {
    let server = Embedded::start(false, None).await.unwrap();
    let client = server.client();
    let before = names(&client, "/api/v1/namespaces").await;
    let mut contract = small::contract();
    contract.clauses[0].cases = with_facts();
    let facts = Facts { client: client.clone(), kubeconfig: None };
    let options = Options { substrate: Substrate::Direct(FactsFrom::Given(facts)), repeat: 2, ..options() };
    let target = Arc::new(Fake { manner: Manner::Good, registered: true });
    let report = run::run([contract].into(), target, &options, &|_| {}, &Interrupt::default()).await;
    let cases = &report.contracts[0].clauses[0].cases;
    assert!(cases.iter().all(|case| case.status == Status::Passed), "{cases:#?}");
    assert_eq!(names(&client, "/api/v1/namespaces").await, before);
    assert_eq!(names(&client, "/api/v1/nodes").await, Vec::<String>::new());
    assert_eq!(names(&client, "/api/v1/serviceaccounts").await, Vec::<String>::new());
    let system = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}});
    let labels = Cluster::new(client).get(&system).await.unwrap().body["metadata"]["labels"].clone();
    assert_eq!(labels, json!({"kubernetes.io/metadata.name": "kube-system"}));
}

/// Raises an interrupt on a request, and never answers.
struct Interrupted(Interrupt);

#[async_trait]
impl Dialer for Interrupted {
    async fn post(&self, _: &str, _: Bytes, _: Duration) -> Result<HttpAnswer, DialError> {
        self.0.raise(2);
        std::future::pending().await
    }
}

async fn interrupted(server: &Embedded) -> Report {
    let interrupt = Interrupt::default();
    let mut contract = small::contract();
    contract.clauses[0].cases = with_facts();
    let facts = Facts { client: server.client(), kubeconfig: None };
    let options = Options { substrate: Substrate::Direct(FactsFrom::Given(facts)), ..options() };
    let target = Scripted {
        dialer: Arc::new(Interrupted(interrupt.clone())),
        registrations: vec![registered("fake", "/replicas")],
        meddling: None,
    };
    run::run([contract].into(), Arc::new(target), &options, &|_| {}, &interrupt).await
}

#[tokio::test]
async fn written_facts_are_removed_when_the_run_is_interrupted() {
    let server = Embedded::start(false, None).await.unwrap();
    let client = server.client();
    let before = names(&client, "/api/v1/namespaces").await;
    let report = interrupted(&server).await;
    assert_eq!((report.exit_code(), report.left_behind.as_slice()), (130, &[][..]));
    assert_eq!(names(&client, "/api/v1/namespaces").await, before);
    assert_eq!(names(&client, "/api/v1/nodes").await, Vec::<String>::new());
    let system = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}});
    let labels = Cluster::new(client).get(&system).await.unwrap().body["metadata"]["labels"].clone();
    assert_eq!(labels, json!({"kubernetes.io/metadata.name": "kube-system"}));
}

#[tokio::test]
async fn facts_that_cannot_be_removed_are_reported() {
    let server = Embedded::start(false, None).await.unwrap();
    let deletions = Matching::resource("", "serviceaccounts").verbs([Verb::Delete]);
    server.faults().add(Fault::new(deletions, Effect::Refuse(Refusal::InternalError)));
    let mut contract = small::contract();
    contract.clauses[0].cases = with_facts().split_off(2);
    let facts = Facts { client: server.client(), kubeconfig: None };
    let options = Options { substrate: Substrate::Direct(FactsFrom::Given(facts)), ..options() };
    let target = Arc::new(Fake { manner: Manner::Good, registered: true });
    let report = run::run([contract].into(), target, &options, &|_| {}, &Interrupt::default()).await;
    assert!(report.left_behind.iter().any(|left| left.starts_with("ServiceAccount ")), "{report:?}");
    let text = render::text(&report, &crate::rendering::view(None));
    assert!(text.contains("! left behind in the cluster: ServiceAccount "), "{text}");
    assert_eq!(report.exit_code(), 0);
}

#[tokio::test]
async fn without_a_cluster_cases_with_facts_are_counted_apart() {
    let mut contract = small::contract();
    contract.clauses[0].cases.extend(with_facts());
    let options = Options { substrate: Substrate::Direct(FactsFrom::Nowhere), ..options() };
    let target = Arc::new(Fake { manner: Manner::Good, registered: true });
    let report = run::run([contract].into(), target, &options, &|_| {}, &Interrupt::default()).await;
    assert_eq!((report.counts.passed, report.counts.not_supported, report.exit_code()), (5, 4, 0));
}
