//! A record of a DNS zone: `contracts/resource-manager/webhooks/extension-validation/dnsrecord.yaml`.

use std::net::IpAddr;

use serde_json::Value;
use webhook::field::{Error, Path};

use super::comparison::{integer, items, member, text};
use super::required::{check, check_that};
use super::shape::{OPTIONAL_TEXT, PROVIDER_CONFIG, SECRET_REF, Shape, TEXTS, TYPE, field};
use super::{EXTENSIONS, ExtensionKind, Frozen, address, domain};

pub(super) const KIND: ExtensionKind = ExtensionKind {
    name: "DNSRecord",
    group: EXTENSIONS,
    resource: "dnsrecords",
    namespaced: true,
    spec: &[
        TYPE,
        PROVIDER_CONFIG,
        SECRET_REF,
        field("region", "Region", OPTIONAL_TEXT),
        field("zone", "Zone", OPTIONAL_TEXT),
        field("name", "Name", Shape::Text),
        field("recordType", "RecordType", Shape::Text),
        field("values", "Values", TEXTS),
        field("ttl", "TTL", Shape::Pointer("int64", &Shape::Integer64)),
    ],
    immutable: &[&["type"], &["name"], &["recordType"]],
    frozen: Frozen::Forbidden,
    rules,
};

const RECORD_TYPES: [&str; 4] = ["A", "AAAA", "CNAME", "TXT"];

/// GRM-EXV-100 to -121.
fn rules(object: &Value, errors: &mut Vec<Error>) {
    let spec = member(Some(object), "spec");
    let at = Path::new("spec");
    check(spec, &["type"], &at, errors);
    check(spec, &["secretRef", "name"], &at, errors);
    for name in ["region", "zone"] {
        let value = member(spec, name);
        if value.is_some() && text(value).is_empty() {
            errors.push(Error::invalid(&at.child(name), "", "field cannot be empty if specified"));
        }
    }
    let name = text(member(spec, "name"));
    domain::check(name.strip_prefix("*.").unwrap_or(name), &at.child("name"), errors);
    let record_type = text(member(spec, "recordType"));
    if !RECORD_TYPES.contains(&record_type) {
        errors.push(Error::not_supported(&at.child("recordType"), record_type, &RECORD_TYPES));
    }
    values(record_type, items(member(spec, "values")), &at, errors);
    let ttl = integer(member(spec, "ttl"));
    if ttl < 0 {
        errors.push(Error::invalid(&at.child("ttl"), ttl, "must be greater than or equal to 0"));
    }
}

/// GRM-EXV-111 to -116.
fn values(record_type: &str, values: &[Value], at: &Path, errors: &mut Vec<Error>) {
    check_that(!values.is_empty(), &["values"], at, errors);
    let at = at.child("values");
    let values: Vec<String> = values.iter().map(|value| text(Some(value)).to_owned()).collect();
    if record_type == "CNAME" && values.len() > 1 {
        errors.push(Error::invalid(&at, values.as_slice(), "CNAME records must have a single value"));
    }
    for (index, value) in values.iter().enumerate() {
        let at = at.index(index);
        let address = address::parse_sloppy(value);
        match record_type {
            "A" if !address.is_some_and(|address: IpAddr| address.is_ipv4()) => {
                errors.push(Error::invalid(&at, value, "must be a valid IPv4 address"));
            }
            "AAAA" if !address.is_some_and(|address: IpAddr| address.is_ipv6()) => {
                errors.push(Error::invalid(&at, value, "must be a valid IPv6 address"));
            }
            "CNAME" => domain::check(value, &at, errors),
            _ => {}
        }
    }
}
