//! The namespaces of Istio, which the operator writes itself.

use api::gardener::{ROLE, ROLE_ISTIO_INGRESS, ROLE_ISTIO_SYSTEM};
use api::resources::{HA_CONSIDER, HA_ZONE_PINNING, HA_ZONES};
use serde_json::{Value, json};

use super::{GATEWAY_NAMESPACE, ISTIO_SYSTEM};
use crate::components::objects::annotate;

/// The label of the gateway, by which a Gateway selects it.
pub(super) const GATEWAY_LABEL: (&str, &str) = ("istio", "ingressgateway");

/// That of istiod, in these zones.
pub(super) fn of_istiod(zones: &[String]) -> Value {
    namespace(ISTIO_SYSTEM, ROLE_ISTIO_SYSTEM, zones)
}

/// That of the gateway. In a single zone, its Pods stay there; a merge patch does not take that back. OPC-047.
pub(super) fn of_gateway(zones: &[String]) -> Value {
    let mut its_namespace = namespace(GATEWAY_NAMESPACE, ROLE_ISTIO_INGRESS, zones);
    let (label, value) = GATEWAY_LABEL;
    its_namespace["metadata"]["labels"][label] = value.into();
    if zones.len() == 1 {
        annotate(&mut its_namespace, (HA_ZONE_PINNING.to_owned(), "true".to_owned()));
    }
    its_namespace
}

fn namespace(name: &str, role: &str, zones: &[String]) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": {
                "istio-operator-managed": "Reconcile",
                "istio-injection": "disabled",
                "pod-security.kubernetes.io/enforce": "baseline",
                HA_CONSIDER: "true",
                ROLE: role,
            },
            "annotations": { HA_ZONES: zones.join(",") },
        },
    })
}
