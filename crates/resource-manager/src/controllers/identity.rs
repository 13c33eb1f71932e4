//! The identity of the source cluster, for the origin annotations of managed objects.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client};

/// Name of the ConfigMap in `kube-system` that holds the identity, and of its key.
const CLUSTER_IDENTITY: &str = "cluster-identity";

/// Why the identity of the source cluster is unknown.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The ConfigMap cannot be read.
    #[error("cannot determine cluster identity from configmap: {0}")]
    Read(#[source] kube::Error),
    /// The ConfigMap does not contain it.
    #[error("cannot determine cluster identity from configmap: no cluster-identity entry")]
    Missing,
}

/// GRM-MR-021: returns `configured`, unless it is a placeholder: `<cluster>` requires an identity, `<default>` makes
/// it optional.
///
/// # Errors
/// When the ConfigMap cannot be read, or lacks a required identity.
pub async fn determine(configured: &str, source: &Client) -> Result<String, IdentityError> {
    let must = match configured {
        "<cluster>" => true,
        "<default>" => false,
        literal => return Ok(literal.to_owned()),
    };
    tracing::info!("Trying to get cluster id from cluster");
    let api: Api<ConfigMap> = Api::namespaced(source.clone(), "kube-system");
    let map = match api.get(CLUSTER_IDENTITY).await {
        Ok(map) => map,
        Err(kube::Error::Api(status)) if status.is_not_found() && !must => return Ok(String::new()),
        Err(error) => return Err(IdentityError::Read(error)),
    };
    match map.data.unwrap_or_default().remove(CLUSTER_IDENTITY) {
        None if must => Err(IdentityError::Missing),
        found => Ok(found.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use apiserver::ApiServer;
    use kube::api::{Patch, PatchParams, PostParams};
    use serde_json::json;

    use super::*;

    async fn determined(configured: &str, client: &Client) -> Result<String, String> {
        determine(configured, client).await.map_err(|error| error.to_string())
    }

    #[tokio::test(start_paused = true)]
    async fn the_cluster_is_only_queried_for_a_placeholder() {
        let client = Client::new(ApiServer::builder().build(), "default");
        let api: Api<ConfigMap> = Api::namespaced(client.clone(), "kube-system");
        assert_eq!(determined("seed-1", &client).await, Ok("seed-1".to_owned()));
        assert_eq!(determined("", &client).await, Ok(String::new()));
        assert_eq!(determined("<default>", &client).await, Ok(String::new()));
        let absent = determined("<cluster>", &client).await.unwrap_err();
        let want = "cannot determine cluster identity from configmap: ";
        assert!(absent.starts_with(want) && absent.contains("not found"), "{absent}");

        let map: ConfigMap = serde_json::from_value(json!({"metadata": {"name": CLUSTER_IDENTITY}})).unwrap();
        api.create(&PostParams::default(), &map).await.unwrap();
        assert_eq!(determined("<default>", &client).await, Ok(String::new()));
        assert_eq!(determined("<cluster>", &client).await, Err(format!("{want}no cluster-identity entry")));

        let patch = Patch::Merge(json!({"data": {CLUSTER_IDENTITY: "landscape-seed"}}));
        api.patch(CLUSTER_IDENTITY, &PatchParams::default(), &patch).await.unwrap();
        for asking in ["<cluster>", "<default>"] {
            assert_eq!(determined(asking, &client).await, Ok("landscape-seed".to_owned()));
        }
    }
}
