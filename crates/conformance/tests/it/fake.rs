//! Scripted targets: they answer correctly, wrongly, late, or with garbage.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use conformance::target::{Configured, Identity, Running, Setup, Target, TargetError, TargetKind, Trial};
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use webhook::dial::{DialError, Dialer, HttpAnswer};
use webhook::registration::WebhookConfiguration;

/// The behaviour of a fake target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Keeps the contract.
    Good,
    /// Gives servers two replicas.
    WrongValue,
    /// Also sets a label.
    Careless,
    /// Counts its answers in an annotation.
    Forgetful,
    /// Answers for another request.
    OtherUid,
    /// Answers `<html>`.
    Garbage,
    /// HTTP 500.
    Broken,
    /// Never answers.
    Hanging,
    /// Closes the connection on a request about a server, as Go does when a webhook panics.
    HangingUp,
    /// Closes every second connection, like one that was idle for too long.
    Nervous,
    /// Nothing listens.
    Unreachable,
    /// 404.
    NotServed,
    /// Leaves out the patch type.
    Untyped,
    /// Does not start.
    Stillborn,
}

/// A target with this behaviour.
pub(crate) struct Fake {
    pub(crate) manner: Manner,
    pub(crate) registered: bool,
}

/// A target with this dialer and these registrations.
pub(crate) struct Scripted {
    pub(crate) dialer: Arc<dyn Dialer>,
    pub(crate) registrations: Vec<WebhookConfiguration>,
    /// Written into the cluster before the first case.
    pub(crate) meddling: Option<Value>,
}

/// A target that is not ours.
pub(crate) struct Foreign {
    pub(crate) manner: Manner,
    pub(crate) registrations: Vec<WebhookConfiguration>,
    /// Its declared extras.
    pub(crate) extras: Vec<String>,
}

#[async_trait]
impl Target for Foreign {
    fn identity(&self) -> Identity {
        Fake { manner: self.manner, registered: true }.identity()
    }

    fn features(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn extras(&self) -> Vec<String> {
        self.extras.clone()
    }

    fn is_outside(&self) -> bool {
        true
    }

    async fn start(&self, _: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        let registrations = Some(self.registrations.clone());
        Ok(Box::new(RunningFake { dialer: Arc::new(FakeDialer::new(self.manner)), registrations }))
    }
}

#[async_trait]
impl Target for Scripted {
    fn identity(&self) -> Identity {
        Fake { manner: Manner::Good, registered: true }.identity()
    }

    fn features(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn is_outside(&self) -> bool {
        false
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        if let (Some(object), Some(facts)) = (&self.meddling, setup.facts) {
            let reply = Cluster::new(facts.client).create(object, "").await.expect("the server is there");
            assert!(reply.is_success(), "{}", reply.message());
        }
        let (dialer, registrations) = (Arc::clone(&self.dialer), Some(self.registrations.clone()));
        Ok(Box::new(RunningFake { dialer, registrations }))
    }
}

#[async_trait]
impl Target for Fake {
    fn identity(&self) -> Identity {
        Identity {
            name: "fake".to_owned(),
            version: Some("v1.0.0".to_owned()),
            kind: TargetKind::BuiltIn,
            endpoint: "in process".to_owned(),
        }
    }

    fn features(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn is_outside(&self) -> bool {
        false
    }

    /// The default of `burst` is 130, and it must not be negative; other manners accept any value.
    async fn configure(&self, trial: Trial<'_>) -> Result<Option<Configured>, TargetError> {
        let burst = trial.config["burst"].as_i64().unwrap_or(130);
        Ok(match self.manner {
            Manner::NotServed => None,
            Manner::Stillborn => return Err(TargetError::Certificate { reason: "no".to_owned() }),
            Manner::Good if burst < 0 => {
                let message = format!("[burst: Invalid value: {burst}: must be non-negative]");
                Some(Configured::Refused { message })
            }
            Manner::Hanging => Some(Configured::Started { warnings: None, effective: None }),
            _ => Some(Configured::Started {
                warnings: Some(Vec::new()),
                effective: Some(json!({"burst": burst})),
            }),
        })
    }

    async fn start(&self, _: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        if self.manner == Manner::Stillborn {
            let (name, reason) = ("fake".to_owned(), "no".to_owned());
            return Err(TargetError::Configuration { name, reason });
        }
        let registrations = self.registered.then(|| vec![registration()]);
        Ok(Box::new(RunningFake { dialer: Arc::new(FakeDialer::new(self.manner)), registrations }))
    }
}

fn registration() -> WebhookConfiguration {
    registered("fake", "/replicas")
}

/// A registration with this name and path.
pub(crate) fn registered(name: &str, path: &str) -> WebhookConfiguration {
    let object = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [{
            "name": "replicas.example.com",
            "clientConfig": {"service": {"namespace": "garden", "name": "fake", "path": path}},
            "rules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"]}],
            "objectSelector": {"matchExpressions": [{"key": "skip", "operator": "DoesNotExist"}]},
            "sideEffects": "None", "timeoutSeconds": 1, "admissionReviewVersions": ["v1", "v1beta1"],
        }],
    });
    WebhookConfiguration::from_object(&object).expect("a constant")
}

struct RunningFake {
    dialer: Arc<dyn Dialer>,
    registrations: Option<Vec<WebhookConfiguration>>,
}

#[async_trait]
impl Running for RunningFake {
    fn dialer(&self) -> Arc<dyn Dialer> {
        Arc::clone(&self.dialer)
    }

    fn registrations(&self) -> Option<&[WebhookConfiguration]> {
        self.registrations.as_deref()
    }

    fn paths(&self, webhook: &str) -> Vec<String> {
        let registered =
            self.registrations.iter().flatten().flat_map(|configuration| &configuration.webhooks);
        let paths: BTreeSet<String> = registered
            .map(conformance::route::path)
            .chain(["/replicas".to_owned()])
            .filter(|path| path.starts_with(&format!("/{webhook}")))
            .collect();
        paths.into_iter().collect()
    }

    async fn stop(self: Box<Self>) {}
}

pub(crate) struct FakeDialer {
    manner: Manner,
    requests: AtomicU64,
}

impl FakeDialer {
    pub(crate) fn new(manner: Manner) -> Self {
        Self { manner, requests: AtomicU64::new(0) }
    }

    fn answer(&self, review: &Value) -> Value {
        let request = &review["request"];
        let mut patch = Vec::new();
        let object = &request["object"];
        let wanted = match object["metadata"]["labels"]["type"].as_str() {
            Some("controller") => 2,
            Some("server") if self.manner == Manner::WrongValue => 2,
            Some("server") => 3,
            _ => object["spec"]["replicas"].as_u64().unwrap_or(1),
        };
        let is_deployment = request["kind"]["kind"] == "Deployment";
        if is_deployment && object["spec"]["replicas"] != json!(wanted) {
            patch.push(json!({"op": "replace", "path": "/spec/replicas", "value": wanted}));
        }
        if is_deployment
            && self.manner == Manner::Careless
            && object["metadata"]["labels"]["careless"].is_null()
        {
            patch.push(json!({"op": "add", "path": "/metadata/labels/careless", "value": "true"}));
        }
        if is_deployment && self.manner == Manner::Forgetful {
            let count = self.requests.fetch_add(1, Ordering::SeqCst).to_string();
            patch.push(json!({"op": "add", "path": "/metadata/annotations", "value": {"count": count}}));
        }
        let uid = if self.manner == Manner::OtherUid { &json!("another") } else { &request["uid"] };
        let mut response = json!({"uid": uid, "allowed": true, "status": {"code": 200}});
        if !patch.is_empty() {
            response["patch"] = json!(base64(&json!(patch).to_string()));
            if self.manner != Manner::Untyped {
                response["patchType"] = json!("JSONPatch");
            }
        }
        json!({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response})
    }
}

#[async_trait]
impl Dialer for FakeDialer {
    async fn post(&self, path: &str, body: Bytes, timeout: Duration) -> Result<HttpAnswer, DialError> {
        let url = format!("https://fake{path}");
        let plain =
            |status: u16, text: &'static str| Ok(HttpAnswer { media: None, status, body: Bytes::from(text) });
        match self.manner {
            Manner::Unreachable => {
                Err(DialError::Connect { url, source_text: "connection refused".to_owned() })
            }
            Manner::HangingUp if String::from_utf8_lossy(&body).contains(r#""type":"server""#) => {
                Err(DialError::Exchange { url, source_text: "unexpected end of file".to_owned() })
            }
            Manner::Nervous if self.requests.fetch_add(1, Ordering::SeqCst).is_multiple_of(2) => {
                Err(DialError::Exchange { url, source_text: "connection closed".to_owned() })
            }
            Manner::Hanging => Err(DialError::Timeout { url, timeout }),
            Manner::NotServed => plain(404, "404 page not found"),
            Manner::Broken => plain(500, "internal error"),
            Manner::Garbage => plain(200, "<html>"),
            _ => {
                let review: Value = serde_json::from_slice(&body).expect("the harness sends JSON");
                let answer = self.answer(&review);
                Ok(HttpAnswer { media: None, status: 200, body: Bytes::from(answer.to_string()) })
            }
        }
    }
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}
