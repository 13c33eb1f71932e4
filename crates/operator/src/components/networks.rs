//! Labels of pods and annotations of Services from which the resource-manager and the operator make NetworkPolicies.

use std::collections::BTreeMap;

use api::gardener::NETWORK_POLICY_ALLOWED;
use api::networking::{FROM_POLICY_PREFIX, FROM_POLICY_SUFFIX, FROM_WORLD_TO_PORTS, TO_PREFIX};

/// The Service of the API server of the virtual cluster.
pub const VIRTUAL_API_SERVER: &str = "virtual-garden-kube-apiserver";
/// The Service of the Etcd of the virtual cluster, without events.
pub const MAIN_ETCD: &str = "virtual-garden-etcd-main-client";
/// The port of that Service, and of that of events.
pub const ETCD_CLIENT_PORT: u16 = 2379;
/// Label of a Pod that may call all webhooks.
pub const TO_WEBHOOK_TARGETS: &str = "networking.resources.gardener.cloud/to-all-webhook-targets";

/// Pods that a Service lets in by a label of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowedPods {
    /// Those that read metrics, in namespaces of control planes.
    ScrapeTargets,
    /// Those that read metrics, in a seed.
    SeedScrapeTargets,
    /// API servers that call webhooks.
    WebhookTargets,
}

impl AllowedPods {
    fn selector(self) -> &'static str {
        match self {
            Self::ScrapeTargets => "all-scrape-targets",
            Self::SeedScrapeTargets => "all-seed-scrape-targets",
            Self::WebhookTargets => "all-webhook-targets",
        }
    }

    /// The annotation of a Service that lets them in to these TCP ports.
    #[must_use]
    pub fn annotation(self, ports: &[u16]) -> (String, String) {
        (format!("{FROM_POLICY_PREFIX}{}{FROM_POLICY_SUFFIX}", self.selector()), written(ports))
    }
}

/// The annotation of a Service that lets in everybody to these TCP ports.
#[must_use]
pub fn from_world(ports: &[u16]) -> (String, String) {
    (FROM_WORLD_TO_PORTS.to_owned(), written(ports))
}

/// The label of a Pod that may connect to a TCP port of a Service.
#[must_use]
pub fn to_service(service: &str, port: u16) -> String {
    format!("{TO_PREFIX}{service}-tcp-{port}")
}

/// The label of a Pod that may connect to the API server of the virtual cluster.
#[must_use]
pub fn to_virtual_api_server() -> String {
    to_service(VIRTUAL_API_SERVER, 443)
}

/// Labels of Pods that may connect where these labels lead.
#[must_use]
pub fn allowed<K: Into<String>>(labels: impl IntoIterator<Item = K>) -> BTreeMap<String, String> {
    labels.into_iter().map(|key| (key.into(), NETWORK_POLICY_ALLOWED.to_owned())).collect()
}

/// Ports in JSON, fields in the order of the Kubernetes type.
fn written(ports: &[u16]) -> String {
    let ports: Vec<String> =
        ports.iter().map(|port| format!(r#"{{"protocol":"TCP","port":{port}}}"#)).collect();
    format!("[{}]", ports.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_have_ports_in_json() {
        let (key, value) = AllowedPods::WebhookTargets.annotation(&[8443]);
        assert_eq!(key, "networking.resources.gardener.cloud/from-all-webhook-targets-allowed-ports");
        assert_eq!(value, r#"[{"protocol":"TCP","port":8443}]"#);
        let (key, value) = from_world(&[80, 443]);
        assert_eq!(key, "networking.resources.gardener.cloud/from-world-to-ports");
        assert_eq!(value, r#"[{"protocol":"TCP","port":80},{"protocol":"TCP","port":443}]"#);
    }

    #[test]
    fn labels_name_service_and_port() {
        let want = "networking.resources.gardener.cloud/to-virtual-garden-etcd-main-client-tcp-2379";
        assert_eq!(to_service(MAIN_ETCD, ETCD_CLIENT_PORT), want);
        let want = "networking.resources.gardener.cloud/to-virtual-garden-kube-apiserver-tcp-443";
        assert_eq!(
            allowed([to_virtual_api_server()]),
            BTreeMap::from([(want.to_owned(), "allowed".to_owned())])
        );
    }
}
