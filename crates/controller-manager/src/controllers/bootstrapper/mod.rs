//! What the leader does once when its process starts: it checks the garden's version, and makes the credential with which
//! operators reach the monitoring of all Seeds (contracts/controller-manager/controllers/bootstrapper).
//!
//! The credential is kept as Gardener's secrets manager does it for the identity `controller-manager`: a Secret that it no
//! longer needs is deleted.

mod credential;
mod garden_version;
mod rotation;

use std::time::Duration;

use controller::reconcile::parallel::{self, Failures};
use controller::task::Task;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::api::{Api, ListParams};

use self::credential::CredentialError;
use self::garden_version::GardenVersionError;
use self::rotation::{LabelTimeError, last_rotation};
use super::seed_secrets::delete;
use super::{Context, GARDEN_NAMESPACE, labels};

/// Name in contracts.
pub const NAME: &str = "bootstrapper";

/// How long it may take.
const DEADLINE: Duration = Duration::from_secs(30);
/// Labels of the Secrets that this component manages.
const MANAGED: [(&str, &str); 2] =
    [("managed-by", "secrets-manager"), ("manager-identity", "controller-manager")];
/// The label of credentials for the monitoring of all Seeds.
const MONITORING: (&str, &str) = (labels::ROLE, "global-monitoring");

/// Why the garden could not be bootstrapped; the texts are the original's.
#[derive(Debug, thiserror::Error)]
pub enum BootstrapError {
    /// The managed Secrets cannot be listed.
    #[error("failed creating new secrets manager")]
    Managed(#[source] kube::Error),
    /// A label of a managed Secret is no time.
    #[error("failed creating new secrets manager")]
    Times(#[source] LabelTimeError),
    /// The garden's version is unknown, or too low.
    #[error("failed bootstrapping garden cluster")]
    Version(#[source] GardenVersionError),
    /// The credentials for monitoring cannot be listed.
    #[error("failed bootstrapping garden cluster")]
    Monitoring(#[source] kube::Error),
    /// The credential cannot be made or kept.
    #[error("failed bootstrapping garden cluster")]
    Credential(#[source] CredentialError),
    /// Secrets that are not needed cannot be deleted.
    #[error("failed cleaning up no longer required secrets")]
    CleanUp(#[source] Failures),
}

/// The task of one process. GCM-BOO-002 to -012.
#[must_use]
pub fn task(context: &Context) -> Task {
    Task::new(NAME, DEADLINE, bootstrap(context.clone()))
}

async fn bootstrap(context: Context) -> Result<(), BootstrapError> {
    let secrets: Api<Secret> = Api::namespaced(context.garden.client(), GARDEN_NAMESPACE);
    let managed = list(&secrets, &MANAGED).await.map_err(BootstrapError::Managed)?;
    let rotated = last_rotation(&managed, context.clock.now()).map_err(BootstrapError::Times)?;
    garden_version::check(&context.garden.client()).await.map_err(BootstrapError::Version)?;
    let monitoring = list(&secrets, &[MONITORING]).await.map_err(BootstrapError::Monitoring)?;
    let needed = if monitoring.iter().all(is_managed) {
        let found = managed.iter().find(|secret| secret.name_any() == credential::name(&rotated));
        let kept = credential::keep(&context, &secrets, &rotated, found.cloned()).await;
        Some(kept.map_err(BootstrapError::Credential)?)
    } else {
        None
    };
    let names = managed.iter().map(ResourceExt::name_any);
    let stale: Vec<String> = names.filter(|name| needed.as_ref() != Some(name)).collect();
    clean_up(&secrets, &stale).await.map_err(BootstrapError::CleanUp)?;
    tracing::info!("Successfully bootstrapped Garden cluster");
    Ok(())
}

/// GCM-BOO-008.
async fn clean_up(secrets: &Api<Secret>, stale: &[String]) -> Result<(), Failures> {
    for name in stale {
        tracing::info!(name, "Deleting stale secret");
    }
    parallel::all(stale.iter().map(|name| delete(secrets, name)).collect::<Vec<_>>()).await
}

/// GCM-BOO-006: one that it does not manage is an operator's.
fn is_managed(secret: &Secret) -> bool {
    MANAGED.iter().all(|(label, value)| secret.labels().get(*label).is_some_and(|found| found == value))
}

async fn list(secrets: &Api<Secret>, labels: &[(&str, &str)]) -> Result<Vec<Secret>, kube::Error> {
    let selector: Vec<String> = labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
    Ok(secrets.list(&ListParams::default().labels(&selector.join(","))).await?.items)
}
