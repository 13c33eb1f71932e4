//! Stands between the API server and the target: finds the way, and remembers what was asked.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Value;
use substrate::cluster::ClusterError;
use webhook::dial::{Connection, DialError, Dialer, Dialers, HttpAnswer};
use webhook::registration::ClientConfig;

use super::case::Ask;
use super::inside::Sent;
use super::{Ground, send};
use crate::exchange;
use crate::exchange::Subject;

/// One call of the target by the server.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Path asked, without its query.
    pub(super) path: String,
    /// The AdmissionRequest in it.
    pub(super) request: Value,
    /// Why no answer came, if none did.
    pub(super) failed: Option<DialError>,
}

/// Remembers calls until they are taken.
#[derive(Default)]
pub(in crate::run) struct Recorder {
    target: OnceLock<Arc<dyn Dialer>>,
    calls: Mutex<Vec<Call>>,
}

impl Recorder {
    /// Says how the target is reached; it is started after the server.
    pub(in crate::run) fn reach(&self, target: Arc<dyn Dialer>) {
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
        let review: Value = serde_json::from_slice(&body).unwrap_or_default();
        let call = Call {
            path: path.split('?').next().unwrap_or(path).to_owned(),
            request: review["request"].clone(),
            failed: answer.as_ref().err().cloned(),
        };
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        answer
    }
}

/// Sends a request, and takes what the target was asked about it.
pub(super) async fn ask(ground: &Ground<'_>, subject: &Subject, ask: &Ask) -> Result<Sent, ClusterError> {
    let operation = ask.operation().to_string();
    let take = || ground.recorder.take(&subject.namespace, &subject.name, &operation);
    drop(take());
    let reply = send::send(&ground.asking, ask).await?;
    let calls = take();
    Ok(Sent { reply, called: !calls.is_empty(), calls })
}

/// Every registration leads to the target.
pub(in crate::run) struct ToTarget(pub(in crate::run) Arc<Recorder>);

impl Dialers for ToTarget {
    fn dialer(&self, _: &ClientConfig, _: Connection<'_>) -> Result<Arc<dyn Dialer>, DialError> {
        Ok(Arc::<Recorder>::clone(&self.0) as Arc<dyn Dialer>)
    }
}
