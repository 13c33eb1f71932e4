//! The Deployment of the resource-manager of the virtual cluster.

use api::gardener::NETWORK_POLICY_ALLOWED;
use serde_json::Value;

use super::{CLIENT, PROGRAM};
use crate::components::access::mount_kubeconfig;
use crate::components::error::RenderError;
use crate::components::generated::CA;
use crate::components::networks::to_virtual_api_server;
use crate::components::references;
use crate::components::resource_manager_program::{add_volume, secret_volume};
use crate::components::values::GardenValues;

const ROOT_CA: &str = "/etc/gardener-resource-manager-root-ca";
/// Where a kubeconfig is, from whichever Secret.
const KUBECONFIG: &str = "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig";

/// With the kubeconfig of the Secret `bootstrap`, or else with its token. OPC-018, OPC-110, OPC-111.
pub(super) fn deployment(
    values: &GardenValues<'_>,
    config_map: &Value,
    bootstrap: Option<&str>,
) -> Result<Value, RenderError> {
    let mut deployment = PROGRAM.deployment(values, config_map)?;
    let labels = &mut deployment["spec"]["template"]["metadata"]["labels"];
    labels[to_virtual_api_server()] = NETWORK_POLICY_ALLOWED.into();
    add_volume(&mut deployment, secret_volume("root-ca", values.secrets.name(CA)?), ROOT_CA);
    match bootstrap {
        Some(secret) => {
            add_volume(&mut deployment, secret_volume("kubeconfig-bootstrap", secret), KUBECONFIG);
        }
        None => mount_kubeconfig(&mut deployment, values.secrets, CLIENT)?,
    }
    references::annotate(&mut deployment);
    Ok(deployment)
}
