//! CustomResourceDefinitions on a server.

use std::time::Duration;

use serde_json::Value;

use super::EnvtestError;
use crate::cluster::{Cluster, ClusterError};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a definition may take until it is served.
const PATIENCE: Duration = Duration::from_secs(30);

/// Writes the definitions, also over those that are there, and waits until the server serves each of their versions.
///
/// # Errors
/// When one is refused or is not served in time.
pub async fn install(client: &kube::Client, crds: &[Value]) -> Result<(), EnvtestError> {
    let cluster = Cluster::new(client.clone());
    for crd in crds {
        let failed = |source| EnvtestError::Crd { name: name(crd), source };
        let mut reply = cluster.create(crd, "").await.map_err(failed)?;
        if reply.code == http::StatusCode::CONFLICT.as_u16() {
            // It is there, maybe as an earlier version of this program has it.
            reply = cluster.merge_patch(crd, "", crd).await.map_err(failed)?;
        }
        if !reply.is_success() {
            return Err(EnvtestError::NotServed { name: name(crd), reason: reply.message() });
        }
    }
    for crd in crds {
        let served = tokio::time::timeout(PATIENCE, served(&cluster, crd));
        served
            .await
            .map_err(|_| EnvtestError::NotServed {
                name: name(crd),
                reason: format!("not established after {PATIENCE:?}"),
            })?
            .map_err(|source| EnvtestError::Crd { name: name(crd), source })?;
    }
    Ok(())
}

async fn served(cluster: &Cluster, crd: &Value) -> Result<(), ClusterError> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (group, plural) = (text(&crd["spec"]["group"]), text(&crd["spec"]["names"]["plural"]));
    for version in crd["spec"]["versions"].as_array().into_iter().flatten() {
        while version["served"] == true && !cluster.serves(&group, &text(&version["name"]), &plural).await? {
            tokio::time::sleep(PAUSE).await;
        }
    }
    Ok(())
}

fn name(crd: &Value) -> String {
    crd["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}
