//! Allocates node ports of Services: the requested ones, or the first free ones.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use webhook::field::{Error, Path};

use super::pool::{Allocation, AllocationError, node_port};
use super::service_error;
use crate::http::status::Status;
use crate::object::meta;
use crate::object::strategy::services;

/// Allocates node ports of a new Service; ports with the same number share one.
pub(super) fn allocate_new(allocation: &mut Allocation<'_>, service: &mut Value) -> Result<(), Status> {
    let (name, allocates) = (meta::name(service).to_owned(), services::allocates_node_ports(service));
    let mut by_number: BTreeMap<i64, i64> = BTreeMap::new();
    let requests: Vec<(i64, i64)> =
        ports(service).iter().map(|port| (number(port), node_port(port))).collect();
    for (index, port) in ports_mut(service).iter_mut().enumerate() {
        let (number, own) = (number(port), node_port(port));
        if own == 0 && !allocates {
            continue;
        }
        let rejected = |why: AllocationError, requested: i64| rejection(&name, index, requested, why);
        match by_number.get(&number) {
            Some(shared) if own == 0 => port["nodePort"] = (*shared).into(),
            Some(shared) if own == *shared => {}
            Some(_) => allocation.port(own).map_err(|why| rejected(why, own))?,
            None => {
                let request = requests.iter().find(|(of, requested)| *of == number && *requested != 0);
                let port_number = match request {
                    Some((_, requested)) => allocation
                        .port(*requested)
                        .map_err(|why| rejected(why, *requested))
                        .map(|()| *requested)?,
                    None => allocation.next_port().map_err(allocation_failure)?,
                };
                port["nodePort"] = port_number.into();
                by_number.insert(number, port_number);
            }
        }
    }
    Ok(())
}

/// Allocates node ports that an updated Service did not have, a separate one for each port without a request.
pub(super) fn allocate_changed(
    allocation: &mut Allocation<'_>,
    service: &mut Value,
    old: &Value,
) -> Result<(), Status> {
    let (name, allocates) = (meta::name(service).to_owned(), services::allocates_node_ports(service));
    let before: BTreeSet<i64> = ports(old).iter().map(node_port).collect();
    let mut seen: BTreeSet<(String, i64)> = BTreeSet::new();
    for (index, port) in ports_mut(service).iter_mut().enumerate() {
        let own = node_port(port);
        if own == 0 && !allocates {
            continue;
        }
        if own == 0 {
            port["nodePort"] = allocation.next_port().map_err(allocation_failure)?.into();
        } else if !before.contains(&own) && !allocation.contains_port(own) {
            allocation.port(own).map_err(|why| rejection(&name, index, own, why))?;
        }
        let protocol = port["protocol"].as_str().unwrap_or_default().to_owned();
        let number = node_port(port);
        if !seen.insert((protocol.clone(), number)) {
            // kube-apiserver has no status for this error, so it answers with an internal error.
            return Err(Status::failure(format!("duplicate nodePort: {{{protocol} {number}}}")));
        }
    }
    Ok(())
}

/// Allocates the health check port of a Service that did not need one before.
pub(super) fn allocate_health_check(
    allocation: &mut Allocation<'_>,
    service: &mut Value,
    old: Option<&Value>,
) -> Result<(), Status> {
    if !services::has_health_check_port(service) || old.is_some_and(services::has_health_check_port) {
        return Ok(());
    }
    let health = &mut service["spec"]["healthCheckNodePort"];
    match health.as_i64().unwrap_or_default() {
        0 => {
            let port_number = allocation.next_port().map_err(|why| {
                Status::internal(&format!("failed to allocate a HealthCheck NodePort 0: {why}"))
            })?;
            *health = port_number.into();
        }
        requested => allocation.port(requested).map_err(|why| {
            Status::internal(&format!("failed to allocate requested HealthCheck NodePort {requested}: {why}"))
        })?,
    }
    Ok(())
}

fn rejection(service: &str, index: usize, requested: i64, why: AllocationError) -> Status {
    let at = Path::new("spec").child("ports").index(index).child("nodePort");
    service_error(service, Error::invalid(&at, requested, &why.to_string()))
}

fn allocation_failure(why: AllocationError) -> Status {
    Status::internal(&format!("failed to allocate a nodePort: {why}"))
}

fn ports(service: &Value) -> &[Value] {
    service.pointer("/spec/ports").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn ports_mut(service: &mut Value) -> &mut [Value] {
    service
        .pointer_mut("/spec/ports")
        .and_then(Value::as_array_mut)
        .map(Vec::as_mut_slice)
        .unwrap_or_default()
}

fn number(port: &Value) -> i64 {
    port.get("port").and_then(Value::as_i64).unwrap_or_default()
}
