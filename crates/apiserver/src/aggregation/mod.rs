//! Aggregation: group versions that an APIService assigns to another API server, and the proxy to it.

mod availability;
pub(crate) mod availability_checker;
mod availability_task;
mod discovery;
pub(crate) mod front_proxy;
mod proxy;
mod registration;
pub(crate) mod resolve;
mod transport;

use std::sync::Arc;

use serde_json::Value;
use webhook::registration::{ClientConfig, ServiceReference};

use crate::call::{Call, Verb};
use crate::state::ServerState;

pub(crate) use availability::check_availability;
pub(crate) use availability_task::ensure_running;
pub(crate) use discovery::{AggregatedVersions, documents, groups, resources};
pub(crate) use proxy::proxy;
pub(crate) use registration::sync_api_services;

/// The table of APIServices in the store.
pub(crate) const TABLE: &str = "apiservices.apiregistration.k8s.io";

/// The table of CRDs.
const CRDS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Another API server that serves a version of a group.
#[derive(Clone, Debug)]
pub(crate) struct Backend {
    /// The name of its APIService: `v1beta1.core.gardener.cloud`.
    name: String,
    group: String,
    version: String,
    /// Sort order, greater first: `groupPriorityMinimum` among groups, `versionPriority` within a group.
    priorities: (i64, i64),
    client: ClientConfig,
    /// Whether its certificate is not verified.
    insecure: bool,
    available: bool,
}

/// The API server that an APIService assigns a version of a group to, even if this server serves it too.
pub(crate) fn of(shared: &ServerState, group: &str, version: &str) -> Option<Backend> {
    if group.is_empty() {
        return None;
    }
    let service = shared.store.get(TABLE, &format!("{version}.{group}"))?;
    Backend::read(service.value())
}

/// Runs after a resource request: updates the APIServices of CRDs, checks the server of a written APIService, and
/// rechecks all servers when a Service or its endpoints change.
pub(crate) async fn after_write(shared: &Arc<ServerState>, call: &Call, (code, name): (u16, Option<String>)) {
    let deletes = matches!(call.verb, Verb::Delete | Verb::DeleteCollection);
    let writes = deletes || matches!(call.verb, Verb::Create | Verb::Update | Verb::Patch);
    if !writes || code >= 300 {
        return;
    }
    match call.target.table.as_str() {
        CRDS => sync_api_services(shared),
        TABLE if deletes => sync_api_services(shared),
        TABLE => {
            let name = name.as_deref().unwrap_or(&call.path.name);
            sync_api_services(shared);
            check_availability(shared, name).await;
            let service = shared.store.get(TABLE, name);
            if service.is_some_and(|service| Backend::read(service.value()).is_some()) {
                shared.availability_checker.check_all_now();
                ensure_running(shared);
            }
        }
        "services" | "endpointslices.discovery.k8s.io" => shared.availability_checker.recheck(),
        _ => {}
    }
}

/// All backends, in the order of discovery.
fn all(shared: &ServerState) -> Vec<Backend> {
    let snapshot = shared.store.snapshot(TABLE);
    let services = snapshot.objects.values().filter_map(|service| Backend::read(service.value()));
    let mut all: Vec<Backend> = services.collect();
    all.sort_by(|a, b| {
        let key = |backend: &Backend| (-backend.priorities.0, backend.group.clone(), -backend.priorities.1);
        key(a).cmp(&key(b))
    });
    all
}

impl Backend {
    /// Parses an APIService; absent if it is local.
    fn read(object: &Value) -> Option<Self> {
        let spec = &object["spec"];
        let service = spec.get("service").filter(|service| !service.is_null())?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let number = |field: &str| spec[field].as_i64().unwrap_or_default();
        let conditions = object.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
        let mut available = conditions.filter(|condition| condition["type"] == "Available");
        Some(Self {
            name: text(&object["metadata"]["name"]),
            group: text(&spec["group"]),
            version: text(&spec["version"]),
            priorities: (number("groupPriorityMinimum"), number("versionPriority")),
            client: ClientConfig {
                url: None,
                service: Some(ServiceReference {
                    namespace: text(&service["namespace"]),
                    name: text(&service["name"]),
                    path: None,
                    port: service["port"].as_u64().and_then(|port| u16::try_from(port).ok()),
                }),
                ca_bundle: spec["caBundle"].as_str().map(str::to_owned),
            },
            insecure: spec["insecureSkipTLSVerify"] == true,
            available: available.any(|condition| condition["status"] == "True"),
        })
    }

    /// `core.gardener.cloud/v1beta1`.
    fn api_version(&self) -> String {
        format!("{}/{}", self.group, self.version)
    }
}
