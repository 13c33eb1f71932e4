//! The API server of the virtual cluster, and whether it is available.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use controller::limit::RequestLimit;
use controller::remote::{self, RemoteError};
use controller::requests::RequestCounts;
use controller::{Cluster, Selection, Store, describe_error};
use http::Request;
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use serde_json::Value;
use tokio::net::lookup_host;
use tokio::sync::Mutex;

use super::checks::Failure;
use crate::config::ClientConnection;
use crate::controllers::GARDEN_NAMESPACE;

/// Where the API server is reached inside of the runtime cluster.
const INTERNAL_HOST: (&str, u16) = ("virtual-garden-kube-apiserver.garden.svc.cluster.local", 443);
/// Secrets with the kubeconfig for the host inside of the runtime cluster, and for that outside.
const INTERNAL: &str = "gardener-internal";
const EXTERNAL: &str = "gardener";

/// How the API server of the virtual cluster is reached. Cheap to clone.
#[derive(Clone)]
pub enum VirtualCluster {
    /// With this client; `None`: it cannot be reached.
    Client(Option<Client>),
    /// With the kubeconfig in a Secret of the runtime cluster.
    Kubeconfig(Arc<KubeconfigClient>),
}

/// A client for the kubeconfig in a Secret, which changes with its token.
pub struct KubeconfigClient {
    internal: Store<Secret>,
    external: Store<Secret>,
    limit: (f64, i64),
    /// The last kubeconfig, with its client.
    last: Mutex<Option<(Vec<u8>, Client)>>,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub(in crate::controllers) enum ClientError {
    #[error("there is no API server")]
    Absent,
    #[error("Secret {0:?} not found")]
    Secret(&'static str),
    #[error("failed to read the kubeconfig: {0}")]
    Kubeconfig(#[from] formats::yaml::Error),
    #[error("token for virtual garden kubeconfig was not populated yet")]
    Token,
    #[error(transparent)]
    Remote(#[from] RemoteError),
}

impl fmt::Debug for VirtualCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Client(_) => "Client",
            Self::Kubeconfig(_) => "Kubeconfig",
        })
    }
}

impl VirtualCluster {
    /// The one whose kubeconfig Secrets of the runtime cluster hold.
    #[must_use]
    pub fn of_kubeconfig(runtime: &Cluster, connection: &ClientConnection) -> Self {
        let secret = |name: &str| {
            let one = Selection::all().namespaces([GARDEN_NAMESPACE]).fields(format!("metadata.name={name}"));
            runtime.store::<Secret>(one)
        };
        Self::Kubeconfig(Arc::new(KubeconfigClient {
            internal: secret(INTERNAL),
            external: secret(EXTERNAL),
            limit: (connection.qps, connection.burst),
            last: Mutex::new(None),
        }))
    }

    /// Asks the API server for its health, which it must tell within this time. OPR-CAR-009, OPR-CAR-010.
    pub(super) async fn check(&self, limit: Duration) -> Result<(), Failure> {
        let client = self.client().await.map_err(|error| {
            tracing::debug!(error = describe_error(&error), "Could not get garden client");
            let message = "Could not reach virtual garden API server during client initialization.";
            Failure::new("VirtualGardenAPIServerDown", message)
        })?;
        let error = match tokio::time::timeout(limit, healthz(&client)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => describe_error(&error),
            Err(_elapsed) => "context deadline exceeded".to_owned(),
        };
        let message =
            format!("Request to API server /healthz endpoint failed. [response_time:0ms] ({error})");
        Err(Failure::new("HealthzRequestFailed", message))
    }

    /// A client of the API server.
    pub(in crate::controllers) async fn client(&self) -> Result<Client, ClientError> {
        match self {
            Self::Client(client) => client.clone().ok_or(ClientError::Absent),
            Self::Kubeconfig(client) => client.get().await,
        }
    }
}

impl KubeconfigClient {
    /// The existing client as long as the kubeconfig has not changed.
    async fn get(&self) -> Result<Client, ClientError> {
        let kubeconfig = self.kubeconfig().await?;
        let mut last = self.last.lock().await;
        if let Some((_, client)) = last.as_ref().filter(|(known, _)| *known == kubeconfig) {
            return Ok(client.clone());
        }
        if !has_token(&formats::yaml::from_str(&String::from_utf8_lossy(&kubeconfig))?) {
            return Err(ClientError::Token);
        }
        let config = remote::config_of("of the virtual garden", &kubeconfig).await?;
        let client = remote::client_of(&config, &RequestCounts::default())?;
        let (qps, burst) = self.limit;
        let client = RequestLimit::new(qps, u32::try_from(burst).unwrap_or(u32::MAX)).wrap_client(&client);
        *last = Some((kubeconfig, client.clone()));
        Ok(client)
    }

    /// The kubeconfig for the host inside of the cluster where its name is known, else that for the host outside.
    async fn kubeconfig(&self) -> Result<Vec<u8>, ClientError> {
        let is_inside =
            lookup_host(INTERNAL_HOST).await.is_ok_and(|mut addresses| addresses.next().is_some());
        let (name, store) = if is_inside { (INTERNAL, &self.internal) } else { (EXTERNAL, &self.external) };
        let secret = store.get(GARDEN_NAMESPACE, name).ok_or(ClientError::Secret(name))?;
        let kubeconfig = secret.data.as_ref().and_then(|data| data.get("kubeconfig"));
        Ok(kubeconfig.map(|data| data.0.clone()).unwrap_or_default())
    }
}

/// Whether the user of a kubeconfig's current context has a token: the Secret is created without.
fn has_token(kubeconfig: &Value) -> bool {
    let named = |list: &str, name: &Value| -> Option<Value> {
        kubeconfig[list].as_array()?.iter().find(|entry| entry["name"] == *name).cloned()
    };
    let context = named("contexts", &kubeconfig["current-context"]).unwrap_or_default();
    let user = named("users", &context["context"]["user"]).unwrap_or_default();
    user["user"]["token"].as_str().is_some_and(|token| !token.is_empty())
}

async fn healthz(client: &Client) -> Result<(), kube::Error> {
    let request = Request::get("/healthz").body(Vec::new()).map_err(kube::Error::HttpError)?;
    client.request_text(request).await.map(drop)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case(&json!({"user": {"token": "t"}, "name": "u"}), "c", true)]
    #[case(&json!({"user": {"token": ""}, "name": "u"}), "c", false)]
    #[case(&json!({"user": {}, "name": "u"}), "c", false)]
    #[case(&json!({"user": {"token": "t"}, "name": "other"}), "c", false)]
    #[case(&json!({"user": {"token": "t"}, "name": "u"}), "other", false)]
    fn the_user_of_the_current_context_has_a_token(
        #[case] user: &Value,
        #[case] current: &str,
        #[case] has: bool,
    ) {
        let contexts = json!([{"name": "c", "context": {"user": "u"}}]);
        let kubeconfig = json!({"current-context": current, "contexts": contexts, "users": [user]});
        assert_eq!(has_token(&kubeconfig), has);
    }
}
