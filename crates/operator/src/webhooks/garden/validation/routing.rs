//! Traffic stays in its zone where there are several, and the virtual cluster is highly available.

use api::operator::runtime_cluster::RuntimeCluster;
use api::operator::virtual_cluster::VirtualCluster;
use webhook::field::{Error, Path};

use super::FieldErrors;

/// OPR-GDN-006.
pub(super) fn errors(runtime: &RuntimeCluster, cluster: &VirtualCluster) -> FieldErrors {
    let settings = runtime.settings.as_ref();
    let routing = settings.and_then(|settings| settings.topology_aware_routing.as_ref());
    if !routing.is_some_and(|routing| routing.enabled) {
        return Vec::new();
    }
    let at = Path::new("spec").child("runtimeCluster").child("settings");
    let at = at.child("topologyAwareRouting").child("enabled");
    let mut errors = Vec::new();
    if runtime.provider.zones.len() <= 1 {
        errors.push(Error::forbidden(
            &at,
            "topology-aware routing can only be enabled on multi-zone garden runtime cluster (with at least two zones in spec.provider.zones)",
        ));
    }
    let control_plane = cluster.control_plane.as_ref();
    if control_plane.and_then(|of| of.high_availability.as_ref()).is_none() {
        errors.push(Error::forbidden(
            &at,
            "topology-aware routing can only be enabled when virtual cluster's high-availability is enabled",
        ));
    }
    errors
}
