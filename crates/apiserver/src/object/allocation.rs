//! Addresses and node ports of services: the first that no other service has.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Value, json};
use webhook::field::{Error, Path, Shown};

use crate::http::status::Status;
use crate::registry::Target;
use crate::state::Shared;

/// `10.0.0.0/24`, as a server has it that is not told another; the first address is that of the API server.
const FIRST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const LAST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 254);
const NODE_PORTS: std::ops::RangeInclusive<u64> = 30_000..=32_767;

/// Gives a service that is about to be written the address and the ports that it needs and does not name.
pub(crate) fn allocate(shared: &Shared, target: &Target, object: &mut Value) -> Result<(), Status> {
    if target.table != "services" || !object["spec"].is_object() {
        return Ok(());
    }
    let snapshot = shared.store.snapshot(&target.table);
    let own = object.pointer("/metadata/uid").cloned();
    let others: Vec<&Value> = snapshot
        .objects
        .values()
        .map(|service| service.value())
        .filter(|service| service.pointer("/metadata/uid") != own.as_ref())
        .collect();
    if object["spec"]["type"] == "ExternalName" {
        return Ok(());
    }
    address(&others, object).map_err(|error| refusal(object, error))?;
    families(object);
    if matches!(object["spec"]["type"].as_str(), Some("NodePort" | "LoadBalancer"))
        && object["spec"].get("allocateLoadBalancerNodePorts") != Some(&Value::Bool(false))
    {
        node_ports(&others, object).map_err(|error| refusal(object, error))?;
    }
    Ok(())
}

/// Refuses a service without a name that would get an address, which cannot be taken for nobody.
pub(crate) fn nameless(target: &Target, object: &Value) -> Result<(), Status> {
    let spec = |field: &str| object["spec"][field].as_str().unwrap_or_default();
    let addressed = spec("type") != "ExternalName" && spec("clusterIP").is_empty();
    if target.table != "services" || !addressed || !crate::object::meta::name(object).is_empty() {
        return Ok(());
    }
    let why = format!(
        "failed to allocate IP: IPAddress.networking.k8s.io \"{FIRST}\" is invalid: spec.parentRef.name: Required value"
    );
    let at = Path::new("spec").child("clusterIPs");
    Err(refusal(object, Error::invalid(&at, Shown::verbatim("[\"\"]"), &why)))
}

fn refusal(object: &Value, error: Error) -> Status {
    Status::invalid("", "Service", crate::object::meta::name(object), &[error])
}

fn address(others: &[&Value], object: &mut Value) -> Result<(), Error> {
    let spec = &mut object["spec"];
    let at = Path::new("spec").child("clusterIPs");
    let taken: BTreeSet<&str> =
        others.iter().filter_map(|service| service.pointer("/spec/clusterIP")?.as_str()).collect();
    let wanted = spec.get("clusterIP").and_then(Value::as_str).unwrap_or_default().to_owned();
    let address = match wanted.as_str() {
        "" => {
            let mut free =
                (u32::from(FIRST)..=u32::from(LAST)).map(|number| Ipv4Addr::from(number).to_string());
            free.find(|address| !taken.contains(address.as_str()))
                .ok_or_else(|| Error::internal(&at, "failed to allocate a serviceIP: range is full"))?
        }
        "None" => wanted,
        named if taken.contains(named) => {
            let why = "failed to allocate IP {}: provided IP is already allocated".replace("{}", named);
            return Err(Error::invalid(&at, &vec![wanted.clone()], &why));
        }
        _ => wanted,
    };
    if spec.get("clusterIPs").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        spec["clusterIPs"] = json!([address]);
    }
    spec["clusterIP"] = address.into();
    Ok(())
}

/// One family unless the service says otherwise; both for headless ones without selector.
fn families(object: &mut Value) {
    let spec = &mut object["spec"];
    let headless = spec["clusterIP"] == "None";
    let selected = spec.get("selector").and_then(Value::as_object).is_some_and(|labels| !labels.is_empty());
    let second = matches!(spec["clusterIP"].as_str().map(str::parse::<IpAddr>), Some(Ok(IpAddr::V6(_))));
    let own = if second { "IPv6" } else { "IPv4" };
    let (policy, families) = if headless && !selected {
        ("RequireDualStack", json!(["IPv4", "IPv6"]))
    } else {
        ("SingleStack", json!([own]))
    };
    let named = spec.get("ipFamilies").and_then(Value::as_array).map(Vec::len);
    let policy = match named {
        Some(1) if headless => "SingleStack",
        _ => policy,
    };
    if let Some(fields) = spec.as_object_mut() {
        fields.entry("ipFamilies").or_insert(families);
        fields.entry("ipFamilyPolicy").or_insert_with(|| policy.into());
    }
}

fn node_ports(others: &[&Value], object: &mut Value) -> Result<(), Error> {
    let ports = |service: &Value| -> Vec<u64> {
        let ports = service.pointer("/spec/ports").and_then(Value::as_array).into_iter().flatten();
        ports.filter_map(|port| port.get("nodePort")?.as_u64()).collect()
    };
    let mut taken: BTreeSet<u64> = others.iter().flat_map(|service| ports(service)).collect();
    let at = Path::new("spec").child("ports");
    let own = object.pointer_mut("/spec/ports").and_then(Value::as_array_mut).into_iter().flatten();
    let mut wanted = Vec::new();
    for (index, port) in own.enumerate() {
        match port.get("nodePort").and_then(Value::as_i64).unwrap_or_default() {
            0 => wanted.push(port),
            number => {
                let at = at.index(index).child("nodePort");
                let number_taken = u64::try_from(number).is_ok_and(|number| taken.contains(&number));
                if number_taken {
                    return Err(Error::invalid(&at, number, "provided port is already allocated"));
                }
                taken.extend(u64::try_from(number));
            }
        }
    }
    for port in wanted {
        let free = NODE_PORTS.into_iter().find(|number| !taken.contains(number));
        let number =
            free.ok_or_else(|| Error::internal(&at, "failed to allocate a nodePort: range is full"))?;
        taken.insert(number);
        port["nodePort"] = number.into();
    }
    Ok(())
}
