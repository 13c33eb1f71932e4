//! Services: ports, addresses, what each type may say.

use formats::name;
use serde_json::Value;
use webhook::field::{Error, ErrorKind, Shown};

use super::super::check::{Check, Found};
use super::{Named, when};

pub(super) const CHECKS: &[(&str, Named)] = &[
    ("family-policy", family_policy),
    ("given-addresses", given_addresses),
    ("service", service),
    ("service-change", service_change),
    ("health-change", health_change),
];

fn service(service: &Found<'_>) -> Vec<Error> {
    let spec = service.field("spec");
    let kind = spec.field("type");
    let mut errors = addresses(&spec);
    errors.extend(ports(&spec));
    errors.extend(match kind.text() {
        "ExternalName" => external_name(&spec),
        _ => Vec::new(),
    });
    let policy = spec.field("externalTrafficPolicy");
    match kind.text() {
        "NodePort" | "LoadBalancer" => {
            errors.extend(Check::OneOf(vec!["Cluster".to_owned(), "Local".to_owned()]).errors(&policy));
        }
        _ => errors.extend(when(policy.value.is_some(), || {
            policy.invalid("may only be set for externally-accessible services")
        })),
    }
    errors.extend(health(&spec));
    let ranges = spec.field("loadBalancerSourceRanges");
    let shown = Found { path: "spec.LoadBalancerSourceRanges".to_owned(), ..ranges };
    if !shown.is_empty() {
        errors.extend(when(kind.text() != "LoadBalancer", || {
            shown.forbidden("may only be used when `type` is 'LoadBalancer'")
        }));
        errors.extend(shown.elements().iter().flat_map(|range| Check::Range.errors(range)));
    }
    errors
}

fn family_policy(policy: &Found<'_>) -> Vec<Error> {
    let known = ["PreferDualStack", "RequireDualStack", "SingleStack"].map(str::to_owned).to_vec();
    if policy.is_empty() { Vec::new() } else { Check::OneOf(known).errors(policy) }
}

/// An address that a service names is one.
fn given_addresses(spec: &Found<'_>) -> Vec<Error> {
    let first = Found { path: "spec.clusterIPs[0]".to_owned(), ..spec.field("clusterIP") };
    if matches!(first.text(), "" | "None") { Vec::new() } else { Check::Address.errors(&first) }
}

/// Addresses that a type does not have; those that are named are known to be some.
fn addresses(spec: &Found<'_>) -> Vec<Error> {
    let kind = spec.field("type");
    let list = spec.field("clusterIPs");
    let single = spec.field("clusterIP");
    let first = Found { path: format!("{}[0]", list.path), ..single.clone() };
    match (kind.text(), first.text()) {
        (_, "") => Vec::new(),
        ("ExternalName", _) => vec![list.forbidden("may not be set for ExternalName services")],
        ("NodePort" | "LoadBalancer", "None") => {
            vec![first.invalid(&format!("may not be set to 'None' for {} services", kind.text()))]
        }
        _ => Vec::new(),
    }
}

fn external_name(spec: &Found<'_>) -> Vec<Error> {
    let name = spec.field("externalName");
    if name.is_empty() {
        return vec![name.required("")];
    }
    let text = name.text().trim_end_matches('.');
    name::dns1123_subdomain(text).iter().map(|why| name.invalid(why)).collect()
}

fn ports(spec: &Found<'_>) -> Vec<Error> {
    let (all, kind) = (spec.field("ports"), spec.field("type"));
    let headless = spec.field("clusterIP").text() == "None";
    if all.is_empty() && !headless && kind.text() != "ExternalName" {
        return vec![all.required("")];
    }
    let ports = all.elements();
    let mut errors = Vec::new();
    for (index, port) in ports.iter().enumerate() {
        let before = &ports[..index];
        errors.extend(port_errors(port, before, ports.len() > 1));
    }
    for port in &ports {
        let node_port = port.field("nodePort");
        let allowed = matches!(kind.text(), "NodePort" | "LoadBalancer");
        errors.extend(when(!allowed && node_port.number() != 0, || {
            node_port.forbidden(&format!("may not be used when `type` is '{}'", kind.text()))
        }));
    }
    let repeated = |index: usize, field: &str| {
        let pair = |port: &Found<'_>| (port.field("protocol").text().to_owned(), port.field(field).number());
        ports[..index].iter().any(|earlier| pair(earlier) == pair(&ports[index]))
    };
    for (index, port) in ports.iter().enumerate() {
        let number = port.field("nodePort");
        errors.extend(when(number.number() != 0 && repeated(index, "nodePort"), || number.duplicate()));
    }
    for (index, port) in ports.iter().enumerate() {
        errors.extend(when(repeated(index, "port"), || {
            port.error(ErrorKind::Duplicate, Some(go_port(port)), "")
        }));
    }
    errors
}

fn port_errors(port: &Found<'_>, before: &[Found<'_>], named: bool) -> Vec<Error> {
    let [name, number, protocol, target] =
        ["name", "port", "protocol", "targetPort"].map(|field| port.field(field));
    let mut errors = Vec::new();
    if name.is_empty() {
        errors.extend(when(named, || name.required("")));
    } else {
        let wrong = name::dns1123_label(name.text());
        let repeated = before.iter().any(|earlier| earlier.field("name").value == name.value);
        errors.extend(wrong.iter().map(|why| name.invalid(why)));
        errors.extend(when(wrong.is_empty() && repeated, || name.duplicate()));
    }
    let number = Found { value: Some(number.value.unwrap_or(&Value::Null)), ..number };
    errors.extend(when(!(1..=65_535).contains(&number.number()), || {
        number.invalid_as(number.number(), "must be between 1 and 65535, inclusive")
    }));
    errors.extend(Check::OneOf(["SCTP", "TCP", "UDP"].map(str::to_owned).to_vec()).errors(&protocol));
    // It is the port where it is not said.
    let nothing = Value::from(0);
    let target = Found { value: Some(target.value.unwrap_or(&nothing)), ..target };
    errors.extend(Check::Port.errors(&target));
    errors
}

/// Two ports that are one, as Go's types print them.
fn go_port(port: &Found<'_>) -> Shown {
    let protocol = port.field("protocol").text();
    let number = port.field("port").number();
    Shown::verbatim(format!(
        "{{\"Name\":\"\",\"Protocol\":\"{protocol}\",\"AppProtocol\":null,\"Port\":{number},\"TargetPort\":0,\
         \"NodePort\":0}}"
    ))
}

/// Whether who asks for a service is asked for its health, now and before.
fn probed(spec: &Found<'_>) -> (bool, bool) {
    let [kind, policy] = ["type", "externalTrafficPolicy"].map(|field| spec.field(field));
    let before = kind.old.is_some_and(|kind| kind == "LoadBalancer")
        && policy.old.is_some_and(|policy| policy == "Local");
    (kind.text() == "LoadBalancer" && policy.text() == "Local", before)
}

/// Only a service that is asked for its health has a port for it.
fn health(spec: &Found<'_>) -> Vec<Error> {
    let port = spec.field("healthCheckNodePort");
    match (probed(spec).0, port.number()) {
        (false, 0) | (true, 1..=65_535) => Vec::new(),
        (true, _) => vec![port.invalid("must be between 1 and 65535, inclusive")],
        (false, _) => {
            let why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
            vec![port.invalid(why)]
        }
    }
}

/// The port where a service is asked for its health stays as long as it is asked.
fn health_change(service: &Found<'_>) -> Vec<Error> {
    let spec = service.field("spec");
    let port = spec.field("healthCheckNodePort");
    when(probed(&spec) == (true, true) && port.value != port.old, || port.forbidden("field is immutable"))
}

/// An address stays while the service has one.
fn service_change(service: &Found<'_>) -> Vec<Error> {
    let spec = service.field("spec");
    let kind = spec.field("type");
    let address = spec.field("clusterIP");
    let had = address.old.and_then(Value::as_str).unwrap_or_default();
    if kind.text() == "ExternalName"
        || kind.old.is_some_and(|kind| kind == "ExternalName")
        || had.is_empty()
        || !addresses(&spec).is_empty()
    {
        return Vec::new();
    }
    let at = Found { path: "spec.clusterIPs[0]".to_owned(), ..address.clone() };
    when(address.text() != had, || {
        let shown = Shown::verbatim(Value::from(vec![address.text()]));
        at.invalid_as(shown, "may not change once set")
    })
}
