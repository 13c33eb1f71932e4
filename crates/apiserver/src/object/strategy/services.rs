//! What an updated Service keeps of its allocated addresses and ports, and what it loses when its type changes.

use serde_json::{Value, json};

const ADDRESSES: &[&str] = &["clusterIP", "clusterIPs"];
const FAMILIES: &[&str] = &["ipFamilies", "ipFamilyPolicy"];

/// Keeps addresses and node ports that the new object omits, if both types have them; drops fields that only the old
/// type has, if the new object did not change them.
pub(super) fn keep_allocated(service: &mut Value, old: &Value) {
    keep_addresses(service, old);
    if has_cluster_ip(old) && !has_cluster_ip(service) {
        if same(service, old, "clusterIP") && cluster_ips(service) == cluster_ips(old) {
            drop_fields(service, ADDRESSES.iter());
        }
        for field in FAMILIES {
            drop_same(service, old, field);
        }
    }
    if !has_cluster_ip(service) {
        drop_fields(service, ["internalTrafficPolicy"].iter());
    }
    match (allocates_node_ports(old), allocates_node_ports(service)) {
        (true, true) => keep_node_ports(service, old),
        (true, false) => drop_node_ports(service, old),
        _ => {}
    }
    match (has_health_check_port(old), has_health_check_port(service)) {
        (true, true) => keep(service, old, &["healthCheckNodePort"]),
        (true, false) => drop_same(service, old, "healthCheckNodePort"),
        _ => {}
    }
    let is_load_balancer = |service: &Value| service_type(service) == "LoadBalancer";
    if is_load_balancer(old) && !is_load_balancer(service) {
        drop_same(service, old, "allocateLoadBalancerNodePorts");
        drop_same(service, old, "loadBalancerClass");
    }
    if is_external(old) && !is_external(service) {
        drop_same(service, old, "externalTrafficPolicy");
    }
    if !is_load_balancer(service) && service["status"].is_object() {
        service["status"]["loadBalancer"] = json!({});
    }
}

/// Whether a Service has a port for health checks.
pub(crate) fn has_health_check_port(service: &Value) -> bool {
    service_type(service) == "LoadBalancer" && service["spec"]["externalTrafficPolicy"] == "Local"
}

/// Whether node ports are allocated for a Service.
pub(crate) fn allocates_node_ports(service: &Value) -> bool {
    match service_type(service) {
        "NodePort" => true,
        "LoadBalancer" => service["spec"]["allocateLoadBalancerNodePorts"] != false,
        _ => false,
    }
}

/// Whether a Service may have node ports.
pub(crate) fn may_have_node_ports(service: &Value) -> bool {
    matches!(service_type(service), "NodePort" | "LoadBalancer")
}

/// Whether a Service is reachable from outside, by node ports or external IPs.
fn is_external(service: &Value) -> bool {
    let listed =
        service["spec"].get("externalIPs").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    may_have_node_ports(service) || service_type(service) == "ClusterIP" && listed
}

/// Whether a Service has a cluster IP, including `None`.
pub(crate) fn has_cluster_ip(service: &Value) -> bool {
    service_type(service) != "ExternalName"
}

/// Keeps the addresses that the new object omits; `clusterIP` and `clusterIPs` follow each other.
fn keep_addresses(service: &mut Value, old: &Value) {
    if !service["spec"].is_object() {
        return;
    }
    if has_cluster_ip(old) && has_cluster_ip(service) {
        if cluster_ip(service).is_empty() && !cluster_ip(old).is_empty() {
            service["spec"]["clusterIP"] = cluster_ip(old).into();
        }
        if cluster_ips(service).is_empty() && !cluster_ips(old).is_empty() {
            service["spec"]["clusterIPs"] = old["spec"]["clusterIPs"].clone();
        }
    }
    let same = cluster_ip(service) == cluster_ip(old);
    if same && cluster_ips(service).is_empty() && !cluster_ips(old).is_empty() {
        service["spec"]["clusterIPs"] = old["spec"]["clusterIPs"].clone();
    }
    if !same && cluster_ips(service) == cluster_ips(old) {
        if cluster_ip(service).is_empty() {
            drop_fields(service, ADDRESSES[1..].iter());
        } else {
            service["spec"]["clusterIPs"] = json!([cluster_ip(service)]);
        }
    }
}

fn cluster_ip(service: &Value) -> &str {
    service["spec"].get("clusterIP").and_then(Value::as_str).unwrap_or_default()
}

fn cluster_ips(service: &Value) -> &[Value] {
    service["spec"].get("clusterIPs").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn service_type(service: &Value) -> &str {
    service.pointer("/spec/type").and_then(Value::as_str).unwrap_or("ClusterIP")
}

fn same(service: &Value, old: &Value, field: &str) -> bool {
    service["spec"].get(field) == old["spec"].get(field)
}

fn keep(service: &mut Value, old: &Value, fields: &[&str]) {
    let (Some(spec), Some(old)) = (service.get_mut("spec").and_then(Value::as_object_mut), old.get("spec"))
    else {
        return;
    };
    for field in fields {
        if let Some(value) = old.get(*field).filter(|_| !spec.contains_key(*field)) {
            spec.insert((*field).to_owned(), value.clone());
        }
    }
}

fn drop_same(service: &mut Value, old: &Value, field: &'static str) {
    if same(service, old, field) {
        drop_fields(service, [field].iter());
    }
}

fn drop_fields<'a>(service: &mut Value, fields: impl Iterator<Item = &'a &'static str>) {
    if let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) {
        fields.for_each(|field| {
            spec.remove(*field);
        });
    }
}

fn ports(service: &Value) -> Vec<&Value> {
    service.pointer("/spec/ports").and_then(Value::as_array).into_iter().flatten().collect()
}

fn ports_mut(service: &mut Value) -> impl Iterator<Item = &mut Value> {
    service.pointer_mut("/spec/ports").and_then(Value::as_array_mut).into_iter().flatten()
}

fn node_port(port: &Value) -> Option<u64> {
    port.get("nodePort").and_then(Value::as_u64).filter(|number| *number > 0)
}

/// A port without a node port keeps that of the old port with the same name, unless another port uses it.
fn keep_node_ports(service: &mut Value, old: &Value) {
    let now: Vec<u64> = ports(service).into_iter().filter_map(node_port).collect();
    let old: Vec<Value> = ports(old).into_iter().cloned().collect();
    for port in ports_mut(service).filter(|port| node_port(port).is_none()) {
        let of_name = old.iter().rfind(|other| other.get("name") == port.get("name"));
        if let Some(number) = of_name.and_then(node_port).filter(|number| !now.contains(number)) {
            port["nodePort"] = number.into();
        }
    }
}

fn drop_node_ports(service: &mut Value, old: &Value) {
    let numbers = |service: &Value| {
        let mut numbers: Vec<u64> = ports(service).into_iter().filter_map(node_port).collect();
        numbers.sort_unstable();
        numbers
    };
    if numbers(service) == numbers(old) {
        ports_mut(service).for_each(|port| {
            port.as_object_mut().and_then(|port| port.remove("nodePort"));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balancer() -> Value {
        json!({"spec": {
            "type": "LoadBalancer", "clusterIP": "10.0.0.7", "clusterIPs": ["10.0.0.7"], "externalTrafficPolicy": "Local",
            "allocateLoadBalancerNodePorts": true, "healthCheckNodePort": 30_009, "ipFamilies": ["IPv4"],
            "ports": [{"name": "a", "port": 1, "nodePort": 30_001}, {"name": "b", "port": 2, "nodePort": 30_002}],
        }, "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}})
    }

    #[test]
    fn fields_of_the_old_type_are_dropped() {
        let mut service = balancer();
        service["spec"]["type"] = "ClusterIP".into();
        keep_allocated(&mut service, &balancer());
        let want = json!({"spec": {
            "type": "ClusterIP", "clusterIP": "10.0.0.7", "clusterIPs": ["10.0.0.7"], "ipFamilies": ["IPv4"],
            "ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2}],
        }, "status": {"loadBalancer": {}}});
        assert_eq!(service, want);
    }

    #[test]
    fn node_ports_stay_with_port_names() {
        let mut service = balancer();
        service["spec"]["ports"] = json!([{"name": "b", "port": 9}, {"name": "a", "port": 2, "nodePort": 30_005}, {"name": "c", "port": 3}]);
        keep_allocated(&mut service, &balancer());
        let want = json!([{"name": "b", "port": 9, "nodePort": 30_002}, {"name": "a", "port": 2, "nodePort": 30_005}, {"name": "c", "port": 3}]);
        assert_eq!(service["spec"]["ports"], want);
    }

    #[test]
    fn changed_fields_are_kept_for_validation() {
        let mut service = balancer();
        service["spec"]["type"] = "ClusterIP".into();
        service["spec"]["externalTrafficPolicy"] = "Cluster".into();
        service["spec"]["ports"][0]["nodePort"] = 30_007.into();
        keep_allocated(&mut service, &balancer());
        assert_eq!(service["spec"]["externalTrafficPolicy"], "Cluster");
        assert_eq!(service["spec"]["ports"][1]["nodePort"], 30_002);
    }
}
