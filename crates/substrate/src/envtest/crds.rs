//! Installs CustomResourceDefinitions.

use std::time::Duration;

use serde_json::Value;

use super::EnvtestError;
use crate::cluster::{Cluster, ClusterError};

/// The interval between checks.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The timeout until a CRD is served.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Creates or updates CRDs, and waits until the server serves each of their versions.
///
/// # Errors
/// When one is refused or is not served in time.
pub async fn install(client: &kube::Client, crds: &[Value]) -> Result<(), EnvtestError> {
    let cluster = Cluster::new(client.clone());
    for crd in crds {
        let failed = |source| EnvtestError::Crd { name: name(crd), source };
        let mut reply = cluster.create(crd, "").await.map_err(failed)?;
        if reply.code == http::StatusCode::CONFLICT.as_u16() {
            // It exists, perhaps from an earlier version of this program.
            reply = cluster.merge_patch(crd, "", crd).await.map_err(failed)?;
        }
        if !reply.is_success() {
            return Err(EnvtestError::NotServed { name: name(crd), reason: reply.message() });
        }
    }
    for crd in crds {
        let served = tokio::time::timeout(TIMEOUT, wait_until_served(&cluster, crd));
        served
            .await
            .map_err(|_| EnvtestError::NotServed {
                name: name(crd),
                reason: format!("not established after {TIMEOUT:?}"),
            })?
            .map_err(|source| EnvtestError::Crd { name: name(crd), source })?;
    }
    Ok(())
}

async fn wait_until_served(cluster: &Cluster, crd: &Value) -> Result<(), ClusterError> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (group, plural) = (text(&crd["spec"]["group"]), text(&crd["spec"]["names"]["plural"]));
    for version in crd["spec"]["versions"].as_array().into_iter().flatten() {
        while version["served"] == true && !cluster.serves(&group, &text(&version["name"]), &plural).await? {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
    Ok(())
}

fn name(crd: &Value) -> String {
    crd["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}
