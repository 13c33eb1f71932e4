//! How the resource-manager of the virtual cluster gets its first token: with a client certificate of a few minutes.

use std::time::Duration;

use api::resources::{API_VERSION, RESOURCES_APPLIED, TOKEN_RENEW_TIMESTAMP};
use formats::time;
use secrets::request::{ControlPlaneContent, KubeconfigCluster};
use secrets::{CertificateContent, CertificateKind, Content, GenerateOptions, SecretRequest, Signer};
use serde_json::Value;

use super::{CLIENT, MANAGED};
use crate::components::error::RenderError;
use crate::components::generated::{CA, RequestedSecret};
use crate::components::networks::VIRTUAL_API_SERVER;
use crate::components::values::GardenValues;
use crate::components::{NAMESPACE, access};

/// The authority of clients.
const CA_CLIENT: &str = "ca-client";
/// How long the certificate is valid.
const VALIDITY: Duration = Duration::from_mins(10);
/// What the virtual cluster says when it refuses a token, or its user.
const REFUSALS: [&str; 2] = [
    "forbidden: User \"system:serviceaccount:kube-system:gardener-resource-manager\" cannot",
    ": Unauthorized",
];

/// Whether it has no token that works: its access Secret is missing, was never filled or not renewed in time, or the ManagedResource
/// with its permissions is missing or could not be applied. The time and both objects are observed. OPC-110.
///
/// # Errors
/// If the time of renewal is none.
pub fn must_bootstrap(values: &GardenValues<'_>) -> Result<bool, RenderError> {
    let existing = &values.observed.existing;
    let Some(secret) = existing.get("v1", "Secret", &access::secret_name(CLIENT)) else { return Ok(true) };
    let Some(renewal) = secret["metadata"]["annotations"][TOKEN_RENEW_TIMESTAMP].as_str() else {
        return Ok(true);
    };
    let renewal = time::nanos(renewal).ok_or_else(|| RenderError::RenewalTime(renewal.to_owned()))?;
    if values.observed.time.is_some_and(|now| now.as_nanosecond() > renewal) {
        return Ok(true);
    }
    let Some(managed) = existing.get(API_VERSION, "ManagedResource", MANAGED) else { return Ok(true) };
    let conditions = managed["status"]["conditions"].as_array();
    Ok(conditions.into_iter().flatten().any(is_refusal))
}

/// The request for the Secret with the kubeconfig; the Secret is deleted after use.
///
/// # Errors
/// If the authority of the virtual cluster was not generated.
pub fn bootstrap_request(values: &GardenValues<'_>) -> Result<RequestedSecret, RenderError> {
    let certificate = CertificateContent {
        common_name: "gardener.cloud:system:gardener-resource-manager".to_owned(),
        organizations: vec!["system:masters".to_owned()],
        validity: Some(VALIDITY),
        without_authority: true,
        ..CertificateContent::new(CertificateKind::Client)
    };
    let cluster = KubeconfigCluster {
        name: NAMESPACE.to_owned(),
        host: VIRTUAL_API_SERVER.to_owned(),
        authorities: values.secrets.bundle_pem(CA)?.to_owned(),
    };
    let content = ControlPlaneContent { certificate: Some(certificate), clusters: vec![cluster] };
    let name = format!("{}-bootstrap", access::secret_name(CLIENT));
    Ok(RequestedSecret {
        request: SecretRequest::new(&name, Content::ControlPlane(content)),
        options: GenerateOptions { signer: Some(Signer::new(CA_CLIENT)), ..GenerateOptions::default() },
    })
}

/// Whether a condition of a ManagedResource says that its objects were not applied because of permissions.
fn is_refusal(condition: &Value) -> bool {
    let message = condition["message"].as_str().unwrap_or_default();
    condition["type"] == RESOURCES_APPLIED
        && condition["status"] == "False"
        && REFUSALS.iter().any(|text| message.contains(text))
}
