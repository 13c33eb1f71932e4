//! A scripted provider for control planes, like a small one in another language: it keeps the contracts, or breaks one of them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use conformance::report::Report;
use conformance::run::{Interrupt, Options, run};
use conformance::target::{Identity, Running, Setup, Target, TargetError, TargetKind};
use contract::document::waivers::Waiver;
use contract::model::Contract;
use serde_json::{Value, json};
use webhook::dial::{DialError, Dialer, HttpAnswer};
use webhook::registration::WebhookConfiguration;

use crate::direct::options;

/// What is wrong with the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It takes `--tls-cert-file` from kube-apiserver.
    TakesFlag,
    /// It sets the replicas of kube-controller-manager to 2.
    SetsReplicas,
    /// It appends `--cloud-provider=external` to the kubelet's command each time.
    AppendsAgain,
    /// It panics on an OperatingSystemConfig.
    Panics,
    /// It never answers about an OperatingSystemConfig.
    Hangs,
    /// It answers `<html>` about an OperatingSystemConfig.
    IsNoWebhook,
    /// Its patch of an OperatingSystemConfig does not fit.
    PatchesNothing,
}

/// What a Go program prints when a webhook panics.
const PANIC: &str = "2026/11/26 06:00:01 http: panic serving 127.0.0.1:4711: runtime error: index out of range [3] with length 2
goroutine 12 [running]:
net/http.(*conn).serve.func1()
\t/usr/local/go/src/net/http/server.go:1947 +0xbe
panic({0x6b2a80?, 0xc000012345?})
\t/usr/local/go/src/runtime/panic.go:792 +0x132
main.units(0xc000123456)
\t/home/me/acme/main.go:107 +0x1a5
main.serve({0x7a1b20, 0xc0001a2000}, 0xc0001b4000)
\t/home/me/acme/main.go:136 +0x2c5";

/// The report of a run of these contracts against a provider with these faults, with fixed times.
pub(crate) async fn report(names: &[&str], faults: &[Fault]) -> Report {
    let mut contracts = contracts::of_component("controlplane").expect("the contracts are well-formed");
    contracts.retain(|contract| names.contains(&contract.name.as_str()));
    report_of(contracts, faults, &options()).await
}

/// The same with a waiver of this clause or law.
pub(crate) async fn waived_report(names: &[&str], faults: &[Fault], waiver: Waiver) -> Report {
    let mut contracts = contracts::of_component("controlplane").expect("the contracts are well-formed");
    contracts.retain(|contract| names.contains(&contract.name.as_str()));
    report_of(contracts, faults, &Options { waivers: vec![waiver], ..options() }).await
}

async fn report_of(contracts: Vec<Contract>, faults: &[Fault], options: &Options) -> Report {
    let target = Arc::new(Acme { faults: faults.to_vec() });
    let mut report = run(contracts.into(), target, options, &|_| {}, &Interrupt::default()).await;
    report.run.duration_ms = 1900.0;
    report.run.file = Some("provider.yaml".to_owned());
    for contract in &mut report.contracts {
        contract.duration_ms = 41.0;
        contract
            .clauses
            .iter_mut()
            .flat_map(|clause| &mut clause.cases)
            .for_each(|case| case.duration_ms = 2.0);
    }
    report
}

struct Acme {
    faults: Vec<Fault>,
}

#[async_trait]
impl Target for Acme {
    fn identity(&self) -> Identity {
        let text = str::to_owned;
        Identity {
            name: text("acme"),
            version: None,
            kind: TargetKind::Command,
            endpoint: text("./acme-webhook"),
        }
    }

    fn features(&self) -> BTreeSet<String> {
        BTreeSet::from(["csi".to_owned()])
    }

    fn is_outside(&self) -> bool {
        false
    }

    async fn start(&self, _: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        Ok(Box::new(RunningAcme { faults: self.faults.clone(), registrations: vec![registration()] }))
    }
}

struct RunningAcme {
    faults: Vec<Fault>,
    registrations: Vec<WebhookConfiguration>,
}

#[async_trait]
impl Running for RunningAcme {
    fn dialer(&self) -> Arc<dyn Dialer> {
        Arc::new(AcmeDialer { faults: self.faults.clone() })
    }

    fn registrations(&self) -> Option<&[WebhookConfiguration]> {
        Some(&self.registrations)
    }

    fn paths(&self, webhook: &str) -> Vec<String> {
        if webhook == "controlplane" { vec!["/controlplane".to_owned()] } else { Vec::new() }
    }

    async fn output_since(&self, _: u64) -> String {
        if self.faults.contains(&Fault::Panics) { PANIC.to_owned() } else { String::new() }
    }

    async fn stop(self: Box<Self>) {}
}

fn registration() -> WebhookConfiguration {
    let object = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "acme"},
        "webhooks": [{
            "name": "controlplane.acme.example.com",
            "clientConfig": {"service": {"namespace": "garden", "name": "acme", "path": "/controlplane"}},
            "namespaceSelector": {"matchExpressions": [{"key": "shoot.gardener.cloud/provider", "operator": "In", "values": ["local"]}]},
            "rules": [
                {"operations": ["CREATE", "UPDATE"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"]},
                {"operations": ["CREATE", "UPDATE"], "apiGroups": ["extensions.gardener.cloud"], "apiVersions": ["v1alpha1"],
                 "resources": ["operatingsystemconfigs"]},
            ],
            "sideEffects": "None", "timeoutSeconds": 10, "admissionReviewVersions": ["v1", "v1beta1"],
        }],
    });
    WebhookConfiguration::from_object(&object).expect("a constant")
}

struct AcmeDialer {
    faults: Vec<Fault>,
}

#[async_trait]
impl Dialer for AcmeDialer {
    async fn post(&self, path: &str, body: Bytes, timeout: Duration) -> Result<HttpAnswer, DialError> {
        let url = format!("https://acme{path}");
        let review: Value = serde_json::from_slice(&body).expect("the harness sends JSON");
        let request = &review["request"];
        let is_config = request["kind"]["kind"] == "OperatingSystemConfig";
        let has = |fault| is_config && self.faults.contains(&fault);
        if has(Fault::Panics) {
            return Err(DialError::Exchange { url, source_text: "unexpected end of file".to_owned() });
        }
        if has(Fault::Hangs) {
            return Err(DialError::Timeout { url, timeout });
        }
        if has(Fault::IsNoWebhook) {
            return Ok(HttpAnswer { media: None, status: 200, body: Bytes::from("<html>welcome</html>") });
        }
        let changes = if has(Fault::PatchesNothing) {
            json!([{"op": "replace", "path": "/spec/units/99/content", "value": "x"}])
        } else {
            self.patch(&request["object"])
        };
        let mut response = json!({"uid": request["uid"], "allowed": true});
        if changes != json!([]) {
            response["patch"] = json!(STANDARD.encode(changes.to_string()));
            response["patchType"] = json!("JSONPatch");
        }
        let answer =
            json!({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response});
        Ok(HttpAnswer { media: None, status: 200, body: Bytes::from(answer.to_string()) })
    }
}

impl AcmeDialer {
    fn patch(&self, object: &Value) -> Value {
        let mut changed = object.clone();
        match object["kind"].as_str() {
            Some("Deployment") => self.deployment(&mut changed),
            Some("OperatingSystemConfig") => self.units(&mut changed),
            _ => {}
        }
        let parts = ["/spec/replicas", "/spec/template/spec/containers", "/spec/units"];
        let replace = |path: &&str| json!({"op": "replace", "path": path, "value": changed.pointer(path)});
        parts.iter().filter(|path| changed.pointer(path) != object.pointer(path)).map(replace).collect()
    }

    fn deployment(&self, object: &mut Value) {
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        for container in object["spec"]["template"]["spec"]["containers"].as_array_mut().into_iter().flatten()
        {
            if container["name"] != json!(name) {
                continue;
            }
            for list in ["command", "args"] {
                let Some(words) = container.get_mut(list).and_then(Value::as_array_mut) else { continue };
                let mut drop = |flag: &str| {
                    let start = format!("{flag}=");
                    words.retain(|word| {
                        word.as_str().is_none_or(|word| word != flag && !word.starts_with(&start))
                    });
                };
                match name.as_str() {
                    "kube-apiserver" => {
                        ["--cloud-provider", "--cloud-config"].into_iter().for_each(&mut drop);
                        if self.faults.contains(&Fault::TakesFlag) {
                            drop("--tls-cert-file");
                        }
                    }
                    "kube-controller-manager" => {
                        let flags = ["--cloud-provider", "--cloud-config", "--external-cloud-volume-plugin"];
                        flags.into_iter().for_each(&mut drop);
                        words.push(json!("--cloud-provider=external"));
                    }
                    _ => {}
                }
            }
        }
        if name == "kube-controller-manager" && self.faults.contains(&Fault::SetsReplicas) {
            object["spec"]["replicas"] = json!(2);
        }
    }

    fn units(&self, object: &mut Value) {
        for unit in object["spec"]["units"].as_array_mut().into_iter().flatten() {
            let content = unit["content"].as_str().unwrap_or_default().trim_end_matches('\n').to_owned();
            let appends =
                !content.contains("--cloud-provider=external") || self.faults.contains(&Fault::AppendsAgain);
            if unit["name"] == "kubelet.service" && !content.is_empty() && appends {
                unit["content"] = json!(format!("{content} \\\n    --cloud-provider=external"));
            }
        }
    }
}
