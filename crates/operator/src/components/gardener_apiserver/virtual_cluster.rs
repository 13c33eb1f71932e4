//! Objects of gardener-apiserver in the virtual cluster.

use serde_json::{Value, json};

use super::runtime::service_port;
use super::{NAME, SERVICE_PORT, labels};
use crate::components::access::ACCOUNT_NAMESPACE;
use crate::components::error::RenderError;
use crate::components::generated::CA_GARDENER;
use crate::components::objects::cluster_metadata;
use crate::components::rbac::{ALL, account, cluster_role, cluster_role_binding, role_binding, rule};
use crate::components::values::GardenValues;

/// The ClusterRole with which it may do everything, and its binding.
const ROLE: &str = "gardener.cloud:system:apiserver";
/// Groups and versions that it serves. OPC-118.
const SERVED: [(&str, &str); 4] = [
    ("core.gardener.cloud", "v1beta1"),
    ("seedmanagement.gardener.cloud", "v1alpha1"),
    ("operations.gardener.cloud", "v1alpha1"),
    ("settings.gardener.cloud", "v1alpha1"),
];

/// The objects; `address` is the cluster IP of the Service in the runtime cluster. OPC-118, OPC-119.
///
/// # Errors
/// If the authority of Gardener's control plane was not generated.
pub(super) fn objects(values: &GardenValues<'_>, address: &str) -> Result<Vec<Value>, RenderError> {
    let bundle = values.secrets.bundle_base64(CA_GARDENER)?;
    let subjects = [account(NAME)];
    let delegator = "gardener.cloud:apiserver:auth-delegator";
    let reader = "gardener.cloud:apiserver:auth-reader";
    let reader_role = "extension-apiserver-authentication-reader";
    let mut objects: Vec<Value> =
        SERVED.iter().map(|(group, version)| api_service(group, version, &bundle)).collect();
    objects.extend([
        service(),
        endpoints(address),
        cluster_role(ROLE, &labels(), &[rule(ALL, ALL, ALL)]),
        cluster_role_binding(ROLE, &labels(), ROLE, &subjects),
        cluster_role_binding(delegator, &labels(), "system:auth-delegator", &subjects),
        role_binding(reader, ACCOUNT_NAMESPACE, &labels(), reader_role, &subjects),
    ]);
    Ok(objects)
}

fn api_service(group: &str, version: &str, bundle: &str) -> Value {
    json!({
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": cluster_metadata(&format!("{version}.{group}"), &labels()),
        "spec": {
            "group": group,
            "version": version,
            "groupPriorityMinimum": 10_000,
            "versionPriority": 20,
            "service": {"name": NAME, "namespace": ACCOUNT_NAMESPACE},
            "caBundle": bundle,
        },
    })
}

/// A Service with a selector, although its Endpoints are written by hand: nothing in the virtual cluster follows the selector.
fn service() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": NAME, "namespace": ACCOUNT_NAMESPACE, "labels": labels()},
        "spec": {"type": "ClusterIP", "selector": labels(), "ports": [service_port()]},
    })
}

fn endpoints(address: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {"name": NAME, "namespace": ACCOUNT_NAMESPACE, "labels": labels()},
        "subsets": [{
            "addresses": [{"ip": address}],
            "ports": [{"port": SERVICE_PORT, "protocol": "TCP"}],
        }],
    })
}
