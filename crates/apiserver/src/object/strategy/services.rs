//! What a changed service keeps of what was allocated for the old one.

use serde_json::Value;

const ADDRESSES: &[&str] = &["clusterIP", "clusterIPs"];
const FAMILIES: &[&str] = &["ipFamilies", "ipFamilyPolicy"];

/// Takes over addresses and node ports that the new object does not name, where both types have such.
pub(super) fn keep_allocated(service: &mut Value, old: &Value) {
    let kind = |service: &Value| {
        let kind = service.pointer("/spec/type").and_then(Value::as_str);
        kind.unwrap_or("ClusterIP").to_owned()
    };
    let (was, is) = (kind(old), kind(service));
    let addressed = |kind: &str| kind != "ExternalName";
    if addressed(&was) && addressed(&is) {
        // Headless stays headless, and what names an address names all.
        if service.pointer("/spec/clusterIP").is_none() {
            keep(service, old, ADDRESSES);
        } else if service.pointer("/spec/clusterIP") == old.pointer("/spec/clusterIP") {
            keep(service, old, &ADDRESSES[1..]);
        }
        keep(service, old, FAMILIES);
    }
    if addressed(&was)
        && !addressed(&is)
        && service.pointer("/spec/clusterIP") == old.pointer("/spec/clusterIP")
    {
        let given = ADDRESSES.iter().chain(FAMILIES).chain(&["internalTrafficPolicy"]);
        if let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) {
            given.for_each(|field| {
                spec.remove(*field);
            });
        }
    }
    let published = |kind: &str| matches!(kind, "NodePort" | "LoadBalancer");
    if published(&was) && published(&is) {
        keep_node_ports(service, old);
        keep(service, old, &["healthCheckNodePort"]);
    }
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

fn keep_node_ports(service: &mut Value, old: &Value) {
    let old: Vec<Value> = old.pointer("/spec/ports").and_then(Value::as_array).cloned().unwrap_or_default();
    let ports = service.pointer_mut("/spec/ports").and_then(Value::as_array_mut).into_iter().flatten();
    for port in ports.filter(|port| port.get("nodePort").is_none()) {
        let same =
            |other: &&Value| (&other["port"], &other["protocol"]) == (&port["port"], &port["protocol"]);
        if let Some(number) = old.iter().find(same).and_then(|other| other.get("nodePort")).cloned() {
            port["nodePort"] = number;
        }
    }
}
