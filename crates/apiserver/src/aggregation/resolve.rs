//! Resolves Services as kube-apiserver does, for webhooks and other API servers.

use serde_json::Value;
use webhook::registration::{ClientConfig, ServiceReference};

use crate::state::ServerState;

/// `host:port` of the Service of a client configuration, if it is reachable from here: only Services of type
/// `ExternalName` are.
pub(crate) fn endpoint(shared: &ServerState, to: &ClientConfig) -> Option<String> {
    let reference = to.service.as_ref()?;
    let service = service(shared, reference)?;
    let spec = &service.value()["spec"];
    let name = spec["externalName"].as_str().filter(|_| spec["type"] == "ExternalName")?;
    Some(format!("{name}:{}", reference.port.unwrap_or(443)))
}

/// Reason why a Service cannot be resolved, worded as kube-apiserver does; absent if it resolves to an address inside a
/// cluster.
pub(crate) fn unresolved(shared: &ServerState, to: &ClientConfig) -> Option<String> {
    let reference = to.service.as_ref()?;
    let name = &reference.name;
    let Some(service) = service(shared, reference) else {
        return Some(format!("service {name:?} not found"));
    };
    let spec = &service.value()["spec"];
    let port = u64::from(reference.port.unwrap_or(443));
    if spec["clusterIP"] == "None" {
        Some("cannot route to service with ClusterIP \"None\"".to_owned())
    } else if port_name(spec, port).is_none() {
        Some(format!("no service port {port} found for service {name:?}"))
    } else {
        None
    }
}

/// The name of a Service's port; empty if it has no name.
pub(crate) fn port_name(spec: &Value, port: u64) -> Option<&str> {
    let mut ports = spec["ports"].as_array().into_iter().flatten();
    let found = ports.find(|known| known["port"] == port)?;
    Some(found["name"].as_str().unwrap_or_default())
}

/// The stored Service.
pub(crate) fn service(
    shared: &ServerState,
    reference: &ServiceReference,
) -> Option<std::sync::Arc<crate::store::Object>> {
    shared.store.get("services", &format!("{}/{}", reference.namespace, reference.name))
}
