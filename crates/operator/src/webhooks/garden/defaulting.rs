//! Fills in the virtual cluster's kube-apiserver and kube-controller-manager
//! (contracts/operator/webhooks/defaulting.yaml).

use serde_json::{Value, json};
use webhook::object::{get, map_mut, set};
use webhook::rejection::Rejection;

use super::typed;

const API_SERVER: [&str; 4] = ["spec", "virtualCluster", "kubernetes", "kubeAPIServer"];
const CONTROLLER_MANAGER: [&str; 4] = ["spec", "virtualCluster", "kubernetes", "kubeControllerManager"];

/// Fills in what is absent. OPR-DEF-001 to -003.
///
/// # Errors
/// 400 if it is no Garden, or malformed.
pub fn mutate(garden: &mut Value) -> Result<(), Rejection> {
    typed(garden)?;
    let defaults: [(&[&str], Value); 5] = [
        (&["requests", "maxNonMutatingInflight"], json!(400)),
        (&["requests", "maxMutatingInflight"], json!(200)),
        (&["enableAnonymousAuthentication"], json!(false)),
        (&["eventTTL"], json!("1h0m0s")),
        (&["logging", "verbosity"], json!(2)),
    ];
    for (below, value) in defaults {
        let path: Vec<&str> = API_SERVER.iter().chain(below).copied().collect();
        if get(garden, &path)?.is_none() {
            set(garden, &path, value)?;
        }
    }
    map_mut(garden, &CONTROLLER_MANAGER)?;
    Ok(())
}
