//! Allocates cluster IPs and node ports of Services: the requested ones, or the first free ones.

mod families;
pub(crate) mod pool;
mod ports;

use serde_json::{Value, json};
use webhook::field::{Error, Path, Shown};

use crate::call::Call;
use crate::http::status::Status;
use crate::object::meta;
use crate::object::strategy::services;
use crate::state::ServerState;

use pool::{Allocation, AllocationError, Reservation};

/// Allocates the address and the ports that a Service needs, before the Service is validated; `old` is its previous
/// state. They stay reserved until the returned value is dropped.
///
/// # Errors
/// If a requested address or port is not available; the answer has only this error.
pub(crate) fn allocate<'a>(
    shared: &'a ServerState,
    call: &Call,
    object: &mut Value,
    old: Option<&Value>,
) -> Result<Option<Reservation<'a>>, Status> {
    if call.target.table != "services" || !object["spec"].is_object() {
        return Ok(None);
    }
    if services::has_cluster_ip(object) {
        if old.is_none() {
            fill_cluster_ips(&mut object["spec"]);
        }
        families::complete(call, object, old)
            .map_err(|errors| Status::invalid("", "Service", meta::name(object), &errors))?;
    }
    let mut allocation = shared.pool.begin(&shared.store, object, call.query.dry_run());
    if services::has_cluster_ip(object) && !old.is_some_and(services::has_cluster_ip) {
        allocate_address(&mut allocation, object)?;
    }
    match old {
        _ if !services::may_have_node_ports(object) => {}
        None => ports::allocate_new(&mut allocation, object)?,
        Some(old) => ports::allocate_changed(&mut allocation, object, old)?,
    }
    ports::allocate_health_check(&mut allocation, object, old)?;
    Ok(Some(allocation.reserve()))
}

fn service_error(service: &str, error: Error) -> Status {
    Status::invalid("", "Service", service, &[error])
}

/// Copies `clusterIP` into an empty `clusterIPs`.
fn fill_cluster_ips(spec: &mut Value) {
    let single = spec.get("clusterIP").and_then(Value::as_str).unwrap_or_default();
    if !single.is_empty() && spec.get("clusterIPs").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        spec["clusterIPs"] = json!([single]);
    }
}

fn allocate_address(allocation: &mut Allocation<'_>, object: &mut Value) -> Result<(), Status> {
    let name = meta::name(object).to_owned();
    let spec = &mut object["spec"];
    match spec.get("clusterIP").and_then(Value::as_str).unwrap_or_default() {
        "" => {
            let address = allocation.next_address().map_err(|why| address_error(&name, "", why))?.to_string();
            spec["clusterIPs"] = json!([address]);
            spec["clusterIP"] = address.into();
            Ok(())
        }
        "None" => Ok(()),
        requested => allocation.address(requested).map_err(|why| address_error(&name, requested, why)),
    }
}

/// The answer if the address `requested`, or any address if that is empty, cannot be allocated.
fn address_error(service: &str, requested: &str, why: AllocationError) -> Status {
    if requested.is_empty() && why == AllocationError::Full {
        return Status::internal(&format!("failed to allocate a serviceIP for Service {service:?}: {why}"));
    }
    let gap = if requested.is_empty() { "" } else { " " };
    let why = format!("failed to allocate IP{gap}{requested}: {why}");
    service_error(
        service,
        Error::invalid(&Path::new("spec").child("clusterIPs"), cluster_ips(requested), &why),
    )
}

/// The value of `clusterIPs` with one address, for messages.
fn cluster_ips(address: &str) -> Shown {
    Shown::verbatim(json!([address]))
}
