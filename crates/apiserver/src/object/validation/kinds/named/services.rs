//! Services: ports, addresses, and fields that depend on the type.

use std::net::IpAddr;

use formats::name;
use serde_json::Value;
use webhook::field::{Error, ErrorKind, Shown};

use super::super::check::{Check, FieldValue, NamedCheck, when};
use super::addresses;

pub(super) const CHECKS: &[(&str, NamedCheck)] =
    &[("service", service), ("balancer-change", balancer_change), ("health-change", health_change)];

fn service(service: &FieldValue<'_>) -> Vec<Error> {
    let spec = service.field("spec");
    let kind = spec.field("type");
    let mut errors = hints(service);
    errors.extend(type_fields(&spec));
    errors.extend(port_list(&spec));
    errors.extend(Check::Labels.errors(&spec.field("selector")));
    errors.extend(affinity(&spec));
    errors.extend(addresses::check_requested(&spec));
    errors.extend(external_addresses(&spec.field("externalIPs")));
    errors.extend(one_of(&kind, &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]));
    errors.extend(port_numbers(&spec));
    errors.extend(ranges(service));
    errors.extend(load_balancer_fields(&spec));
    errors.extend(external_traffic(&spec));
    errors.extend(health(&spec));
    errors.extend(one_of(&spec.field("internalTrafficPolicy"), &["Cluster", "Local"]));
    let distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    let distribution = spec.field("trafficDistribution");
    let is_known = distribution.value.is_none() || distributions.contains(&distribution.text());
    errors.extend(when(!is_known, || distribution.unsupported_text(&distributions)));
    errors
}

fn one_of(field: &FieldValue<'_>, known: &[&str]) -> Vec<Error> {
    Check::OneOf(known.iter().map(|&word| word.to_owned()).collect()).errors(field)
}

/// The deprecated annotation must match its replacement.
fn hints(service: &FieldValue<'_>) -> Vec<Error> {
    let (old, new) = ("service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode");
    let annotations = service.field("metadata").field("annotations");
    let [hints, mode] = [old, new].map(|key| annotations.entry(key));
    when(mode.value.is_some() && hints.value.is_some() && mode.value != hints.value, || {
        mode.invalid(&format!("must match annotations[{old}] when both are specified"))
    })
}

/// The errors of fields that a type requires or forbids.
fn type_fields(spec: &FieldValue<'_>) -> Vec<Error> {
    let (ports, headless) = (spec.field("ports"), addresses::is_headless(spec));
    let kind = spec.field("type").text();
    let mut errors = when(ports.is_empty() && !headless && kind != "ExternalName", || ports.required(""));
    let first = spec.field("clusterIPs").element(0);
    errors.extend(match kind {
        "NodePort" | "LoadBalancer" => {
            when(headless, || first.invalid(&format!("may not be set to 'None' for {kind} services")))
        }
        "ExternalName" => {
            let mut errors = addresses::forbid_all(spec);
            errors.extend(external_name(spec));
            errors
        }
        _ => Vec::new(),
    });
    errors
}

fn affinity(spec: &FieldValue<'_>) -> Vec<Error> {
    let affinity = spec.field("sessionAffinity");
    let mut errors = one_of(&affinity, &["ClientIP", "None"]);
    let timeout = spec.field("sessionAffinityConfig").field("clientIP").field("timeoutSeconds");
    let outside = affinity.text() == "ClientIP" && !(1..=86_400).contains(&timeout.number());
    errors.extend(when(outside, || timeout.invalid("must be greater than 0 and less than 86400")));
    errors
}

fn external_addresses(list: &FieldValue<'_>) -> Vec<Error> {
    let before = list.old.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let errors = |field: &FieldValue<'_>| {
        let wrong = addresses::address(field, before);
        if wrong.is_empty() { special(field) } else { wrong }
    };
    list.elements().iter().flat_map(errors).collect()
}

/// The errors of addresses that cannot belong to an endpoint.
fn special(field: &FieldValue<'_>) -> Vec<Error> {
    let Ok(address) = field.text().parse::<IpAddr>() else { return Vec::new() };
    let (link_local, multicast) = match address {
        IpAddr::V4(address) => (address.is_link_local(), address.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(address) => (address.is_unicast_link_local(), address.segments()[0] & 0xff0f == 0xff02),
    };
    let kinds = [
        (address.is_unspecified(), format!("may not be unspecified ({address})")),
        (address.is_loopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)".to_owned()),
        (link_local, "may not be in the link-local range (169.254.0.0/16, fe80::/10)".to_owned()),
        (multicast, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)".to_owned()),
    ];
    kinds.into_iter().filter(|(applies, _)| *applies).map(|(_, why)| field.invalid(&why)).collect()
}

/// The errors of the source ranges of a load balancer, in the field or else in the annotation.
fn ranges(service: &FieldValue<'_>) -> Vec<Error> {
    let spec = service.field("spec");
    let is_load_balancer = spec.field("type").text() == "LoadBalancer";
    let only_load_balancer = |field: &FieldValue<'_>| {
        when(!is_load_balancer, || field.forbidden("may only be used when `type` is 'LoadBalancer'"))
    };
    let field = spec.field("loadBalancerSourceRanges");
    let annotations = service.field("metadata").field("annotations");
    let annotation = annotations.entry("service.beta.kubernetes.io/load-balancer-source-ranges");
    if !field.is_empty() {
        let shown = FieldValue { path: "spec.LoadBalancerSourceRanges".to_owned(), ..field };
        let before = shown.old.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut errors = only_load_balancer(&shown);
        errors.extend(shown.elements().iter().flat_map(|range| source(range, range.text(), before)));
        return errors;
    }
    if annotation.value.is_none() {
        return Vec::new();
    }
    let mut errors = only_load_balancer(&annotation);
    if annotation.value != annotation.old && !annotation.text().trim().is_empty() {
        errors.extend(annotation.text().split(',').flat_map(|range| source(&annotation, range, &[])));
    }
    errors
}

/// The errors of one range, which may be padded with spaces; an unchanged one is not checked.
fn source(field: &FieldValue<'_>, range: &str, before: &[Value]) -> Vec<Error> {
    let range = range.trim();
    if before.iter().filter_map(Value::as_str).any(|before| before.trim() == range) {
        return Vec::new();
    }
    let value = Value::from(range);
    Check::Range.errors(&FieldValue { value: Some(&value), ..field.clone() })
}

/// The errors of fields that only a load balancer may have.
fn load_balancer_fields(spec: &FieldValue<'_>) -> Vec<Error> {
    let is_load_balancer = spec.field("type").text() == "LoadBalancer";
    let fields = ["allocateLoadBalancerNodePorts", "loadBalancerClass"].map(|field| spec.field(field));
    let only_load_balancer = |field: &FieldValue<'_>| {
        when(!is_load_balancer && field.value.is_some(), || {
            field.forbidden("may only be used when `type` is 'LoadBalancer'")
        })
    };
    let mut errors: Vec<Error> = fields.iter().flat_map(only_load_balancer).collect();
    if is_load_balancer {
        errors.extend(Check::Name(name::label_key).errors(&fields[1]));
    }
    errors
}

/// The load balancer class must not change.
fn balancer_change(service: &FieldValue<'_>) -> Vec<Error> {
    let spec = service.field("spec");
    let (kind, class) = (spec.field("type"), spec.field("loadBalancerClass"));
    let both = kind.text() == "LoadBalancer" && kind.old.is_some_and(|kind| kind == "LoadBalancer");
    let shown = if class.value.is_none() { Shown::verbatim("null") } else { class.formatted() };
    let mut errors =
        when(both && class.value != class.old, || class.invalid_as(shown, "may not change once set"));
    // kube-apiserver validates the class for the change, and again for the Service.
    errors.extend(
        load_balancer_fields(&spec).into_iter().filter(|error| error.field.ends_with("loadBalancerClass")),
    );
    errors
}

fn external_traffic(spec: &FieldValue<'_>) -> Vec<Error> {
    let policy = spec.field("externalTrafficPolicy");
    let listed = !spec.field("externalIPs").is_empty();
    match spec.field("type").text() {
        "NodePort" | "LoadBalancer" => one_of(&policy, &["Cluster", "Local"]),
        "ClusterIP" if listed => one_of(&policy, &["Cluster", "Local"]),
        _ => {
            when(!policy.is_empty(), || policy.invalid("may only be set for externally-accessible services"))
        }
    }
}

fn external_name(spec: &FieldValue<'_>) -> Vec<Error> {
    let name = spec.field("externalName");
    if name.is_empty() {
        return vec![name.required("")];
    }
    let text = name.text().trim_end_matches('.');
    name::dns1123_subdomain(text).iter().map(|why| name.invalid(why)).collect()
}

fn port_list(spec: &FieldValue<'_>) -> Vec<Error> {
    let ports = spec.field("ports").elements();
    let errors = |(index, port)| port_errors(port, &ports[..index], ports.len() > 1);
    ports.iter().enumerate().flat_map(errors).collect()
}

/// The errors of node ports that the type forbids, and of duplicate ports.
fn port_numbers(spec: &FieldValue<'_>) -> Vec<Error> {
    let ports = spec.field("ports").elements();
    let mut errors = Vec::new();
    if spec.field("type").text() == "ClusterIP" {
        let numbers = ports.iter().map(|port| port.field("nodePort"));
        errors.extend(
            numbers
                .filter(|number| number.number() != 0)
                .map(|number| number.forbidden("may not be used when `type` is 'ClusterIP'")),
        );
    }
    let repeated = |index: usize, field: &str| {
        let pair =
            |port: &FieldValue<'_>| (port.field("protocol").text().to_owned(), port.field(field).number());
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

fn port_errors(port: &FieldValue<'_>, before: &[FieldValue<'_>], named: bool) -> Vec<Error> {
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
    let number = FieldValue { value: Some(number.value.unwrap_or(&Value::Null)), ..number };
    errors.extend(when(!(1..=65_535).contains(&number.number()), || {
        number.invalid_as(number.number(), "must be between 1 and 65535, inclusive")
    }));
    errors.extend(one_of(&protocol, &["SCTP", "TCP", "UDP"]));
    // The target port defaults to the port.
    let nothing = Value::from(0);
    let target = FieldValue { value: Some(target.value.unwrap_or(&nothing)), ..target };
    errors.extend(Check::Port.errors(&target));
    errors.extend(Check::Name(name::label_key).errors(&port.field("appProtocol")));
    errors
}

/// A duplicate port as Go prints it.
fn go_port(port: &FieldValue<'_>) -> Shown {
    let protocol = port.field("protocol").text();
    let number = port.field("port").number();
    Shown::verbatim(format!(
        "{{\"Name\":\"\",\"Protocol\":\"{protocol}\",\"AppProtocol\":null,\"Port\":{number},\"TargetPort\":0,\
         \"NodePort\":0}}"
    ))
}

/// Whether the Service has a health check port, now and before.
fn has_health_check_port(spec: &FieldValue<'_>) -> (bool, bool) {
    let [kind, policy] = ["type", "externalTrafficPolicy"].map(|field| spec.field(field));
    let before = kind.old.is_some_and(|kind| kind == "LoadBalancer")
        && policy.old.is_some_and(|policy| policy == "Local");
    (kind.text() == "LoadBalancer" && policy.text() == "Local", before)
}

/// Only a Service with health checks may have a port for them.
fn health(spec: &FieldValue<'_>) -> Vec<Error> {
    let port = spec.field("healthCheckNodePort");
    match (has_health_check_port(spec).0, port.number()) {
        (false, 0) | (true, 1..=65_535) => Vec::new(),
        (true, _) => vec![port.invalid("must be between 1 and 65535, inclusive")],
        (false, _) => {
            let why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
            vec![port.invalid(why)]
        }
    }
}

/// The health check port must not change while the Service has one.
fn health_change(service: &FieldValue<'_>) -> Vec<Error> {
    let spec = service.field("spec");
    let port = spec.field("healthCheckNodePort");
    when(has_health_check_port(&spec) == (true, true) && port.value != port.old, || {
        port.forbidden("field is immutable")
    })
}
