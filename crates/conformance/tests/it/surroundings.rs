//! A provider's webhook that reads the namespace of the control plane: it gets what Gardener and its provider write there.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its world fails")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use conformance::report::{Report, Status, Verdict};
use conformance::run::{self, FactsFrom, Interrupt, Options, Substrate};
use conformance::target::{Facts, Identity, Running, Setup, Target, TargetError, TargetKind};
use contract::index::Index;
use contract::model::Contract;
use serde_json::{Value, json};
use substrate::embedded::Embedded;
use webhook::dial::{DialError, Dialer, HttpAnswer};
use webhook::registration::{Phase, WebhookConfiguration};

use crate::direct::options;

/// A webhook of provider gcp that changes nothing, but refuses what it cannot read about.
struct Reader {
    own: Vec<Value>,
    registers: bool,
    /// Number of reviews that it answered.
    reviews: Arc<AtomicUsize>,
}

impl Reader {
    fn new(own: Vec<Value>) -> Self {
        Self { own, registers: false, reviews: Arc::default() }
    }
}

#[async_trait]
impl Target for Reader {
    fn identity(&self) -> Identity {
        let (name, endpoint) = ("provider-gcp".to_owned(), "in process".to_owned());
        Identity { name, version: None, kind: TargetKind::Command, endpoint }
    }

    fn features(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn provider(&self) -> Option<&str> {
        Some("gcp")
    }

    fn cluster_objects(&self) -> &[Value] {
        &self.own
    }

    fn is_outside(&self) -> bool {
        false
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        let client = setup.facts.unwrap().client;
        let dialer = Arc::new(ReadingDialer { client, reviews: Arc::clone(&self.reviews) });
        Ok(Box::new(RunningReader { dialer, registrations: self.registers.then(|| vec![registration()]) }))
    }
}

fn registration() -> WebhookConfiguration {
    let webhooks = json!([{
        "name": "controlplane.gcp.extensions.gardener.cloud", "clientConfig": {"url": "https://127.0.0.1/controlplane"},
        "rules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"], "operations": ["CREATE", "UPDATE"]}],
        "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 10,
    }]);
    WebhookConfiguration {
        phase: Phase::Mutating,
        name: "gardener-extension-provider-gcp".to_owned(),
        labels: std::collections::BTreeMap::new(),
        webhooks: serde_json::from_value(webhooks).unwrap(),
    }
}

struct RunningReader {
    dialer: Arc<ReadingDialer>,
    registrations: Option<Vec<WebhookConfiguration>>,
}

#[async_trait]
impl Running for RunningReader {
    fn dialer(&self) -> Arc<dyn Dialer> {
        Arc::<ReadingDialer>::clone(&self.dialer)
    }

    fn registrations(&self) -> Option<&[WebhookConfiguration]> {
        self.registrations.as_deref()
    }

    fn paths(&self, webhook: &str) -> Vec<String> {
        vec![format!("/{webhook}")]
    }

    async fn stop(self: Box<Self>) {}
}

struct ReadingDialer {
    client: kube::Client,
    reviews: Arc<AtomicUsize>,
}

impl ReadingDialer {
    async fn read(&self, path: &str) -> Result<Value, String> {
        let request = http::Request::get(path).body(Vec::new()).unwrap();
        self.client.request(request).await.map_err(|error| error.to_string())
    }

    /// What the webhook needs of a namespace.
    async fn check(&self, namespace: &str) -> Result<(), String> {
        let failed = |error| format!("could not get cluster for namespace '{namespace}': {error}");
        let extensions = "/apis/extensions.gardener.cloud/v1alpha1";
        let cluster = self.read(&format!("{extensions}/clusters/{namespace}")).await.map_err(failed)?;
        let technical = cluster.pointer("/spec/shoot/status/technicalID").and_then(Value::as_str);
        if technical != Some(namespace) {
            return Err(format!("the Cluster of {namespace} is of {technical:?}"));
        }
        if cluster.pointer("/spec/cloudProfile/spec/providerConfig/machineImages").is_none() {
            return Err("the CloudProfile has no configuration of the provider".to_owned());
        }
        let secret = self.read(&format!("/api/v1/namespaces/{namespace}/secrets/cloudprovider")).await?;
        if secret["data"]["serviceaccount.json"].as_str().is_none() {
            return Err("Secret cloudprovider has no serviceaccount.json".to_owned());
        }
        self.read(&format!("/api/v1/namespaces/{namespace}/configmaps/cloud-provider-config")).await?;
        let infrastructure =
            self.read(&format!("{extensions}/namespaces/{namespace}/infrastructures/app")).await?;
        let status = infrastructure.pointer("/status/providerStatus/kind").and_then(Value::as_str);
        if status == Some("InfrastructureStatus") { Ok(()) } else { Err("no status".to_owned()) }
    }
}

#[async_trait]
impl Dialer for ReadingDialer {
    async fn post(&self, _: &str, body: Bytes, _: Duration) -> Result<HttpAnswer, DialError> {
        self.reviews.fetch_add(1, Ordering::Relaxed);
        let review: Value = serde_json::from_slice(&body).unwrap();
        let request = &review["request"];
        let checked = self.check(request["namespace"].as_str().unwrap_or_default()).await;
        let mut response = json!({"uid": request["uid"], "allowed": checked.is_ok()});
        if let Err(message) = checked {
            response["status"] = json!({"code": 500, "message": message});
        }
        let answer =
            json!({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response});
        Ok(HttpAnswer { media: None, status: 200, body: Bytes::from(answer.to_string()) })
    }
}

/// Clauses about Deployments that assert what stays unchanged, with at most this many cases each.
fn contract(cases: usize) -> Contract {
    let index = Index::read(contracts::files()).unwrap();
    let outline = index.contracts().iter().find(|outline| outline.name == "deployments").unwrap();
    let mut contract = index.expand_some(outline, &|id| ["CP-129", "CP-130"].contains(&id)).unwrap();
    for clause in &mut contract.clauses {
        clause.cases.truncate(cases);
    }
    contract
}

async fn report(contract: Contract, target: Reader, substrate: Substrate) -> Report {
    let options = Options { substrate, ..options() };
    run::run([contract].into(), Arc::new(target), &options, &|_| {}, &Interrupt::default()).await
}

fn failures(report: &Report) -> Vec<String> {
    let cases = report.contracts[0].clauses.iter().flat_map(|clause| &clause.cases);
    let failed = cases.filter(|case| case.status != Status::Passed);
    failed
        .map(|case| format!("{} {:?} {:?} {:?}", case.name, case.status, case.reason, case.checks))
        .collect()
}

#[tokio::test]
async fn a_webhook_that_reads_the_namespace_is_conformant_on_every_substrate() {
    for substrate in [Substrate::Direct(FactsFrom::Embedded), Substrate::Embedded] {
        let registers = matches!(substrate, Substrate::Embedded);
        let target = Reader { registers, ..Reader::new(Vec::new()) };
        let reviews = Arc::clone(&target.reviews);
        let report = report(contract(8), target, substrate).await;
        assert_eq!((failures(&report), report.verdict), (Vec::new(), Verdict::Conformant));
        assert!(reviews.load(Ordering::Relaxed) >= 16);
    }
}

#[tokio::test]
async fn objects_in_the_users_cluster_are_removed_after_the_run() {
    let server = Embedded::start(false, None).await.unwrap();
    let facts = Facts { client: server.client(), kubeconfig: None };
    let given = Substrate::Direct(FactsFrom::Given(facts));
    let report = report(contract(8), Reader::new(Vec::new()), given).await;
    assert_eq!((failures(&report), report.left_behind), (Vec::new(), Vec::<String>::new()));
    for path in [
        "/apis/extensions.gardener.cloud/v1alpha1/clusters",
        "/apis/extensions.gardener.cloud/v1alpha1/infrastructures",
    ] {
        let request = http::Request::get(path).body(Vec::new()).unwrap();
        let list: Value = server.client().request(request).await.unwrap();
        assert_eq!(list["items"], json!([]), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_objects_it_fails_and_only_the_first_case_waits() {
    let mut contract = contract(usize::MAX);
    contract.profiles = None;
    let target = Reader::new(Vec::new());
    let options = Options {
        substrate: Substrate::Direct(FactsFrom::Embedded),
        settle: Duration::from_secs(2),
        parallel: 1,
        fail_fast: false,
        ..options()
    };
    let cases: usize = contract.clauses.iter().map(|clause| clause.cases.len()).sum();
    let report =
        run::run([contract].into(), Arc::new(target), &options, &|_| {}, &Interrupt::default()).await;
    let failed = failures(&report);
    assert_eq!(failed.len(), cases);
    assert!(failed.iter().all(|text| text.contains("could not get cluster for namespace")), "{failed:?}");
    let results = report.contracts[0].clauses.iter().flat_map(|clause| &clause.cases);
    let attempts: Vec<u32> = results.map(|case| case.attempts).collect();
    // Sixteen cases run side by side, so the first sixteen fail before any has failed to the end.
    let patient = attempts.iter().filter(|attempts| **attempts > 8).count();
    assert!(attempts.len() > 30 && (1..=16).contains(&patient), "{attempts:?}");
    let short = attempts.iter().filter(|attempts| **attempts <= 5).count();
    assert!(short >= attempts.len() - 16, "{attempts:?}");
}

#[tokio::test]
async fn an_object_of_the_target_takes_the_place_of_the_profiles() {
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cloudprovider"}, "stringData": {"other": "x"}});
    let options =
        Options { substrate: Substrate::Direct(FactsFrom::Embedded), settle: Duration::ZERO, ..options() };
    let target = Arc::new(Reader::new(vec![secret]));
    let report = run::run([contract(8)].into(), target, &options, &|_| {}, &Interrupt::default()).await;
    let failed = failures(&report);
    assert!(
        !failed.is_empty() && failed.iter().all(|text| text.contains("has no serviceaccount.json")),
        "{failed:?}"
    );
}
