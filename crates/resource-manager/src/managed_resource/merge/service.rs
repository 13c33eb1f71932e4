//! Services: keeps addresses and ports that the cluster assigned.

use serde_json::Value;

use crate::managed_resource::unstructured::{
    self, annotations, at, at_mut, fields_at, list, put, text, to_value,
};

/// Prefix of the annotations that the OpenStack load balancer writes.
const KEPT_ANNOTATIONS: &str = "loadbalancer.openstack.org";
const CLUSTER_IP: &str = "ClusterIP";
const EXTERNAL_NAME: &str = "ExternalName";
const LOAD_BALANCER: &str = "LoadBalancer";
const NODE_PORT: &str = "NodePort";

/// GRM-MR-100, GRM-MR-101 and GRM-MR-102: applies the rules to `merged`, whose metadata is merged already.
pub(super) fn service(live: &Value, merged: &mut Value) {
    let old_type = kind_of(live);
    let new_type = kind_of(merged);
    if let Some(spec) = fields_at(merged, &["spec"]) {
        spec.insert("type".to_owned(), Value::from(new_type.as_str()));
    }
    keep_annotations(live, merged);
    match new_type.as_str() {
        LOAD_BALANCER | NODE_PORT => {
            keep_node_ports(live, merged);
            keep_load_balancer_ip(live, merged);
        }
        EXTERNAL_NAME => return,
        _ => {}
    }
    if text(merged, &["spec", "clusterIP"]) != "None" && old_type != EXTERNAL_NAME {
        super::keep(live, merged, &["spec", "clusterIP"]);
    }
    if old_type == LOAD_BALANCER && new_type == LOAD_BALANCER {
        keep_health_check_port(live, merged);
    }
}

fn kind_of(service: &Value) -> String {
    let kind = text(service, &["spec", "type"]);
    if kind.is_empty() { CLUSTER_IP } else { kind }.to_owned()
}

/// The original intends this, but overwrites the live annotations with the merged ones before reading them.
fn keep_annotations(live: &Value, merged: &mut Value) {
    let mut kept = annotations(live);
    kept.retain(|key, _| key.starts_with(KEPT_ANNOTATIONS));
    if kept.is_empty() {
        return;
    }
    kept.extend(annotations(merged));
    put(merged, &["metadata", "annotations"], Some(to_value(kept)));
}

/// A port without node port gets that of the last live port with the same number or name.
fn keep_node_ports(live: &Value, merged: &mut Value) {
    let old = list(live, &["spec", "ports"]);
    for port in at_mut(merged, &["spec", "ports"]).and_then(Value::as_array_mut).into_iter().flatten() {
        if number(port, "nodePort") != 0 {
            continue;
        }
        let same = |old: &&Value| {
            number(old, "port") == number(port, "port") || text(old, &["name"]) == text(port, &["name"])
        };
        let node_port = old.iter().rfind(same).map_or(0, |old| number(old, "nodePort"));
        if node_port != 0 {
            unstructured::put(port, &["nodePort"], Some(Value::from(node_port)));
        }
    }
}

fn keep_load_balancer_ip(live: &Value, merged: &mut Value) {
    let path = ["spec", "loadBalancerIP"];
    if text(merged, &path).is_empty() && !text(live, &path).is_empty() {
        super::keep(live, merged, &path);
    }
}

fn keep_health_check_port(live: &Value, merged: &mut Value) {
    let is_local = |service| text(service, &["spec", "externalTrafficPolicy"]) == "Local";
    let chosen = |service| at(service, &["spec"]).map_or(0, |spec| number(spec, "healthCheckNodePort"));
    if is_local(live) && is_local(merged) && chosen(merged) == 0 && chosen(live) != 0 {
        super::keep(live, merged, &["spec", "healthCheckNodePort"]);
    }
}

/// An integer; 0 if missing.
fn number(fields: &Value, name: &str) -> i64 {
    fields.get(name).and_then(Value::as_i64).unwrap_or_default()
}
