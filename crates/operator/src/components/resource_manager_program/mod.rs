//! What both resource-managers have in common, that of the runtime cluster and that of the virtual one: both run in the runtime cluster.

pub mod configuration;
mod deployment;
pub mod webhooks;

use std::collections::BTreeMap;
use std::time::Duration;

use api::gardener::ROLE;
use secrets::AuthorityChoice;
use serde_json::{Value, json};

use super::NAMESPACE;
use super::generated::{CA_RUNTIME, RequestedSecret, service_names};
use super::lifecycle::{AwaitedState, ObjectWait, RemovalStep};
use super::objects::{
    annotate, entries, metadata, service_account, service_port, vertical_pod_autoscaler, with,
};

pub use self::deployment::{add_volume, secret_volume};

/// Where metrics are served.
pub const METRICS_PORT: u16 = 8080;
/// Where health is served.
pub const HEALTH_PORT: u16 = 8081;
/// Where webhooks are served.
pub const SERVER_PORT: u16 = 10250;
/// The one VerticalPodAutoscaler of both: the one that is written last has it. OPC-113.
const VPA_NAME: &str = "gardener-resource-manager-vpa";

/// A resource-manager.
#[derive(Clone, Copy, Debug)]
pub struct ResourceManagerProgram {
    /// The name of most of its objects.
    pub name: &'static str,
    /// Value of the label `gardener.cloud/role` of its Pods.
    pub role: &'static str,
    /// Whether its other objects have that label, too.
    pub marks_objects: bool,
    /// The label that tells webhooks how often its Deployment runs.
    pub availability: [&'static str; 2],
    /// Name of the request of its server certificate.
    pub certificate: &'static str,
    /// The priority class of its Pods.
    pub priority: &'static str,
    /// The memory that its VerticalPodAutoscaler leaves at least.
    pub memory: &'static str,
}

impl ResourceManagerProgram {
    /// Labels by which its Pods are selected.
    #[must_use]
    pub fn app(&self) -> BTreeMap<String, String> {
        entries([("app", self.name)])
    }

    /// Labels of its Pods that do not depend on where they may connect to.
    #[must_use]
    pub fn pod_labels(&self) -> BTreeMap<String, String> {
        with(self.app(), entries([(ROLE, self.role)]))
    }

    /// Labels of its objects.
    #[must_use]
    pub fn labels(&self) -> BTreeMap<String, String> {
        if self.marks_objects { self.pod_labels() } else { self.app() }
    }

    /// The server certificate that it needs from the secrets manager.
    #[must_use]
    pub fn request(&self) -> RequestedSecret {
        let names = service_names(self.name, NAMESPACE);
        RequestedSecret::server(self.certificate, self.name, names, CA_RUNTIME, AuthorityChoice::Current)
    }

    /// Its ServiceAccount in the runtime cluster.
    #[must_use]
    pub fn service_account(&self) -> Value {
        service_account(self.name, &self.labels())
    }

    /// Its Service with these annotations. Its traffic is not kept in its zone, whatever the setting says.
    #[must_use]
    pub fn service(&self, annotations: [(String, String); 2]) -> Value {
        let mut service = json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": metadata(self.name, &self.labels()),
            "spec": {
                "type": "ClusterIP",
                "selector": self.app(),
                "ports": [
                    service_port("metrics", METRICS_PORT, METRICS_PORT),
                    service_port("health", HEALTH_PORT, HEALTH_PORT),
                    service_port("server", 443, SERVER_PORT),
                ],
            },
        });
        for annotation in annotations {
            annotate(&mut service, annotation);
        }
        service
    }

    /// Its PodDisruptionBudget, which selects by more labels than the Deployment. OPC-030.
    #[must_use]
    pub fn disruption_budget(&self) -> Value {
        json!({
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": metadata(self.name, &self.labels()),
            "spec": { "maxUnavailable": 1, "selector": { "matchLabels": self.pod_labels() } },
        })
    }

    /// Its VerticalPodAutoscaler. OPC-113.
    #[must_use]
    pub fn autoscaler(&self) -> Value {
        let policy = json!({
            "containerName": "*",
            "minAllowed": { "memory": self.memory },
            "maxAllowed": { "cpu": "4", "memory": "10G" },
            "controlledValues": "RequestsOnly",
        });
        vertical_pod_autoscaler(VPA_NAME, self.name, &self.labels(), &policy)
    }

    /// What is awaited after it was deployed.
    #[must_use]
    pub fn wait(&self) -> ObjectWait {
        ObjectWait::deployment(self.name, AwaitedState::Healthy, Duration::from_mins(5))
    }

    /// The removal of the objects that both have, in the original's order.
    #[must_use]
    pub fn removal(&self) -> [RemovalStep; 5] {
        let object = RemovalStep::object;
        [
            object("policy/v1", "PodDisruptionBudget", self.name),
            object("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", VPA_NAME),
            object("apps/v1", "Deployment", self.name),
            object("v1", "Service", self.name),
            object("v1", "ServiceAccount", self.name),
        ]
    }
}
