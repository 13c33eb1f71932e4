//! Whether the networks of nodes suffice: for the pods of one node, and for all nodes. Paths do not depend on where the spec
//! stands, as in the original.

use api::garden::shoot::kubelet::KubeletConfig;
use api::garden::shoot::{Networking, ShootSpec};
use webhook::field::{Error, Path, Shown};

use super::cidr::Cidr;

const PODS: &str = "100.96.0.0/11";
const DEFAULT_PODS_PER_NODE: i32 = 110;

/// The network of one node must have an address for each of its pods: GDN-SNC-001.
pub(super) fn validate_pods(spec: &ShootSpec) -> Option<Error> {
    let mask = mask(spec)?;
    let is_v6 = is_v6(spec.networking.as_ref()?);
    let (bits, default) = if is_v6 { (128, 64) } else { (32, 24) };
    let kubelets = spec.provider.workers.iter().filter_map(|pool| pool.kubernetes.as_ref()?.kubelet.as_ref());
    let has_pools = !spec.provider.workers.is_empty();
    let own = spec.kubernetes.kubelet.as_ref().filter(|_| has_pools).and_then(|kubelet| kubelet.max_pods);
    let configured = kubelets.filter_map(|kubelet: &KubeletConfig| kubelet.max_pods);
    let pods = match configured.fold(own.unwrap_or_default(), i32::max) {
        0 => DEFAULT_PODS_PER_NODE,
        pods => pods,
    };
    // Powers that no number of pods reaches are cut; two addresses of each network are reserved.
    let addresses = power(bits - i64::from(mask)) - 2;
    if addresses >= i128::from(pods) {
        return None;
    }
    let detail = format!(
        "kubelet or kube-controller-manager configuration incorrect. Please adjust the nodeCIDRMaskSize to support the \
         highest maxPod on any worker pool. The nodeCIDRMaskSize of {mask} (default: {default}) only supports \
         {addresses} IP addresses. The highest maxPod setting is {pods} (default: 110). Please choose a \
         nodeCIDRMaskSize that at least supports {pods} IP addresses"
    );
    let at = ["kubernetes", "kubeControllerManager", "nodeCIDRMaskSize"];
    let at = at.iter().fold(Path::new("spec"), |at, name| at.child(name));
    Some(Error::invalid(&at, Shown::verbatim(mask), &detail))
}

/// The pod network needs a node CIDR for each node of new Shoots with pools: GDN-SNC-002, GDN-SNC-003.
pub(super) fn validate_nodes(spec: &ShootSpec) -> Option<Error> {
    let networking = spec.networking.as_ref().filter(|_| !spec.provider.workers.is_empty())?;
    let at_pods = Path::new("spec").child("networking").child("pods");
    let pods = networking.pods.as_deref().unwrap_or(PODS);
    let Ok(network) = Cidr::parse(pods) else {
        let detail = format!("cannot parse shoot's pod network cidr : {pods}");
        return Some(Error::invalid(&at_pods, pods, &detail));
    };
    if network.length == 0 {
        let text = format!("{}/0", network.network());
        let detail = format!("incorrect pod network mask : {text}. Please ensure the mask is in proper form");
        return Some(Error::invalid(&at_pods, text.as_str(), &detail));
    }
    let mask = mask(spec).unwrap_or(if is_v6(networking) { 64 } else { 24 });
    let nodes: i64 = spec.provider.workers.iter().map(|pool| i64::from(pool.maximum)).sum();
    let most = power(i64::from(mask) - i64::from(network.length));
    if i128::from(nodes) <= most {
        return None;
    }
    let detail = format!(
        "worker configuration incorrect. The podCIDRs in `spec.networking.pod` can only support a maximum of {most} \
         nodes. The total number of worker pool nodes should be less than {most} "
    );
    Some(Error::invalid(&Path::new("spec").child("provider").child("workers"), nodes, &detail))
}

fn mask(spec: &ShootSpec) -> Option<i32> {
    spec.kubernetes.kube_controller_manager.as_ref()?.node_cidr_mask_size
}

/// Whether addresses are of IPv6 alone.
fn is_v6(networking: &Networking) -> bool {
    matches!(networking.ip_families.as_slice(), [family] if family == "IPv6")
}

/// A power of two; 1 for a negative exponent, and not more than is ever needed.
fn power(exponent: i64) -> i128 {
    1 << exponent.clamp(0, 100)
}
