//! Addresses and node ports of services: those that they name, or the first that no other service has.

mod families;
mod pool;
mod ports;

use serde_json::{Value, json};
use webhook::field::{Error, Path, Shown};

use crate::call::Call;
use crate::http::status::Status;
use crate::object::meta;
use crate::object::strategy::services;
use crate::state::Shared;

pub(crate) use pool::{Held, Pool};

use pool::{Taking, Unfit};

/// Gives a service that is about to be written the address and the ports that it needs and does not name; `old` is what
/// it replaces. This is done before anything else of it is looked at. Nobody else is given them as long as they are held.
///
/// # Errors
/// Where what it names cannot be had; a refusal names that alone.
pub(crate) fn allocate<'a>(
    shared: &'a Shared,
    call: &Call,
    object: &mut Value,
    old: Option<&Value>,
) -> Result<Option<Held<'a>>, Status> {
    if call.target.table != "services" || !object["spec"].is_object() {
        return Ok(None);
    }
    if services::addressed(object) {
        if old.is_none() {
            list_address(&mut object["spec"]);
        }
        families::settle(call, object, old)
            .map_err(|errors| Status::invalid("", "Service", meta::name(object), &errors))?;
    }
    let mut taking = shared.pool.begin(&shared.store, object, call.query.dry_run());
    if services::addressed(object) && !old.is_some_and(services::addressed) {
        address(&mut taking, object)?;
    }
    match old {
        _ if !services::accessible(object) => {}
        None => ports::of_new(&mut taking, object)?,
        Some(old) => ports::of_changed(&mut taking, object, old)?,
    }
    ports::of_health(&mut taking, object, old)?;
    Ok(Some(taking.hold()))
}

fn refusal(service: &str, error: Error) -> Status {
    Status::invalid("", "Service", service, &[error])
}

/// An address that is named alone is the first of the list.
fn list_address(spec: &mut Value) {
    let single = spec.get("clusterIP").and_then(Value::as_str).unwrap_or_default();
    if !single.is_empty() && spec.get("clusterIPs").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        spec["clusterIPs"] = json!([single]);
    }
}

fn address(taking: &mut Taking<'_>, object: &mut Value) -> Result<(), Status> {
    let name = meta::name(object).to_owned();
    let spec = &mut object["spec"];
    match spec.get("clusterIP").and_then(Value::as_str).unwrap_or_default() {
        "" => {
            let address = taking.next_address().map_err(|why| unfit(&name, "", why))?.to_string();
            spec["clusterIPs"] = json!([address]);
            spec["clusterIP"] = address.into();
            Ok(())
        }
        "None" => Ok(()),
        named => taking.address(named).map_err(|why| unfit(&name, named, why)),
    }
}

/// The refusal of a service that cannot have the address that it names, or none where it names none.
fn unfit(service: &str, named: &str, why: Unfit) -> Status {
    if named.is_empty() && why == Unfit::Full {
        return Status::internal(&format!("failed to allocate a serviceIP for Service {service:?}: {why}"));
    }
    let gap = if named.is_empty() { "" } else { " " };
    let why = format!("failed to allocate IP{gap}{named}: {why}");
    refusal(service, Error::invalid(&Path::new("spec").child("clusterIPs"), shown(named), &why))
}

/// The addresses of a service that names one.
fn shown(address: &str) -> Shown {
    Shown::verbatim(json!([address]))
}
