//! Deploys the resource-manager of the virtual cluster. It requests the tokens of all components, its own among them; until it has
//! that one, it uses a client certificate.

use std::time::Duration;

use api::resources::{ManagedResource, TOKEN_RENEW_TIMESTAMP};
use controller::clock::Clock;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt as _;
use kube::api::{Api, PartialObjectMeta};
use tokio::sync::Mutex;

use super::component_table::FlowComponent;
use super::deployment::{self, Deployer};
use super::error::StepError;
use super::retry::Attempts;
use super::secret_store::SecretStore;
use super::{objects, readiness};
use crate::components::rendering::ObjectName;
use crate::components::virtual_resource_manager::{
    MANAGED, bootstrap_request, must_bootstrap, render_bootstrap,
};
use crate::components::{GardenComponent, NAMESPACE, RequestedSecret, access};

const CLIENT: &str = "gardener-resource-manager";
const INTERVAL: Duration = Duration::from_secs(5);
const LIMIT: Duration = Duration::from_mins(2);

/// Deploys the resource-manager; first with a client certificate if it has no access.
///
/// # Errors
/// If it cannot be rendered, the API server refuses, or it does not get a token in time.
pub(super) async fn deploy(
    deployer: &Deployer<'_>,
    store: &Mutex<SecretStore>,
    clock: Clock,
) -> Result<(), StepError> {
    let values = deployer.values(deployer.observed);
    if must_bootstrap(&values)? {
        let requested = bootstrap_request(&values)?;
        let name = generate(store, &requested).await?;
        deployment::write(deployer.client, &render_bootstrap(&values, &name)?).await?;
        wait(deployer, clock).await?;
        objects::delete(deployer.client, &ObjectName::in_garden("v1", "Secret", &name)).await?;
    }
    deployer.deploy(FlowComponent::Written(GardenComponent::VirtualResourceManager)).await
}

/// The name of the Secret with the client certificate.
async fn generate(store: &Mutex<SecretStore>, requested: &RequestedSecret) -> Result<String, StepError> {
    let mut store = store.lock().await;
    store.generate(requested).await?;
    Ok(store.generated().name(&requested.request.name)?.to_owned())
}

/// Waits until the token is there, then until the ManagedResource with the roles is healthy.
async fn wait(deployer: &Deployer<'_>, clock: Clock) -> Result<(), StepError> {
    let secrets: Api<Secret> = Api::namespaced(deployer.client.clone(), NAMESPACE);
    let resources: Api<ManagedResource> = Api::namespaced(deployer.client.clone(), NAMESPACE);
    let mut attempts = Attempts::new(INTERVAL, Some(LIMIT));
    let name = access::secret_name(CLIENT);
    loop {
        let reason = match secrets.get_metadata_opt(&name).await? {
            None => format!("secrets \"{name}\" not found"),
            Some(secret) => match missing_token(&secret, clock.now())? {
                None => break,
                Some(reason) => reason.to_owned(),
            },
        };
        attempts.pause(reason).await?;
    }
    loop {
        match readiness::managed_resource(&resources.get(MANAGED).await?, false) {
            Ok(()) => return Ok(()),
            Err(reason) => attempts.pause(reason).await?,
        }
    }
}

/// Why an access Secret has no valid token; `None` if it has one.
fn missing_token(
    secret: &PartialObjectMeta<Secret>,
    now: Timestamp,
) -> Result<Option<&'static str>, StepError> {
    let Some(text) = secret.annotations().get(TOKEN_RENEW_TIMESTAMP) else {
        return Ok(Some("token not yet generated"));
    };
    let time: Timestamp = text
        .parse()
        .map_err(|reason| StepError::State(format!("could not parse renew timestamp: {reason}")))?;
    Ok((now > time).then_some("token not yet renewed"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn missing(renewal: &str) -> Result<Option<&'static str>, StepError> {
        let annotations =
            if renewal.is_empty() { json!({}) } else { json!({TOKEN_RENEW_TIMESTAMP: renewal}) };
        let secret = json!({"metadata": {"name": "s", "annotations": annotations}});
        let now = "2023-11-14T22:13:20Z".parse().unwrap();
        missing_token(&serde_json::from_value(secret).unwrap(), now)
    }

    #[test]
    fn a_token_is_valid_until_it_should_have_been_renewed() {
        assert_eq!(missing("2023-11-15T00:00:00Z").unwrap(), None);
        assert_eq!(missing("2023-11-14T00:00:00Z").unwrap(), Some("token not yet renewed"));
        assert_eq!(missing("").unwrap(), Some("token not yet generated"));
        let error = missing("soon").unwrap_err().text();
        assert!(error.starts_with("could not parse renew timestamp: "), "{error}");
    }
}
