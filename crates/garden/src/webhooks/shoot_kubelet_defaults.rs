//! Defaults of kubelets: the Shoot's, and those that pools have for themselves.

use serde_json::{Value, json};
use webhook::object::{self, WrongType};

use super::shoot_defaults::{has_pools, if_absent};
use super::shoot_pools;

const KUBELET: [&str; 3] = ["spec", "kubernetes", "kubelet"];

/// Sets the defaults of the Shoot's kubelets, if it has pools, and of the pools': GDN-SLD-001 to -003.
///
/// # Errors
/// When a field has the wrong type.
pub fn default(shoot: &mut Value) -> Result<(), WrongType> {
    if !has_pools(shoot)? {
        return Ok(());
    }
    for pool in shoot_pools::raw(shoot)? {
        if object::map(pool, &["kubernetes", "kubelet"])?.is_some() {
            swap(pool, &["kubernetes", "kubelet"])?;
        }
    }
    swap(shoot, &KUBELET)?;
    let defaults: [(&[&str], Value); 6] = [
        (&["imageGCHighThresholdPercent"], json!(50)),
        (&["imageGCLowThresholdPercent"], json!(40)),
        (&["serializeImagePulls"], json!(true)),
        (&["kubeReserved", "memory"], json!("1Gi")),
        (&["kubeReserved", "cpu"], json!("80m")),
        (&["kubeReserved", "pid"], json!("20k")),
    ];
    for (field, value) in defaults {
        let path: Vec<&str> = KUBELET.iter().chain(field).copied().collect();
        if_absent(shoot, &path, value)?;
    }
    Ok(())
}

/// By default a kubelet fails with swap; one that does not uses LimitedSwap.
fn swap(object: &mut Value, kubelet: &[&str]) -> Result<(), WrongType> {
    let at = |field: &[&'static str]| [kubelet, field].concat();
    if_absent(object, &at(&["failSwapOn"]), true)?;
    let has_gate = object::boolean(object, &at(&["featureGates", "NodeSwap"]))? == Some(true);
    if has_gate && object::boolean(object, &at(&["failSwapOn"]))? == Some(false) {
        if_absent(object, &at(&["memorySwap", "swapBehavior"]), "LimitedSwap")?;
    }
    Ok(())
}
