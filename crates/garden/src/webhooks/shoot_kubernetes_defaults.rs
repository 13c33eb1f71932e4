//! Defaults of the Kubernetes of a Shoot that do not depend on its version, but for those of kubelets.

use serde_json::{Value, json};
use webhook::object::{self, WrongType};

use super::shoot_defaults::{has_pools, if_absent};

const KUBERNETES: [&str; 2] = ["spec", "kubernetes"];
/// Pods of a node where no kubelet says another number.
const PODS: i64 = 110;

/// Sets the defaults: GDN-SKD-001 to -006.
///
/// # Errors
/// When a field has the wrong type.
pub fn default(shoot: &mut Value) -> Result<(), WrongType> {
    for component in ["kubeAPIServer", "kubeControllerManager"] {
        if_absent(shoot, &[KUBERNETES[0], KUBERNETES[1], component], json!({}))?;
    }
    if has_pools(shoot)? {
        let mask = ["spec", "kubernetes", "kubeControllerManager", "nodeCIDRMaskSize"];
        let size = mask_size(shoot)?;
        if_absent(shoot, &mask, size)?;
        each(shoot, "kubeAPIServer", || {
            [
                (vec!["defaultNotReadyTolerationSeconds"], json!(300)),
                (vec!["defaultUnreachableTolerationSeconds"], json!(300)),
            ]
        })?;
        each(shoot, "kubeScheduler", || [(vec!["profile"], json!("balanced"))])?;
        each(shoot, "kubeProxy", || [(vec!["mode"], json!("IPTables")), (vec!["enabled"], json!(true))])?;
    }
    each(shoot, "kubeAPIServer", || {
        [
            (vec!["requests", "maxNonMutatingInflight"], json!(400)),
            (vec!["requests", "maxMutatingInflight"], json!(200)),
            (vec!["enableAnonymousAuthentication"], json!(false)),
            (vec!["eventTTL"], json!("1h0m0s")),
            (vec!["logging", "verbosity"], json!(2)),
        ]
    })?;
    if object::map(shoot, &["spec", "kubernetes", "clusterAutoscaler"])?.is_some() {
        each(shoot, "clusterAutoscaler", cluster_autoscaler)?;
    }
    if object::map(shoot, &["spec", "kubernetes", "verticalPodAutoscaler"])?.is_some() {
        each(shoot, "verticalPodAutoscaler", vertical_pod_autoscaler)?;
    }
    Ok(())
}

fn cluster_autoscaler() -> [(Vec<&'static str>, Value); 9] {
    [
        (vec!["scaleDownDelayAfterAdd"], json!("1h0m0s")),
        (vec!["scaleDownDelayAfterDelete"], json!("0s")),
        (vec!["scaleDownDelayAfterFailure"], json!("3m0s")),
        (vec!["scaleDownUnneededTime"], json!("30m0s")),
        (vec!["scaleDownUtilizationThreshold"], json!(0.5)),
        (vec!["scanInterval"], json!("10s")),
        (vec!["expander"], json!("least-waste")),
        (vec!["maxNodeProvisionTime"], json!("20m0s")),
        (vec!["maxGracefulTerminationSeconds"], json!(600)),
    ]
}

fn vertical_pod_autoscaler() -> [(Vec<&'static str>, Value); 7] {
    [
        (vec!["evictAfterOOMThreshold"], json!("10m0s")),
        (vec!["evictionRateBurst"], json!(1)),
        (vec!["evictionRateLimit"], json!(-1)),
        (vec!["evictionTolerance"], json!(0.5)),
        (vec!["recommendationMarginFraction"], json!(0.15)),
        (vec!["updaterInterval"], json!("1m0s")),
        (vec!["recommenderInterval"], json!("1m0s")),
    ]
}

/// Sets each absent field of a component.
fn each<const N: usize>(
    shoot: &mut Value,
    component: &str,
    defaults: impl FnOnce() -> [(Vec<&'static str>, Value); N],
) -> Result<(), WrongType> {
    for (field, value) in defaults() {
        let path: Vec<&str> = KUBERNETES.into_iter().chain([component]).chain(field).collect();
        if_absent(shoot, &path, value)?;
    }
    Ok(())
}

/// The prefix of a node's network: at least twice as many addresses as pods, so that addresses are not used again at once.
fn mask_size(shoot: &Value) -> Result<i64, WrongType> {
    let families = object::list(shoot, &["spec", "networking", "ipFamilies"])?;
    if matches!(families, [family] if family.as_str() == Some("IPv6")) {
        return Ok(64);
    }
    let mut pods = object::integer(shoot, &["spec", "kubernetes", "kubelet", "maxPods"])?.unwrap_or(PODS);
    for pool in object::list(shoot, &["spec", "provider", "workers"])? {
        pods = pods.max(object::integer(pool, &["kubernetes", "kubelet", "maxPods"])?.unwrap_or(pods));
    }
    // The original doubles them in 32 bits; what is not positive there needs no bits.
    let doubled = u64::try_from(pods).unwrap_or_default().saturating_mul(2);
    let bits = match doubled {
        0 => 0,
        doubled if doubled > i32::MAX.unsigned_abs().into() => 0,
        doubled => doubled.next_power_of_two().trailing_zeros(),
    };
    Ok(32 - i64::from(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_of_a_node_has_a_size_for_any_number_of_pods() {
        let size = |family: &str, pods: Value| {
            let shoot = json!({"spec": {
                "networking": {"ipFamilies": [family]}, "kubernetes": {"kubelet": {"maxPods": pods}},
            }});
            mask_size(&shoot).unwrap()
        };
        for (pods, bits) in [(-3, 32), (0, 32), (1, 31), (2, 30), (110, 24), (1 << 30, 32)] {
            assert_eq!(size("IPv4", json!(pods)), bits, "{pods}");
        }
        assert_eq!([size("IPv4", Value::Null), size("IPv6", json!(250))], [24, 64]);
    }
}
