//! What a changed service keeps of what was allocated for the old one, and what it loses with its type.

use serde_json::{Value, json};

const ADDRESSES: &[&str] = &["clusterIP", "clusterIPs"];
const FAMILIES: &[&str] = &["ipFamilies", "ipFamilyPolicy"];

/// Takes over addresses and node ports that the new object does not name, where both types have such; drops what only
/// the old type has and the new object leaves as it was.
pub(super) fn keep_allocated(service: &mut Value, old: &Value) {
    keep_addresses(service, old);
    if addressed(old) && !addressed(service) {
        if same(service, old, "clusterIP") && list(service) == list(old) {
            drop_fields(service, ADDRESSES.iter());
        }
        for field in FAMILIES {
            drop_same(service, old, field);
        }
    }
    if !addressed(service) {
        drop_fields(service, ["internalTrafficPolicy"].iter());
    }
    match (published(old), published(service)) {
        (true, true) => keep_node_ports(service, old),
        (true, false) => drop_node_ports(service, old),
        _ => {}
    }
    match (probed(old), probed(service)) {
        (true, true) => keep(service, old, &["healthCheckNodePort"]),
        (true, false) => drop_same(service, old, "healthCheckNodePort"),
        _ => {}
    }
    let balanced = |service: &Value| kind(service) == "LoadBalancer";
    if balanced(old) && !balanced(service) {
        drop_same(service, old, "allocateLoadBalancerNodePorts");
        drop_same(service, old, "loadBalancerClass");
    }
    if reached(old) && !reached(service) {
        drop_same(service, old, "externalTrafficPolicy");
    }
    if !balanced(service) && service["status"].is_object() {
        service["status"]["loadBalancer"] = json!({});
    }
}

/// Whether who asks for a service is asked for its health on a port of its own.
pub(crate) fn probed(service: &Value) -> bool {
    kind(service) == "LoadBalancer" && service["spec"]["externalTrafficPolicy"] == "Local"
}

/// Whether a service has ports on nodes that it does not name.
pub(crate) fn published(service: &Value) -> bool {
    match kind(service) {
        "NodePort" => true,
        "LoadBalancer" => service["spec"]["allocateLoadBalancerNodePorts"] != false,
        _ => false,
    }
}

/// Whether a service may have ports on nodes.
pub(crate) fn accessible(service: &Value) -> bool {
    matches!(kind(service), "NodePort" | "LoadBalancer")
}

/// Whether a service is reached from outside: by ports on nodes, or by addresses of its own.
fn reached(service: &Value) -> bool {
    let listed =
        service["spec"].get("externalIPs").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    accessible(service) || kind(service) == "ClusterIP" && listed
}

/// Whether a service has an address, if only that of nobody.
pub(crate) fn addressed(service: &Value) -> bool {
    kind(service) != "ExternalName"
}

/// Addresses that a service leaves out are those that it has; the one address and the list follow each other, whichever
/// of them is changed.
fn keep_addresses(service: &mut Value, old: &Value) {
    if !service["spec"].is_object() {
        return;
    }
    if addressed(old) && addressed(service) {
        if address(service).is_empty() && !address(old).is_empty() {
            service["spec"]["clusterIP"] = address(old).into();
        }
        if list(service).is_empty() && !list(old).is_empty() {
            service["spec"]["clusterIPs"] = old["spec"]["clusterIPs"].clone();
        }
    }
    let same = address(service) == address(old);
    if same && list(service).is_empty() && !list(old).is_empty() {
        service["spec"]["clusterIPs"] = old["spec"]["clusterIPs"].clone();
    }
    if !same && list(service) == list(old) {
        if address(service).is_empty() {
            drop_fields(service, ADDRESSES[1..].iter());
        } else {
            service["spec"]["clusterIPs"] = json!([address(service)]);
        }
    }
}

fn address(service: &Value) -> &str {
    service["spec"].get("clusterIP").and_then(Value::as_str).unwrap_or_default()
}

fn list(service: &Value) -> &[Value] {
    service["spec"].get("clusterIPs").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn kind(service: &Value) -> &str {
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

fn number(port: &Value) -> Option<u64> {
    port.get("nodePort").and_then(Value::as_u64).filter(|number| *number > 0)
}

/// A port without a number on the nodes has that of the old port of its name, unless another one took it.
fn keep_node_ports(service: &mut Value, old: &Value) {
    let now: Vec<u64> = ports(service).into_iter().filter_map(number).collect();
    let old: Vec<Value> = ports(old).into_iter().cloned().collect();
    for port in ports_mut(service).filter(|port| number(port).is_none()) {
        let of_name = old.iter().rfind(|other| other.get("name") == port.get("name"));
        if let Some(number) = of_name.and_then(number).filter(|number| !now.contains(number)) {
            port["nodePort"] = number.into();
        }
    }
}

fn drop_node_ports(service: &mut Value, old: &Value) {
    let numbers = |service: &Value| {
        let mut numbers: Vec<u64> = ports(service).into_iter().filter_map(number).collect();
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
    fn what_only_the_old_type_has_goes() {
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
    fn numbers_stay_with_the_names_of_ports() {
        let mut service = balancer();
        service["spec"]["ports"] = json!([{"name": "b", "port": 9}, {"name": "a", "port": 2, "nodePort": 30_005}, {"name": "c", "port": 3}]);
        keep_allocated(&mut service, &balancer());
        let want = json!([{"name": "b", "port": 9, "nodePort": 30_002}, {"name": "a", "port": 2, "nodePort": 30_005}, {"name": "c", "port": 3}]);
        assert_eq!(service["spec"]["ports"], want);
    }

    #[test]
    fn what_the_new_object_changes_is_left_to_be_refused() {
        let mut service = balancer();
        service["spec"]["type"] = "ClusterIP".into();
        service["spec"]["externalTrafficPolicy"] = "Cluster".into();
        service["spec"]["ports"][0]["nodePort"] = 30_007.into();
        keep_allocated(&mut service, &balancer());
        assert_eq!(service["spec"]["externalTrafficPolicy"], "Cluster");
        assert_eq!(service["spec"]["ports"][1]["nodePort"], 30_002);
    }
}
