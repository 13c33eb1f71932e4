//! The virtual cluster of a Garden.

use std::collections::BTreeSet;

use api::operator::runtime_cluster::RuntimeNetworking;
use api::operator::virtual_cluster::{VirtualCluster, VirtualControllerManagerConfig};
use formats::name::dns1123_subdomain;
use webhook::field::{Error, Path};

use super::kubernetes::Release;
use super::{FieldErrors, api_server, feature_gates, gardener, networks};

/// The supported minors of Kubernetes.
const SUPPORTED: [&str; 5] = ["1.24", "1.25", "1.26", "1.27", "1.28"];

/// OPR-VIR-001 to -004, and what the modules of its parts say.
pub(super) fn errors(cluster: &VirtualCluster, runtime: &RuntimeNetworking) -> FieldErrors {
    let at = Path::new("spec").child("virtualCluster");
    let kubernetes = at.child("kubernetes");
    let release = Release::new(&cluster.kubernetes.version);
    let mut errors = domains(&cluster.dns.domains, &at.child("dns").child("domains"));
    if !release.is_among(&SUPPORTED) {
        errors.push(Error::not_supported(&kubernetes.child("version"), release.text, &SUPPORTED));
    }
    if let Some(server) = &cluster.kubernetes.kube_api_server {
        errors.extend(api_server::kubernetes(server, &release, &kubernetes.child("kubeAPIServer")));
    }
    if let Some(manager) = &cluster.kubernetes.kube_controller_manager {
        let at = kubernetes.child("kubeControllerManager");
        errors.extend(controller_manager(manager, &release, &at));
    }
    errors.extend(gardener::errors(&cluster.gardener, &at.child("gardener")));
    let services = at.child("networking").child("services");
    errors.extend(networks::services(&cluster.networking.services, runtime, &services));
    errors
}

fn domains(domains: &[String], at: &Path) -> FieldErrors {
    let (mut errors, mut seen) = (Vec::new(), BTreeSet::new());
    for (index, domain) in domains.iter().enumerate() {
        let at = at.index(index);
        errors.extend(dns1123_subdomain(domain).iter().map(|text| Error::invalid(&at, domain, text)));
        if !seen.insert(domain) {
            errors.push(Error::duplicate(&at, domain));
        }
    }
    errors
}

/// A virtual cluster has no nodes, so that nothing about them is set.
fn controller_manager(
    manager: &VirtualControllerManagerConfig,
    release: &Release<'_>,
    at: &Path,
) -> FieldErrors {
    let fields = [
        ("nodeCIDRMaskSize", manager.node_cidr_mask_size.is_some()),
        ("horizontalPodAutoscaler", manager.horizontal_pod_autoscaler.is_some()),
        ("podEvictionTimeout", manager.pod_eviction_timeout.is_some()),
        ("nodeMonitorGracePeriod", manager.node_monitor_grace_period.is_some()),
    ];
    let set = fields.into_iter().filter(|(_, is_set)| *is_set);
    let text = "this field should not be set for workerless Shoot clusters";
    let mut errors: FieldErrors = set.map(|(field, _)| Error::forbidden(&at.child(field), text)).collect();
    errors.extend(feature_gates::kubernetes(&manager.feature_gates, release, &at.child("featureGates")));
    errors
}
