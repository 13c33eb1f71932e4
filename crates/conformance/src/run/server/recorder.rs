//! Forwards the calls of an API server to the target, and records them.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Value;
use substrate::cluster::{ClusterError, Reply};
use webhook::dial::{Connection, DialError, Dialer, Dialers, HttpAnswer};
use webhook::registration::ClientConfig;

use super::request::ServerRequest;
use super::{WebhookContext, send};
use crate::exchange;
use crate::exchange::Subject;

/// One call of the target by the API server.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Path without the query.
    pub(super) path: String,
    /// The AdmissionRequest in it.
    pub(super) request: Value,
    /// Why there is no answer, if so.
    pub(super) failed: Option<DialError>,
}

/// The reply to a request, and the calls of the target for it.
pub(super) struct ServerExchange {
    pub(super) reply: Reply,
    pub(super) called: bool,
    pub(super) calls: Vec<Call>,
}

/// Records calls until they are taken.
#[derive(Default)]
pub(crate) struct Recorder {
    target: OnceLock<Arc<dyn Dialer>>,
    calls: Mutex<Vec<Call>>,
}

impl Recorder {
    /// Sets the connection to the target, which is started after the server.
    pub(crate) fn reach(&self, target: Arc<dyn Dialer>) {
        // The first one stays: a group has one target.
        let _ = self.target.set(target);
    }

    /// Takes the calls about objects of this namespace, name and operation; an empty name takes those of any name.
    pub(super) fn take(&self, namespace: &str, name: &str, operation: &str) -> Vec<Call> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let text = |call: &Call, field: &str| call.request[field].as_str().unwrap_or_default().to_owned();
        let is = |call: &Call| {
            text(call, "namespace") == namespace
                && text(call, "operation") == operation
                && (name.is_empty() || text(call, "name") == name)
        };
        let (taken, kept) = std::mem::take(&mut *calls).into_iter().partition(is);
        *calls = kept;
        taken
    }
}

#[async_trait]
impl Dialer for Recorder {
    async fn post(&self, path: &str, body: Bytes, timeout: Duration) -> Result<HttpAnswer, DialError> {
        let Some(target) = self.target.get() else {
            let source_text = "the target is not started".to_owned();
            return Err(DialError::Connect { url: path.to_owned(), source_text });
        };
        let (answer, _) = exchange::post(target.as_ref(), path, &body, timeout).await;
        let review = formats::json::document(&body).unwrap_or_default();
        let call = Call {
            path: path.split('?').next().unwrap_or(path).to_owned(),
            request: review["request"].clone(),
            failed: answer.as_ref().err().cloned(),
        };
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        answer
    }
}

/// Sends a request, and takes the calls of the target for it.
pub(super) async fn send(
    context: &WebhookContext<'_>,
    subject: &Subject,
    request: &ServerRequest,
) -> Result<ServerExchange, ClusterError> {
    let operation = request.operation().to_string();
    let take = || context.recorder.take(&subject.namespace, &subject.name, &operation);
    drop(take());
    let reply = send::send(&context.requests, request).await?;
    let calls = take();
    Ok(ServerExchange { reply, called: !calls.is_empty(), calls })
}

/// Connects every registration to the recorder.
pub(crate) struct ToTarget(pub(crate) Arc<Recorder>);

impl Dialers for ToTarget {
    fn dialer(&self, _: &ClientConfig, _: Connection<'_>) -> Result<Arc<dyn Dialer>, DialError> {
        Ok(Arc::<Recorder>::clone(&self.0) as Arc<dyn Dialer>)
    }
}
