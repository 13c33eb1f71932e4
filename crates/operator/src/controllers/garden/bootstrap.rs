//! Deploys the resource-manager of the virtual cluster. It requests the tokens of all components, its own among them; until it has
//! that one, it uses a client certificate.

use std::time::Duration;

use api::resources::{ManagedResource, RESOURCES_APPLIED, TOKEN_RENEW_TIMESTAMP};
use controller::clock::Clock;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt as _;
use kube::api::{Api, PartialObjectMeta};
use secrets::request::{ControlPlaneContent, KubeconfigCluster};
use secrets::{CertificateContent, CertificateKind, Content, GenerateOptions, SecretRequest, Signer};
use tokio::sync::Mutex;

use super::component_table::GardenComponent;
use super::deployment::Deployer;
use super::error::StepError;
use super::retry::Attempts;
use super::secret_store::SecretStore;
use super::{objects, readiness};
use crate::components::generated::CA;
use crate::components::rendering::ObjectName;
use crate::components::{NAMESPACE, RequestedSecret, access};

const CLIENT: &str = "gardener-resource-manager";
const MANAGED: &str = "shoot-core-gardener-resource-manager";
/// Name of the request of the client certificate.
const REQUEST: &str = "shoot-access-gardener-resource-manager-bootstrap";
const VALIDITY: Duration = Duration::from_mins(10);
const API_SERVER: &str = "virtual-garden-kube-apiserver";
const INTERVAL: Duration = Duration::from_secs(5);
const LIMIT: Duration = Duration::from_mins(2);
/// Parts of messages about objects that could not be applied, because the resource-manager has lost its access.
const LOST_ACCESS: [&str; 2] = [
    "forbidden: User \"system:serviceaccount:kube-system:gardener-resource-manager\" cannot",
    ": Unauthorized",
];

/// How it is with the token of the resource-manager.
#[derive(Debug, PartialEq, Eq)]
enum TokenState {
    /// It is valid.
    Valid,
    /// It was never requested.
    Missing,
    /// It should have been renewed.
    Overdue,
}

/// Deploys the resource-manager; first with a client certificate if it has no access.
///
/// # Errors
/// If it cannot be rendered, the API server refuses, or it does not get a token in time.
pub(super) async fn deploy(
    deployer: &Deployer<'_>,
    store: &Mutex<SecretStore>,
    clock: Clock,
) -> Result<(), StepError> {
    let component = GardenComponent::VirtualResourceManager;
    let secrets: Api<Secret> = Api::namespaced(deployer.client.clone(), NAMESPACE);
    let resources: Api<ManagedResource> = Api::namespaced(deployer.client.clone(), NAMESPACE);
    let secret = secrets.get_metadata_opt(&access::secret_name(CLIENT)).await?;
    let managed = resources.get_opt(MANAGED).await?;
    if has_no_access(secret.as_ref(), managed.as_ref(), clock.now())? {
        let name = certificate(deployer, store).await?;
        let mut observed = deployer.observed.clone();
        observed.bootstrap_kubeconfig = Some(name.clone());
        deployer.deploy_observing(component, observed).await?;
        wait(&secrets, &resources, clock).await?;
        objects::delete(deployer.client, &ObjectName::in_garden("v1", "Secret", &name)).await?;
    }
    deployer.deploy(component).await
}

/// The name of a Secret with the client certificate in a kubeconfig.
async fn certificate(deployer: &Deployer<'_>, store: &Mutex<SecretStore>) -> Result<String, StepError> {
    let certificate = CertificateContent {
        common_name: "gardener.cloud:system:gardener-resource-manager".to_owned(),
        organizations: vec!["system:masters".to_owned()],
        validity: Some(VALIDITY),
        without_authority: true,
        ..CertificateContent::new(CertificateKind::Client)
    };
    let cluster = KubeconfigCluster {
        name: NAMESPACE.to_owned(),
        host: API_SERVER.to_owned(),
        authorities: deployer.secrets.bundle_pem(CA)?.to_owned(),
    };
    let content = ControlPlaneContent { certificate: Some(certificate), clusters: vec![cluster] };
    let requested = RequestedSecret {
        request: SecretRequest::new(REQUEST, Content::ControlPlane(content)),
        options: GenerateOptions { signer: Some(Signer::new("ca-client")), ..GenerateOptions::default() },
    };
    let mut store = store.lock().await;
    store.generate(&requested).await?;
    Ok(store.generated().name(REQUEST)?.to_owned())
}

/// Waits until the token is there, then until the ManagedResource with the roles is healthy.
async fn wait(
    secrets: &Api<Secret>,
    resources: &Api<ManagedResource>,
    clock: Clock,
) -> Result<(), StepError> {
    let mut attempts = Attempts::new(INTERVAL, Some(LIMIT));
    let name = access::secret_name(CLIENT);
    loop {
        let reason = match secrets.get_metadata_opt(&name).await? {
            None => format!("secrets \"{name}\" not found"),
            Some(secret) => match token_state(&secret, clock.now())? {
                TokenState::Valid => break,
                TokenState::Missing => "token not yet generated".to_owned(),
                TokenState::Overdue => "token not yet renewed".to_owned(),
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

/// Whether the resource-manager cannot reach the virtual cluster with a token.
fn has_no_access(
    secret: Option<&PartialObjectMeta<Secret>>,
    managed: Option<&ManagedResource>,
    now: Timestamp,
) -> Result<bool, StepError> {
    let Some(secret) = secret else { return Ok(true) };
    if token_state(secret, now)? != TokenState::Valid {
        return Ok(true);
    }
    let Some(managed) = managed else { return Ok(true) };
    let applied = managed.status.conditions.iter().find(|condition| condition.type_ == RESOURCES_APPLIED);
    let has_lost = |message: &str| LOST_ACCESS.iter().any(|part| message.contains(part));
    Ok(applied.is_some_and(|applied| applied.status == "False" && has_lost(&applied.message)))
}

fn token_state(secret: &PartialObjectMeta<Secret>, now: Timestamp) -> Result<TokenState, StepError> {
    let Some(text) = secret.annotations().get(TOKEN_RENEW_TIMESTAMP) else { return Ok(TokenState::Missing) };
    let time: Timestamp = text
        .parse()
        .map_err(|reason| StepError::State(format!("could not parse renew timestamp: {reason}")))?;
    Ok(if now > time { TokenState::Overdue } else { TokenState::Valid })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn now() -> Timestamp {
        "2023-11-14T22:13:20Z".parse().unwrap()
    }

    fn secret(renewal: &str) -> PartialObjectMeta<Secret> {
        let annotations =
            if renewal.is_empty() { json!({}) } else { json!({TOKEN_RENEW_TIMESTAMP: renewal}) };
        serde_json::from_value(json!({"metadata": {"name": "s", "annotations": annotations}})).unwrap()
    }

    fn managed(status: &str, message: &str) -> Value {
        let condition = json!({"type": RESOURCES_APPLIED, "status": status, "message": message});
        json!({"metadata": {"name": "m"}, "status": {"conditions": [condition]}})
    }

    #[rstest]
    #[case::well("2023-11-15T00:00:00Z", Some(managed("True", "")), false)]
    #[case::never_renewed("", Some(managed("True", "")), true)]
    #[case::overdue("2023-11-14T00:00:00Z", Some(managed("True", "")), true)]
    #[case::no_roles("2023-11-15T00:00:00Z", None, true)]
    #[case::unauthorized("2023-11-15T00:00:00Z", Some(managed("False", "a: Unauthorized")), true)]
    #[case::forbidden("2023-11-15T00:00:00Z", Some(managed("False", LOST_ACCESS[0])), true)]
    #[case::another_error("2023-11-15T00:00:00Z", Some(managed("False", "no")), false)]
    fn a_certificate_is_needed_without_access(
        #[case] renewal: &str,
        #[case] managed: Option<Value>,
        #[case] want: bool,
    ) {
        let managed: Option<ManagedResource> =
            managed.map(|managed| serde_json::from_value(managed).unwrap());
        assert_eq!(has_no_access(Some(&secret(renewal)), managed.as_ref(), now()).unwrap(), want);
    }

    #[test]
    fn without_a_secret_there_is_no_access() {
        assert!(has_no_access(None, None, now()).unwrap());
        let error = has_no_access(Some(&secret("soon")), None, now()).unwrap_err().text();
        assert!(error.starts_with("could not parse renew timestamp: "), "{error}");
    }
}
