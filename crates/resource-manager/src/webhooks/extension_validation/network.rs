//! The network of a shoot: `contracts/resource-manager/webhooks/extension-validation/network.yaml`.

use std::collections::BTreeSet;

use serde_json::Value;
use webhook::field::{Error, Path, Shown, quote};

use super::address::Range;
use super::comparison::{items, member, text};
use super::required::check;
use super::shape::{PROVIDER_CONFIG, Shape, TYPE, field};
use super::{EXTENSIONS, ExtensionKind, Frozen};

pub(super) const KIND: ExtensionKind = ExtensionKind {
    name: "Network",
    group: EXTENSIONS,
    resource: "networks",
    namespaced: true,
    spec: &[
        TYPE,
        PROVIDER_CONFIG,
        field("podCIDR", "PodCIDR", Shape::Text),
        field("serviceCIDR", "ServiceCIDR", Shape::Text),
        field("ipFamilies", "IPFamilies", Shape::List("v1alpha1.IPFamily", &Shape::Text)),
    ],
    immutable: &[&["type"], &["podCIDR"], &["serviceCIDR"], &["ipFamilies"]],
    frozen: Frozen::Forbidden,
    rules,
};

const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];

/// GRM-EXV-160 to -175.
fn rules(object: &Value, errors: &mut Vec<Error>) {
    let spec = member(Some(object), "spec");
    let at = Path::new("spec");
    check(spec, &["type"], &at, errors);
    let known: Vec<&str> = items(member(spec, "ipFamilies")).iter().map(|item| text(Some(item))).collect();
    let before = errors.len();
    families(&known, &at.child("ipFamilies"), errors);
    if errors.len() == before {
        ranges(spec, known.first().copied().unwrap_or(FAMILIES[0]), &at, errors);
    }
}

/// GRM-EXV-165 to -167.
fn families(families: &[&str], at: &Path, errors: &mut Vec<Error>) {
    let before = errors.len();
    let mut seen = BTreeSet::new();
    for (index, family) in families.iter().enumerate() {
        if !FAMILIES.contains(family) {
            errors.push(Error::not_supported(&at.index(index), *family, &FAMILIES));
        }
        if !seen.insert(*family) {
            errors.push(Error::duplicate(&at.index(index), *family));
        }
    }
    if errors.len() == before && families.len() > 1 {
        let quoted: Vec<String> = families.iter().map(|family| quote(family)).collect();
        let shown = Shown::verbatim(format!("[]v1alpha1.IPFamily{{{}}}", quoted.join(", ")));
        errors.push(Error::invalid(at, shown, "dual-stack networking is not supported"));
    }
}

/// GRM-EXV-169 to -173.
fn ranges(spec: Option<&Value>, family: &str, at: &Path, errors: &mut Vec<Error>) {
    let mut given = Vec::new();
    for name in ["podCIDR", "serviceCIDR"] {
        check(spec, &[name], at, errors);
        let range = text(member(spec, name));
        if !range.is_empty() {
            given.push((at.child(name), range, Range::parse(range)));
        }
    }
    for (at, text, range) in &given {
        if range.is_none() {
            errors.push(Error::invalid(at, *text, &format!("invalid CIDR address: {text}")));
        }
    }
    for (at, _, range) in &given {
        if let Some(range) = range.filter(|range| range.first.is_ipv4() != (family == FAMILIES[0])) {
            let detail = format!("must be a valid {family} address");
            errors.push(Error::invalid(at, &range.first.to_string(), &detail));
        }
    }
    if let [(pods_at, pods_text, Some(pods)), (at, text, Some(services))] = given.as_slice()
        && pods.overlaps(services)
    {
        let detail = format!("must not overlap with {} ({})", quote(&pods_at.to_string()), quote(pods_text));
        errors.push(Error::invalid(at, *text, &detail));
    }
}
