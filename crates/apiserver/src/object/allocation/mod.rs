//! Addresses and node ports of services: those that they name, or the first that no other service has.

mod pool;
mod ports;

use std::net::IpAddr;

use serde_json::{Value, json};
use webhook::field::{Error, Path, Shown};

use crate::call::Call;
use crate::http::status::Status;
use crate::object::meta;
use crate::object::strategy::services;
use crate::object::validation;
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
        let errors = validation::addresses(call, object, old);
        if !errors.is_empty() {
            return Err(Status::invalid("", "Service", meta::name(object), &errors));
        }
    }
    let mut taking = shared.pool.begin(&shared.store, object, call.query.dry_run());
    if services::addressed(object) {
        if !old.is_some_and(services::addressed) {
            address(&mut taking, object)?;
        }
        families(object);
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

fn address(taking: &mut Taking<'_>, object: &mut Value) -> Result<(), Status> {
    let name = meta::name(object).to_owned();
    let spec = &mut object["spec"];
    let wanted = spec.get("clusterIP").and_then(Value::as_str).unwrap_or_default().to_owned();
    let address = match wanted.as_str() {
        "" => taking.next_address().map_err(|why| unfit(&name, "", why))?.to_string(),
        "None" => wanted,
        second if second.parse().is_ok_and(|address: IpAddr| address.is_ipv6()) => {
            let at = Path::new("spec").child("clusterIPs").index(0);
            let why = "IPv6 is not configured on this cluster";
            return Err(refusal(&name, Error::invalid(&at, shown(second), why)));
        }
        named => {
            taking.address(named).map_err(|why| unfit(&name, named, why))?;
            wanted
        }
    };
    if spec.get("clusterIPs").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        spec["clusterIPs"] = json!([address]);
    }
    spec["clusterIP"] = address.into();
    Ok(())
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
