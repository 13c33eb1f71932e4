//! Addresses and node ports of services: the first that no other service has.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Value, json};
use webhook::field::{Error, Path, Shown};

use crate::call::Call;
use crate::http::status::Status;
use crate::object::meta;
use crate::object::strategy::services;
use crate::object::validation;
use crate::state::Shared;

/// `10.0.0.0/24`, as a server has it that is not told another; the first address is that of the API server.
const FIRST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const LAST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 254);
const NODE_PORTS: std::ops::RangeInclusive<u64> = 30_000..=32_767;

/// Gives a service that is about to be written the address and the ports that it needs and does not name; `old` is what
/// it replaces. This is done before anything else of it is looked at.
///
/// # Errors
/// Where what it names cannot be had; a refusal names that alone.
pub(crate) fn allocate(
    shared: &Shared,
    call: &Call,
    object: &mut Value,
    old: Option<&Value>,
) -> Result<(), Status> {
    if call.target.table != "services" || !object["spec"].is_object() {
        return Ok(());
    }
    if services::addressed(object) {
        let errors = validation::addresses(call, object, old);
        if !errors.is_empty() {
            return Err(Status::invalid("", "Service", meta::name(object), &errors));
        }
    }
    let snapshot = shared.store.snapshot(&call.target.table);
    let own = object.pointer("/metadata/uid").cloned();
    let others: Vec<&Value> = snapshot
        .objects
        .values()
        .map(|service| service.value())
        .filter(|service| service.pointer("/metadata/uid") != own.as_ref())
        .collect();
    if services::addressed(object) {
        if !old.is_some_and(services::addressed) {
            nameless(call, object)?;
            address(&others, object).map_err(|error| refusal(object, error))?;
        }
        families(object);
    }
    ports(&others, object, old).map_err(|error| refusal(object, error))
}

/// Refuses a service without a name that would get an address, which cannot be taken for nobody.
fn nameless(call: &Call, object: &Value) -> Result<(), Status> {
    let unsaid = object["spec"]["clusterIP"].as_str().unwrap_or_default().is_empty();
    if call.query.dry_run() || !unsaid || !meta::name(object).is_empty() {
        return Ok(());
    }
    let why = format!(
        "failed to allocate IP: IPAddress.networking.k8s.io \"{FIRST}\" is invalid: spec.parentRef.name: Required value"
    );
    let at = Path::new("spec").child("clusterIPs");
    Err(refusal(object, Error::invalid(&at, Shown::verbatim("[\"\"]"), &why)))
}

fn refusal(object: &Value, error: Error) -> Status {
    Status::invalid("", "Service", meta::name(object), &[error])
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

/// The numbers on the nodes that a service has.
fn numbers(service: &Value) -> BTreeSet<u64> {
    let ports = service.pointer("/spec/ports").and_then(Value::as_array).into_iter().flatten();
    let numbers = ports.filter_map(|port| port.get("nodePort")?.as_u64());
    numbers.chain(service["spec"]["healthCheckNodePort"].as_u64()).filter(|number| *number > 0).collect()
}

/// Ports on the nodes: those that are named are taken, the others get the first that are free.
fn ports(others: &[&Value], object: &mut Value, old: Option<&Value>) -> Result<(), Error> {
    let mut taken: BTreeSet<u64> = others.iter().flat_map(|service| numbers(service)).collect();
    let before = old.map(numbers).unwrap_or_default();
    let (published, probed) = (services::published(object), services::probed(object));
    let accessible = matches!(object["spec"]["type"].as_str(), Some("NodePort" | "LoadBalancer"));
    let at = Path::new("spec").child("ports");
    let own = object.pointer_mut("/spec/ports").and_then(Value::as_array_mut).into_iter().flatten();
    let mut wanted = Vec::new();
    for (index, port) in own.enumerate().filter(|_| accessible) {
        match port.get("nodePort").and_then(Value::as_i64).unwrap_or_default() {
            0 => wanted.push(port),
            number => {
                let at = at.index(index).child("nodePort");
                take(number, &mut taken, &before).map_err(|why| Error::invalid(&at, number, &why))?;
            }
        }
    }
    for port in wanted.into_iter().filter(|_| published) {
        port["nodePort"] = free(&mut taken).ok_or_else(|| full(&at))?.into();
    }
    if probed && object["spec"]["healthCheckNodePort"].as_u64().unwrap_or_default() == 0 {
        object["spec"]["healthCheckNodePort"] = free(&mut taken).ok_or_else(|| full(&at))?.into();
    }
    Ok(())
}

/// Takes a number that the service names; why it cannot.
fn take(number: i64, taken: &mut BTreeSet<u64>, before: &BTreeSet<u64>) -> Result<(), String> {
    let Some(number) = u64::try_from(number).ok().filter(|number| NODE_PORTS.contains(number)) else {
        let (first, last) = (NODE_PORTS.start(), NODE_PORTS.end());
        return Err(format!(
            "provided port is not in the valid range. The range of valid ports is {first}-{last}"
        ));
    };
    if taken.contains(&number) {
        return Err("provided port is already allocated".to_owned());
    }
    if !before.contains(&number) {
        taken.insert(number);
    }
    Ok(())
}

fn free(taken: &mut BTreeSet<u64>) -> Option<u64> {
    let number = NODE_PORTS.into_iter().find(|number| !taken.contains(number))?;
    taken.insert(number);
    Some(number)
}

fn full(at: &Path) -> Error {
    Error::internal(at, "failed to allocate a nodePort: range is full")
}
