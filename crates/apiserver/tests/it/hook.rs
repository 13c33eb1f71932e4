//! A webhook in process that answers by script and records the reviews that it receives.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Value, json};
use webhook::dial::{Connection, DialError, Dialer, Dialers, HttpAnswer};
use webhook::registration::ClientConfig;

/// Computes a webhook's reply to a request.
type Script = Arc<dyn Fn(&Value) -> HookReply + Send + Sync>;

/// A webhook's reply.
#[derive(Clone, Debug)]
pub(crate) enum HookReply {
    /// A response; the uid is added.
    Response(Value),
    /// A response that allows the request and contains this patch.
    Patch(Value),
    /// This body with this HTTP status.
    Raw(u16, String),
    /// The connection is refused.
    Refuse,
    /// No response.
    Hang,
    /// A delayed response.
    Late(Duration, Value),
}

/// Webhooks by path.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    scripts: BTreeMap<String, Script>,
    reviews: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Hooks {
    /// Adds a webhook at `/name`.
    pub(crate) fn with(
        mut self,
        name: &str,
        script: impl Fn(&Value) -> HookReply + Send + Sync + 'static,
    ) -> Self {
        self.scripts.insert(name.to_owned(), Arc::new(script));
        self
    }

    /// Takes the reviews since the last call, each with the name of its webhook.
    pub(crate) fn take_reviews(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut *self.reviews.lock().unwrap())
    }

    /// Takes the names of the webhooks called since the last call, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.take_reviews().into_iter().map(|(name, _)| name).collect()
    }
}

impl Dialers for Hooks {
    fn dialer(&self, _: &ClientConfig, _: Connection<'_>) -> Result<Arc<dyn Dialer>, DialError> {
        Ok(Arc::new(self.clone()))
    }
}

#[async_trait]
impl Dialer for Hooks {
    async fn post(&self, path: &str, body: Bytes, timeout: Duration) -> Result<HttpAnswer, DialError> {
        let (path, query) = path.split_once('?').unwrap();
        assert_eq!(query, format!("timeout={}s", timeout.as_secs()));
        let unread = |source_text| DialError::Exchange { url: path.to_owned(), source_text };
        let review = formats::json::document(&body).map_err(unread)?;
        let name = path.trim_start_matches('/').to_owned();
        self.reviews.lock().unwrap().push((name.clone(), review.clone()));
        let mut response = match self.scripts[&name](&review["request"]) {
            HookReply::Response(response) => response,
            HookReply::Patch(operations) => {
                let text = STANDARD.encode(operations.to_string());
                json!({"allowed": true, "patchType": "JSONPatch", "patch": text})
            }
            HookReply::Raw(status, text) => {
                return Ok(HttpAnswer { media: None, status, body: Bytes::from(text) });
            }
            HookReply::Refuse => {
                let source_text = "connection refused".to_owned();
                return Err(DialError::Connect { url: path.to_owned(), source_text });
            }
            HookReply::Hang => std::future::pending().await,
            HookReply::Late(after, response) => {
                tokio::time::sleep(after).await;
                response
            }
        };
        if response.get("uid").is_none() {
            response["uid"] = review["request"]["uid"].clone();
        }
        let answer =
            json!({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response});
        Ok(HttpAnswer { media: None, status: 200, body: Bytes::from(answer.to_string()) })
    }
}

/// A configuration with one webhook per name, for all writes of ConfigMaps; `extra` is merged into each webhook.
pub(crate) fn configuration(kind: &str, name: &str, hooks: &[&str], extra: &Value) -> Value {
    let webhook = |hook: &&str| {
        let mut webhook = json!({
            "name": format!("{hook}.example.org"),
            "clientConfig": {"service": {"namespace": "x", "name": "hooks", "path": format!("/{hook}")}},
            "rules": [{
                "operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
            }],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        });
        for (field, value) in extra.as_object().into_iter().flatten() {
            webhook[field] = value.clone();
        }
        webhook
    };
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{kind}WebhookConfiguration"),
        "metadata": {"name": name},
        "webhooks": hooks.iter().map(webhook).collect::<Vec<_>>(),
    })
}
