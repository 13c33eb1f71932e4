//! Health of `v1` objects.

use kube::api::{NotUsed, Object};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::apps::{ReplicaStatus, Replicas, available};
use super::{Check, Unhealthy};

/// `v1 Pod`.
pub type Pod = Object<NotUsed, PodStatus>;
/// `v1 ReplicationController`.
pub type ReplicationController = Object<Replicas, ReplicationControllerStatus>;
/// `v1 Service`.
pub type Service = Object<ServiceSpec, ServiceStatus>;

/// The fields of a `Pod`'s status that are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PodStatus {
    phase: String,
}

/// The fields of a `ReplicationController`'s status that are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct ReplicationControllerStatus(ReplicaStatus);

/// The fields of a `Service` that are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ServiceSpec {
    #[serde(rename = "type")]
    kind: String,
}

/// The fields of a `Service`'s status that are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceStatus {
    load_balancer: LoadBalancer,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct LoadBalancer {
    ingress: Vec<IgnoredAny>,
}

impl Check for Pod {
    /// GRM-HLT-024, GRM-HLT-025: it is running, or has succeeded.
    fn check(&self) -> Result<(), Unhealthy> {
        let phase = self.status.as_ref().map_or("", |status| &status.phase);
        match phase {
            "Running" | "Succeeded" => Ok(()),
            _ => Err(Unhealthy::PodPhase(phase.to_owned())),
        }
    }
}

impl Check for ReplicationController {
    /// GRM-HLT-018, GRM-HLT-019: it is observed, and all its replicas are ready.
    fn check(&self) -> Result<(), Unhealthy> {
        let status = self.status.as_ref().map(|status| &status.0);
        available("ReplicationController", &self.metadata, &self.spec, status)
    }
}

impl Check for Service {
    /// GRM-HLT-026, GRM-HLT-027: it has a load balancer if its type requires one.
    fn check(&self) -> Result<(), Unhealthy> {
        let is_open = self.status.as_ref().is_some_and(|status| !status.load_balancer.ingress.is_empty());
        if self.spec.kind == "LoadBalancer" && !is_open {
            return Err(Unhealthy::IngressMissing);
        }
        Ok(())
    }
}
