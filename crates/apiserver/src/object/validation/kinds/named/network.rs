//! Endpoints, slices, network policies, ingresses.

use std::net::IpAddr;

use formats::name;
use webhook::field::{Error, Shown};

use super::super::check::{Check, FieldValue, NamedCheck, when};

pub(super) const CHECKS: &[(&str, NamedCheck)] = &[
    ("subset", subset),
    ("endpoint", endpoint),
    ("slice-port-name", slice_port_name),
    ("end-port", end_port),
    ("peer", peer),
    ("ingress", ingress),
    ("ingress-host", ingress_host),
    ("ingress-path", ingress_path),
    ("backend", backend),
];

fn subset(field: &FieldValue<'_>) -> Vec<Error> {
    let nothing = field.field("addresses").is_empty() && field.field("notReadyAddresses").is_empty();
    when(nothing, || field.required("must specify `addresses` or `notReadyAddresses`"))
}

fn endpoint(field: &FieldValue<'_>) -> Vec<Error> {
    let addresses = field.field("addresses");
    if addresses.is_empty() {
        return vec![addresses.required("must contain at least 1 address")];
    }
    let all = addresses.elements();
    all.iter()
        .filter(|address| {
            !address.text().contains(|c: char| c.is_ascii_alphabetic() && !c.is_ascii_hexdigit())
                || address.text().parse::<IpAddr>().is_err() && !address.text().contains('.')
        })
        .flat_map(|address| Check::Address.errors(address))
        .collect()
}

fn slice_port_name(field: &FieldValue<'_>) -> Vec<Error> {
    if field.is_empty() {
        return Vec::new();
    }
    name::dns1123_label(field.text()).iter().map(|why| field.invalid(why)).collect()
}

/// The last port of a range that begins at `port`.
fn end_port(field: &FieldValue<'_>) -> Vec<Error> {
    let (port, end) = (field.field("port"), field.field("endPort"));
    let Some(last) = end.value.and_then(serde_json::Value::as_i64) else { return Vec::new() };
    match port.value {
        None => vec![end.invalid("may not be specified when `port` is not specified")],
        Some(first) => match first.as_i64() {
            None => vec![end.invalid("may not be specified when `port` is non-numeric")],
            Some(first) => {
                let why = "must be greater than or equal to `port`";
                let mut errors = when(last < first, || end.invalid_as(first, why));
                errors.extend(Check::Port.errors(&end));
                errors
            }
        },
    }
}

fn peer(field: &FieldValue<'_>) -> Vec<Error> {
    let [block, pods, namespaces] =
        ["ipBlock", "podSelector", "namespaceSelector"].map(|name| field.field(name));
    let selected = pods.value.is_some() || namespaces.value.is_some();
    if block.value.is_none() {
        return when(!selected, || field.required("must specify a peer"));
    }
    let range = block.field("cidr");
    let mut errors = if range.is_empty() { vec![range.required("")] } else { Check::Range.errors(&range) };
    if errors.is_empty() {
        errors.extend(block.field("except").elements().iter().flat_map(|range| exception(&block, range)));
    }
    errors.extend(when(selected, || field.forbidden("may not specify both ipBlock and another peer")));
    errors
}

/// An exception must be a strict subset of its block.
fn exception(block: &FieldValue<'_>, range: &FieldValue<'_>) -> Vec<Error> {
    let wrong = Check::Range.errors(range);
    let parts = |text: &str| -> Option<(IpAddr, u8)> {
        let (address, length) = text.split_once('/')?;
        Some((address.parse().ok()?, length.parse().ok()?))
    };
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, true),
        IpAddr::V6(address) => (u128::from(address), false),
    };
    let within = || {
        let (around, length) = parts(block.field("cidr").text())?;
        let (inner, inner_length) = parts(range.text())?;
        let ((around, family), (inner, inner_family)) = (bits(around), bits(inner));
        let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
        Some(family == inner_family && inner_length > length && around & mask == inner & mask)
    };
    if wrong.is_empty() && within() == Some(false) {
        return vec![range.invalid("must be a strict subset of `cidr`")];
    }
    wrong
}

fn ingress(spec: &FieldValue<'_>) -> Vec<Error> {
    let nothing = spec.field("rules").is_empty() && spec.field("defaultBackend").value.is_none();
    when(nothing, || {
        spec.invalid_as(Shown::verbatim("null"), "either `defaultBackend` or `rules` must be specified")
    })
}

fn ingress_host(host: &FieldValue<'_>) -> Vec<Error> {
    if host.is_empty() {
        return Vec::new();
    }
    if host.text().parse::<IpAddr>().is_ok() {
        return vec![host.invalid("must be a DNS name, not an IP address")];
    }
    let name = host.text().strip_prefix("*.").unwrap_or(host.text());
    name::dns1123_subdomain(name).iter().map(|why| host.invalid(why)).collect()
}

fn ingress_path(field: &FieldValue<'_>) -> Vec<Error> {
    let (kind, path) = (field.field("pathType"), field.field("path"));
    let rooted = matches!(kind.text(), "Exact" | "Prefix") || !path.is_empty();
    let absolute = path.text().starts_with('/');
    when(!kind.is_empty() && rooted && !absolute, || path.invalid("must be an absolute path"))
}

fn backend(field: &FieldValue<'_>) -> Vec<Error> {
    let (service, resource) = (field.field("service"), field.field("resource"));
    match (service.value, resource.value) {
        (None, None) => vec![field.required("")],
        (Some(_), Some(_)) => {
            vec![field.invalid_as(Shown::from(""), "cannot set both resource and service backends")]
        }
        (None, Some(_)) => Vec::new(),
        (Some(_), None) => {
            let (name, port) = (service.field("name"), service.field("port"));
            let mut errors = when(name.is_empty(), || name.required(""));
            if !name.is_empty() {
                errors.extend(name::dns1035_label(name.text()).iter().map(|why| name.invalid(why)));
            }
            let named = port.field("name").value.is_some();
            let numbered = port.field("number").value.is_some_and(|number| number.as_i64() != Some(0));
            errors.extend(match (named, numbered) {
                (true, true) => {
                    vec![port.invalid_as(Shown::from(""), "cannot set both port name & port number")]
                }
                (true, false) => Check::PortName.errors(&port.field("name")),
                (false, _) => {
                    let number = port.field("number");
                    when(!(1..=65_535).contains(&number.number()), || {
                        let why = "must be between 1 and 65535, inclusive";
                        number.invalid_as(number.number(), why)
                    })
                }
            });
            errors
        }
    }
}
