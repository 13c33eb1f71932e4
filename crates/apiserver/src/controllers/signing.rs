//! The signing controller: signs approved CertificateSigningRequests for Kubernetes' own signers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::ObjectChange;
use super::client::Client;
use crate::certificates::{self, SigningError};
use crate::clock::rfc3339;
use crate::object::meta;
use crate::state::ServerState;

const TABLE: &str = "certificatesigningrequests.certificates.k8s.io";
const CONTROLLER: &str = "certificate-controller";

/// The names of requests to retry.
#[derive(Debug, Default)]
pub(super) struct Signing {
    failed: Vec<String>,
}

impl Signing {
    /// Signs approved requests; returns whether a retry is necessary.
    pub(super) async fn sync(
        &mut self,
        shared: &ServerState,
        client: &Client,
        changes: &[ObjectChange],
    ) -> bool {
        let mut due = std::mem::take(&mut self.failed);
        due.extend(
            changes.iter().filter(|change| change.table == TABLE).map(|change| change.key.to_string()),
        );
        due.dedup();
        for name in due {
            let Some(updated) = with_outcome(shared, &name) else { continue };
            let path = format!("/apis/certificates.k8s.io/v1/certificatesigningrequests/{name}/status");
            let outcome = client.update(CONTROLLER, &path, &updated).await;
            if outcome.is_err_and(|error| !error.is_outdated()) {
                self.failed.push(name);
            }
        }
        !self.failed.is_empty()
    }
}

/// The request with its certificate or a condition `Failed`; absent if there is nothing to do.
fn with_outcome(shared: &ServerState, name: &str) -> Option<Value> {
    let request = shared.store.get(TABLE, name)?;
    let authority = shared.authority.get().ok()?;
    let now = shared.clock.now();
    let mut updated = request.value().clone();
    if meta::is_terminating(&updated) {
        return None;
    }
    match certificates::sign(authority, &updated, now) {
        Ok(None) => return None,
        Ok(Some(pem)) => {
            let text = STANDARD.encode(pem);
            updated["status"]["certificate"] = text.into();
        }
        Err(refusal) => {
            let reason = match refusal {
                SigningError::Unfit(_) => "SignerValidationFailure",
                SigningError::Unreadable(_) | SigningError::Signing(_) => "SigningFailure",
            };
            let since = rfc3339(now);
            let failed = json!({
                "type": "Failed", "status": "True", "reason": reason, "message": refusal.to_string(),
                "lastUpdateTime": since, "lastTransitionTime": since,
            });
            updated["status"]["conditions"].as_array_mut()?.push(failed);
        }
    }
    Some(updated)
}
