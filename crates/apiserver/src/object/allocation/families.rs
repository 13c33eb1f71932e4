//! Completes the IP families of Services, on a cluster that has IPv4 only.

use std::net::IpAddr;

use serde_json::{Value, json};
use webhook::field::{Error, Path, Shown};

use crate::call::Call;
use crate::object::validation;

/// Sets `ipFamilyPolicy` and `ipFamilies` of a Service; `old` is its previous state.
///
/// # Errors
/// The errors about its addresses and families.
pub(super) fn complete(call: &Call, object: &mut Value, old: Option<&Value>) -> Result<(), Vec<Error>> {
    let before = old.map(|old| &old["spec"]);
    if before.is_some_and(|before| keeps_preferring_dual_stack(&object["spec"], before)) {
        return Ok(());
    }
    default_policy(&mut object["spec"], before);
    check(validation::addresses(call, object, old))?;
    let spec = &mut object["spec"];
    let mut errors = before.map(|before| reduce(spec, before)).unwrap_or_default();
    errors.extend(too_many(spec));
    errors.extend(infer(spec));
    check(errors)?;
    if is_headless(spec) && !has_selector(spec) {
        fill_headless(spec);
        return Ok(());
    }
    check(unsupported(spec))?;
    if list(spec, "ipFamilies").is_empty() {
        spec["ipFamilies"] = json!(["IPv4"]);
    }
    Ok(())
}

fn check(errors: Vec<Error>) -> Result<(), Vec<Error>> {
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// An unchanged Service with `PreferDualStack` stays as it is.
fn keeps_preferring_dual_stack(spec: &Value, before: &Value) -> bool {
    let prefers = |spec: &Value| policy(spec) == Some("PreferDualStack");
    spec["type"] == before["type"]
        && prefers(spec)
        && (prefers(before) || policy(before).is_none())
        && ["clusterIPs", "ipFamilies"].iter().all(|field| list(spec, field) == list(before, field))
}

fn default_policy(spec: &mut Value, before: Option<&Value>) {
    if policy(spec).is_some() {
        return;
    }
    let policy = match before.and_then(policy) {
        Some(policy) => policy,
        None if is_headless(spec) && !has_selector(spec) => "RequireDualStack",
        None => "SingleStack",
    };
    spec["ipFamilyPolicy"] = policy.into();
}

/// A change to `SingleStack` drops the second address and family; other policies must keep both.
fn reduce(spec: &mut Value, before: &Value) -> Vec<Error> {
    let fields = [("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")];
    if policy(spec) == Some("SingleStack") {
        for (field, _) in fields {
            if list(spec, field) == list(before, field)
                && let Some(list) = spec.get_mut(field).and_then(Value::as_array_mut)
            {
                list.truncate(1);
            }
        }
        return Vec::new();
    }
    let reduced = fields.into_iter().filter(|(field, _)| {
        !list(spec, field).is_empty() && list(spec, field).len() < list(before, field).len()
    });
    reduced
        .map(|(_, what)| {
            policy_error(spec, &format!("must be 'SingleStack' to release the secondary {what}"))
        })
        .collect()
}

/// The errors about two addresses or families with the policy `SingleStack`.
fn too_many(spec: &Value) -> Vec<Error> {
    if policy(spec) != Some("SingleStack") {
        return Vec::new();
    }
    let fields = [("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")];
    let both = fields.into_iter().filter(|(field, _)| list(spec, field).len() == 2);
    both.map(|(_, what)| {
        let why =
            format!("must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified");
        policy_error(spec, &why)
    })
    .collect()
}

/// Derives missing families from the addresses.
fn infer(spec: &mut Value) -> Vec<Error> {
    let mut errors = Vec::new();
    let addresses = list(spec, "clusterIPs").to_vec();
    let mut families = list(spec, "ipFamilies").to_vec();
    let is_address = |address: &&Value| *address != "None";
    for (index, address) in addresses.iter().take_while(is_address).enumerate().skip(families.len()) {
        let address = address.as_str().unwrap_or_default();
        if address.parse().is_ok_and(|address: IpAddr| address.is_ipv6()) {
            let at = Path::new("spec").child("clusterIPs").index(index);
            let value = Shown::verbatim(Value::from(addresses.clone()));
            errors.push(Error::invalid(&at, value, "IPv6 is not configured on this cluster"));
        } else {
            families.push("IPv4".into());
        }
    }
    if !families.is_empty() {
        spec["ipFamilies"] = families.into();
    }
    errors
}

/// A headless Service without a selector may have both families.
fn fill_headless(spec: &mut Value) {
    let mut families = list(spec, "ipFamilies").to_vec();
    if families.is_empty() {
        families.push("IPv4".into());
    }
    if families.len() < 2 && policy(spec) != Some("SingleStack") {
        let other = if families[0] == "IPv4" { "IPv6" } else { "IPv4" };
        families.push(other.into());
    }
    spec["ipFamilies"] = families.into();
}

/// The errors about families that the cluster does not have.
fn unsupported(spec: &Value) -> Vec<Error> {
    let mut errors = Vec::new();
    if policy(spec) == Some("RequireDualStack") {
        errors.push(policy_error(spec, "this cluster is not configured for dual-stack services"));
    }
    for (index, family) in list(spec, "ipFamilies").iter().enumerate().filter(|(_, family)| *family != "IPv4")
    {
        let at = Path::new("spec").child("ipFamilies").index(index);
        let family = family.as_str().unwrap_or_default();
        errors.push(Error::invalid(&at, family, "not configured on this cluster"));
    }
    errors
}

fn policy_error(spec: &Value, why: &str) -> Error {
    let at = Path::new("spec").child("ipFamilyPolicy");
    Error::invalid(&at, policy(spec).unwrap_or_default(), why)
}

fn policy(spec: &Value) -> Option<&str> {
    spec.get("ipFamilyPolicy").and_then(Value::as_str)
}

fn is_headless(spec: &Value) -> bool {
    spec["clusterIP"] == "None"
}

fn has_selector(spec: &Value) -> bool {
    spec.get("selector").and_then(Value::as_object).is_some_and(|labels| !labels.is_empty())
}

fn list<'a>(spec: &'a Value, field: &str) -> &'a [Value] {
    spec.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
