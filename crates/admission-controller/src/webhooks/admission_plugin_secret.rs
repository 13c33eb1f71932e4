//! The kubeconfig of an admission plugin stays in its Secret while a Shoot uses it
//! (contracts/admission-controller/webhooks/admission-plugin-secret.yaml).

use std::sync::Arc;

use api::garden::Shoot;
use k8s_openapi::api::core::v1::Secret;
use webhook::rejection::Rejection;

use super::api_error;

/// Its name.
pub const NAME: &str = "admission-plugin-secret";
/// Its path.
pub const PATH: &str = "/webhooks/validate-admission-plugin-secret";

/// Whether the Secret has a kubeconfig, whatever it says. ADM-APS-001.
#[must_use]
pub fn has_kubeconfig(secret: &Secret) -> bool {
    let kubeconfig = secret.data.as_ref().and_then(|data| data.get("kubeconfig"));
    kubeconfig.is_some_and(|kubeconfig| !kubeconfig.0.is_empty())
}

/// Refuses a Secret without kubeconfig that one of these Shoots of its namespace uses. ADM-APS-002 to -004.
///
/// # Errors
/// 403 with the names of the Shoots, one for each plugin.
pub fn validate(name: &str, shoots: &[Arc<Shoot>]) -> Result<(), Rejection> {
    let users: Vec<&str> = shoots.iter().flat_map(|shoot| uses(shoot, name)).collect();
    if users.is_empty() {
        return Ok(());
    }
    let why = format!(
        "data kubeconfig can't be removed from secret or set to empty because secret is in use by shoots: [{}]",
        users.join(", ")
    );
    Err(api_error::forbidden("", "Secret", name, &why))
}

/// The Shoot's name, for each of its plugins that uses the Secret.
fn uses<'a>(shoot: &'a Shoot, secret: &str) -> Vec<&'a str> {
    let name = shoot.metadata.name.as_deref().unwrap_or_default();
    let plugins = shoot.spec.kubernetes.kube_api_server.iter().flat_map(|server| &server.admission_plugins);
    let using = plugins.filter(|plugin| plugin.kubeconfig_secret_name.as_deref() == Some(secret));
    using.map(|_| name).collect()
}
