//! Ports of services on the nodes: those that are named are taken, the others get the first that are free.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use webhook::field::{Error, Path};

use super::pool::{Taking, Unfit};
use super::refusal;
use crate::http::status::Status;
use crate::object::meta;
use crate::object::strategy::services;

/// The numbers on the nodes that a service has.
pub(super) fn numbers(service: &Value) -> impl Iterator<Item = i64> {
    let ports = service.pointer("/spec/ports").and_then(Value::as_array).into_iter().flatten();
    let health = service.pointer("/spec/healthCheckNodePort").and_then(Value::as_i64);
    ports.map(node_port).chain(health).filter(|number| *number != 0)
}

/// Gives a new service its ports; those of one number share one on the nodes.
pub(super) fn of_new(taking: &mut Taking<'_>, service: &mut Value) -> Result<(), Status> {
    let (name, published) = (meta::name(service).to_owned(), services::published(service));
    let mut given: BTreeMap<i64, i64> = BTreeMap::new();
    let said: Vec<(i64, i64)> = ports(service).iter().map(|port| (number(port), node_port(port))).collect();
    for (index, port) in ports_mut(service).iter_mut().enumerate() {
        let (number, own) = (number(port), node_port(port));
        if own == 0 && !published {
            continue;
        }
        let refused = |why: Unfit, asked: i64| refused(&name, index, asked, why);
        match given.get(&number) {
            Some(shared) if own == 0 => port["nodePort"] = (*shared).into(),
            Some(shared) if own == *shared => {}
            Some(_) => taking.port(own).map_err(|why| refused(why, own))?,
            None => {
                let named = said.iter().find(|(of, asked)| *of == number && *asked != 0);
                let got = match named {
                    Some((_, asked)) => {
                        taking.port(*asked).map_err(|why| refused(why, *asked)).map(|()| *asked)?
                    }
                    None => taking.next_port().map_err(full)?,
                };
                port["nodePort"] = got.into();
                given.insert(number, got);
            }
        }
    }
    Ok(())
}

/// Gives a changed service the ports that it had not, each one of its own unless it names one twice.
pub(super) fn of_changed(taking: &mut Taking<'_>, service: &mut Value, old: &Value) -> Result<(), Status> {
    let (name, published) = (meta::name(service).to_owned(), services::published(service));
    let before: BTreeSet<i64> = ports(old).iter().map(node_port).collect();
    let mut seen: BTreeSet<(String, i64)> = BTreeSet::new();
    for (index, port) in ports_mut(service).iter_mut().enumerate() {
        let own = node_port(port);
        if own == 0 && !published {
            continue;
        }
        if own == 0 {
            port["nodePort"] = taking.next_port().map_err(full)?.into();
        } else if !before.contains(&own) && !taking.took(own) {
            taking.port(own).map_err(|why| refused(&name, index, own, why))?;
        }
        let protocol = port["protocol"].as_str().unwrap_or_default().to_owned();
        let number = node_port(port);
        if !seen.insert((protocol.clone(), number)) {
            // Nobody there has a word for it, so that it passes for a failure of the server.
            return Err(Status::failure(format!("duplicate nodePort: {{{protocol} {number}}}")));
        }
    }
    Ok(())
}

/// Gives a service the port where it is asked for its health, if it has come to need one.
pub(super) fn of_health(
    taking: &mut Taking<'_>,
    service: &mut Value,
    old: Option<&Value>,
) -> Result<(), Status> {
    if !services::probed(service) || old.is_some_and(services::probed) {
        return Ok(());
    }
    let health = &mut service["spec"]["healthCheckNodePort"];
    match health.as_i64().unwrap_or_default() {
        0 => {
            let got = taking.next_port().map_err(|why| {
                Status::internal(&format!("failed to allocate a HealthCheck NodePort 0: {why}"))
            })?;
            *health = got.into();
        }
        asked => taking.port(asked).map_err(|why| {
            Status::internal(&format!("failed to allocate requested HealthCheck NodePort {asked}: {why}"))
        })?,
    }
    Ok(())
}

fn refused(service: &str, index: usize, asked: i64, why: Unfit) -> Status {
    let at = Path::new("spec").child("ports").index(index).child("nodePort");
    refusal(service, Error::invalid(&at, asked, &why.to_string()))
}

fn full(why: Unfit) -> Status {
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

fn node_port(port: &Value) -> i64 {
    port.get("nodePort").and_then(Value::as_i64).unwrap_or_default()
}
