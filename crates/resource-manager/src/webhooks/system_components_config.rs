//! Makes system components run on their nodes and tolerate the taints of those nodes:
//! `contracts/resource-manager/webhooks/system-components-config.yaml`.

use api::kubernetes::{RESERVED_TAINT_DOMAIN, TAINT_TO_BE_DELETED};
use serde_json::Value;
use webhook::object::{self, WrongType};
use webhook::rejection::Rejection;

use crate::config::SystemComponentsConfig;
use crate::toleration::{Taint, Toleration};

/// Name of the webhook.
pub const NAME: &str = "system-components-config";
/// Its path.
pub const PATH: &str = "/webhooks/system-components-config";

const NODE_SELECTOR: [&str; 2] = ["spec", "nodeSelector"];
const TOLERATIONS: [&str; 2] = ["spec", "tolerations"];

/// Tolerations of the taints of nodes, in their order and without duplicates.
///
/// Taints that Kubernetes reserves, and the one of cluster-autoscaler, are left out: tolerating them would break
/// eviction and scaling down.
///
/// GRM-SCC-005, GRM-SCC-011.
pub fn tolerations_for<'a>(taints: impl IntoIterator<Item = &'a Taint>) -> Vec<Toleration> {
    let mut tolerations = Vec::new();
    for taint in taints {
        let toleration = Toleration::from(taint);
        if !is_ignored(&taint.key) && !tolerations.contains(&toleration) {
            tolerations.push(toleration);
        }
    }
    tolerations
}

/// Adds the configured node selector and tolerations, and `node_tolerations`, to a Pod that no DaemonSet owns.
///
/// The configured selector overrides the Pod's. Tolerations keep their order, the Pod's own first; of equal ones the
/// first stays.
///
/// GRM-SCC-001, GRM-SCC-002, GRM-SCC-003, GRM-SCC-027.
///
/// # Errors
/// 400 when a field has the wrong type.
pub fn mutate(
    config: &SystemComponentsConfig,
    node_tolerations: &[Toleration],
    pod: &mut Value,
) -> Result<(), Rejection> {
    if is_of_daemon_set(pod)? {
        return Ok(());
    }
    for (key, value) in &config.pod_node_selector {
        let [spec, selector] = NODE_SELECTOR;
        object::set(pod, &[spec, selector, key], value.as_str())?;
    }
    merge_tolerations(config.pod_tolerations.iter().chain(node_tolerations), pod)
}

/// GRM-SCC-004, GRM-SCC-012.
fn merge_tolerations<'a>(
    added: impl Iterator<Item = &'a Toleration>,
    pod: &mut Value,
) -> Result<(), Rejection> {
    let own = object::list(pod, &TOLERATIONS)?;
    let mut merged = Vec::with_capacity(own.len());
    let mut kept = Vec::with_capacity(own.len());
    for raw in own {
        let toleration = Toleration::read(raw)?;
        if !merged.contains(&toleration) {
            merged.push(toleration);
            kept.push(raw.clone());
        }
    }
    for toleration in added {
        if !merged.contains(toleration) {
            merged.push(toleration.clone());
            kept.push(toleration.write());
        }
    }
    if !kept.is_empty() {
        object::set(pod, &TOLERATIONS, kept)?;
    }
    Ok(())
}

/// GRM-SCC-010, GRM-SCC-015.
fn is_ignored(taint_key: &str) -> bool {
    taint_key.contains(RESERVED_TAINT_DOMAIN) || taint_key == TAINT_TO_BE_DELETED
}

/// Whether a DaemonSet, which chooses the nodes of its Pods itself, controls the Pod.
///
/// GRM-SCC-013, GRM-SCC-014.
fn is_of_daemon_set(pod: &Value) -> Result<bool, WrongType> {
    for owner in object::list(pod, &["metadata", "ownerReferences"])? {
        if object::text(owner, &["apiVersion"])? == "apps/v1"
            && object::text(owner, &["kind"])? == "DaemonSet"
            && object::boolean(owner, &["controller"])? == Some(true)
        {
            return Ok(true);
        }
    }
    Ok(false)
}
