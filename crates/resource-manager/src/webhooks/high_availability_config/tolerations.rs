//! How long Pods stay on a lost node, unless they define it themselves.

use api::kubernetes::{TAINT_NOT_READY, TAINT_UNREACHABLE};
use serde_json::{Value, json};
use webhook::object::{self, WrongType};
use webhook::rejection::Rejection;

use crate::config::HighAvailabilityConfig;

const TOLERATIONS: [&str; 4] = ["spec", "template", "spec", "tolerations"];

/// Appends the configured tolerations for not-ready and unreachable nodes, in this order, if missing.
///
/// GRM-HAC-060, GRM-HAC-061, GRM-HAC-062, GRM-HAC-064.
pub(super) fn mutate(config: &HighAvailabilityConfig, workload: &mut Value) -> Result<(), Rejection> {
    let defaults = [
        (TAINT_NOT_READY, config.default_not_ready_toleration_seconds),
        (TAINT_UNREACHABLE, config.default_unreachable_toleration_seconds),
    ];
    for (taint, seconds) in defaults {
        let Some(seconds) = seconds else { continue };
        if tolerates(taint, workload)? {
            continue;
        }
        let toleration =
            json!({"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds});
        object::list_mut(workload, &TOLERATIONS)?.push(toleration);
    }
    Ok(())
}

/// Whether a toleration names the taint and covers eviction; one for all taints does not count.
///
/// GRM-HAC-063, GRM-HAC-066.
fn tolerates(taint: &str, workload: &Value) -> Result<bool, WrongType> {
    for toleration in object::list(workload, &TOLERATIONS)? {
        if object::text(toleration, &["key"])? == taint
            && matches!(object::text(toleration, &["effect"])?, "" | "NoExecute")
        {
            return Ok(true);
        }
    }
    Ok(false)
}
