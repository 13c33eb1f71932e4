//! The signing controller: signs approved requests of Kubernetes' own signers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::News;
use super::client::Client;
use crate::certificates::{self, Refusal};
use crate::clock::rfc3339;
use crate::object::meta;
use crate::state::Shared;

const TABLE: &str = "certificatesigningrequests.certificates.k8s.io";
const CONTROLLER: &str = "certificate-controller";

/// The requests that could not be brought to an end.
#[derive(Debug, Default)]
pub(super) struct Signing {
    failed: Vec<String>,
}

impl Signing {
    /// Signs what was approved; whether something has to be tried again.
    pub(super) async fn work(&mut self, shared: &Shared, client: &Client, news: &[News]) -> bool {
        let mut due = std::mem::take(&mut self.failed);
        due.extend(news.iter().filter(|told| told.table == TABLE).map(|told| told.key.to_string()));
        due.dedup();
        for name in due {
            let Some(answered) = answered(shared, &name) else { continue };
            let path = format!("/apis/certificates.k8s.io/v1/certificatesigningrequests/{name}/status");
            let outcome = client.update(CONTROLLER, &path, &answered).await;
            if outcome.is_err_and(|error| !error.is_outdated()) {
                self.failed.push(name);
            }
        }
        !self.failed.is_empty()
    }
}

/// The request with its certificate, or with why there is none; absent if there is nothing to do.
fn answered(shared: &Shared, name: &str) -> Option<Value> {
    let request = shared.store.get(TABLE, name)?;
    let authority = shared.authority.get().ok()?;
    let now = shared.clock.now();
    let mut answered = request.value().clone();
    if meta::is_terminating(&answered) {
        return None;
    }
    match certificates::sign(authority, &answered, now) {
        Ok(None) => return None,
        Ok(Some(pem)) => {
            let text = STANDARD.encode(pem);
            answered["status"]["certificate"] = text.into();
        }
        Err(refusal) => {
            let reason = match refusal {
                Refusal::Unfit(_) => "SignerValidationFailure",
                Refusal::Unreadable(_) | Refusal::Signing(_) => "SigningFailure",
            };
            let since = rfc3339(now);
            let failed = json!({
                "type": "Failed", "status": "True", "reason": reason, "message": refusal.to_string(),
                "lastUpdateTime": since, "lastTransitionTime": since,
            });
            answered["status"]["conditions"].as_array_mut()?.push(failed);
        }
    }
    Some(answered)
}
