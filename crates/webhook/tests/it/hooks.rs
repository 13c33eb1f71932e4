//! Webhooks for tests, and a review to send them.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::json;
use webhook::answer::Answer;
use webhook::mutation;
use webhook::object;
use webhook::review::AdmissionRequest;
use webhook::service::{Limits, Route, Webhook, WebhookService, service};

/// Sets `spec.seen` to true.
struct Marks;

#[async_trait]
impl Webhook for Marks {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        mutation::answer(request, |object| Ok(object::set(object, &["spec", "seen"], true)?))
    }
}

struct Panics;

#[async_trait]
impl Webhook for Panics {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        panic!("no idea about {}", request.name)
    }
}

struct Sleeps(Duration);

#[async_trait]
impl Webhook for Sleeps {
    async fn answer(&self, _: &AdmissionRequest<'_>) -> Answer {
        tokio::time::sleep(self.0).await;
        Answer::allowed("slept")
    }
}

/// Blocks its thread until it is released.
pub(crate) struct Works(pub(crate) Arc<(Mutex<bool>, Condvar)>);

#[async_trait]
impl Webhook for Works {
    async fn answer(&self, _: &AdmissionRequest<'_>) -> Answer {
        let (released, changed) = &*self.0;
        let limit = Duration::from_secs(10);
        let waited =
            changed.wait_timeout_while(released.lock().unwrap(), limit, |released| !*released).unwrap();
        if waited.1.timed_out() { Answer::errored(500, "not released in time") } else { Answer::allowed("") }
    }
}

/// `/marks`, `/panics`, `/sleeps` (an hour), `/naps` (200 ms).
pub(crate) fn hooks(limits: Limits) -> WebhookService {
    let route = |name, webhook| Route { name, path: format!("/{name}"), webhook };
    service(
        vec![
            route("marks", Arc::new(Marks)),
            route("panics", Arc::new(Panics)),
            route("sleeps", Arc::new(Sleeps(Duration::from_hours(1)))),
            route("naps", Arc::new(Sleeps(Duration::from_millis(200)))),
        ],
        limits,
    )
}

/// A review of this version for an object without `spec.seen`.
pub(crate) fn review(version: &str) -> Bytes {
    let request = json!({"uid": "u-1", "name": "x", "operation": "CREATE", "object": {"spec": {"kept": 1}}});
    json!({"apiVersion": format!("admission.k8s.io/{version}"), "kind": "AdmissionReview", "request": request})
        .to_string()
        .into()
}

/// The answer of `/marks` to [`review`].
pub(crate) fn marked(version: &str) -> String {
    format!(
        r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/{version}","response":{{"uid":"u-1","allowed":true,"status":{{"metadata":{{}},"code":200}},"patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvc2VlbiIsInZhbHVlIjp0cnVlfV0=","patchType":"JSONPatch"}}}}
"#
    )
}
