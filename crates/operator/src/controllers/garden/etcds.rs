//! Deploys both etcds. During a rotation their members learn the new authority of their peers before they get certificates of it.

use super::component_table::FlowComponent;
use super::deployment::{self, Deployer};
use super::error::StepError;
use super::waits;
use crate::components::{GardenComponent, etcd};

const PREPARING: &str = "Preparing";

/// Deploys both etcds.
///
/// # Errors
/// If they cannot be rendered, the API server refuses, or one is not ready after it has learnt a new authority.
pub(super) async fn deploy(deployer: &Deployer<'_>) -> Result<(), StepError> {
    let component = FlowComponent::Written(GardenComponent::Etcd);
    if authorities_phase(deployer) == PREPARING {
        let rendering = etcd::render_peer_authority(&deployer.values(deployer.observed))?;
        if !rendering.steps.is_empty() {
            deployment::write(deployer.client, &rendering).await?;
            waits::deployed(deployer.client, &component.lifecycle()).await?;
        }
    }
    deployer.deploy(component).await
}

fn authorities_phase<'a>(deployer: &Deployer<'a>) -> &'a str {
    let credentials = deployer.garden.status.credentials.as_ref();
    let rotation = credentials.and_then(|credentials| credentials.rotation.as_ref());
    let authorities = rotation.and_then(|rotation| rotation.certificate_authorities.as_ref());
    authorities.map(|authorities| authorities.phase.as_str()).unwrap_or_default()
}
