//! Addresses and IP families of Services.

use std::net::IpAddr;

use serde_json::Value;
use webhook::field::{Error, Shown};

use super::super::check::{Check, FieldValue, NamedCheck, when};

pub(super) const CHECKS: &[(&str, NamedCheck)] =
    &[("requested-addresses", check_requested), ("address-change", change)];

/// The errors of the addresses that a Service requests.
pub(super) fn check_requested(spec: &FieldValue<'_>) -> Vec<Error> {
    if spec.field("type").text() == "ExternalName" {
        return Vec::new();
    }
    let list = spec.field("clusterIPs");
    let mut errors = check_first(&spec.field("clusterIP"), &list);
    errors.extend(families(&spec.field("ipFamilies")));
    let policies = ["PreferDualStack", "RequireDualStack", "SingleStack"].map(str::to_owned).to_vec();
    errors.extend(Check::OneOf(policies).errors(&spec.field("ipFamilyPolicy")));
    let invalid = check_each(&list);
    let readable = invalid.is_empty();
    errors.extend(invalid);
    errors.extend(when(list.list().len() > 2, || list.invalid("may only hold up to 2 values")));
    if readable {
        errors.extend(when(list.list().len() > 1 && !has_both_families(&list), || {
            list.invalid("may specify no more than one IP for each IP family")
        }));
        errors.extend(check_families(&list, &spec.field("ipFamilies")));
    }
    errors
}

/// The errors of address fields in a Service without addresses.
pub(super) fn forbid_all(spec: &FieldValue<'_>) -> Vec<Error> {
    let why = "may not be set for ExternalName services";
    let lists = ["clusterIPs", "ipFamilies"].map(|field| spec.field(field));
    let mut errors: Vec<Error> =
        lists.iter().flat_map(|list| when(!list.is_empty(), || list.forbidden(why))).collect();
    let policy = spec.field("ipFamilyPolicy");
    errors.extend(when(policy.value.is_some(), || policy.forbidden(why)));
    errors
}

/// Whether the Service is headless.
pub(super) fn is_headless(spec: &FieldValue<'_>) -> bool {
    is_headless_list(spec.field("clusterIPs").list())
}

/// The error of an invalid address, unless it is unchanged.
pub(super) fn address(field: &FieldValue<'_>, before: &[Value]) -> Vec<Error> {
    let is_unchanged = field.value.is_some_and(|value| before.contains(value));
    if is_unchanged { Vec::new() } else { Check::Address.errors(field) }
}

/// `clusterIP` must be the first of `clusterIPs`.
fn check_first(single: &FieldValue<'_>, list: &FieldValue<'_>) -> Vec<Error> {
    match (single.text(), list.list()) {
        ("", []) => Vec::new(),
        ("", _) => vec![list.invalid("must be empty when `clusterIP` is not specified")],
        (_, []) => vec![list.required("")],
        (single, [first, ..]) => when(first != single, || list.invalid("first value must match `clusterIP`")),
    }
}

fn families(list: &FieldValue<'_>) -> Vec<Error> {
    let known = Check::OneOf(["IPv4", "IPv6"].map(str::to_owned).to_vec());
    let elements = list.elements();
    let errors = |(index, family): (usize, &FieldValue<'_>)| {
        let mut errors = known.errors(family);
        let repeated = elements[..index].iter().any(|earlier| earlier.value == family.value);
        errors.extend(when(repeated, || family.duplicate()));
        errors
    };
    elements.iter().enumerate().flat_map(errors).collect()
}

/// Each address must be valid; `None` must be alone.
fn check_each(list: &FieldValue<'_>) -> Vec<Error> {
    let before = old_list(list);
    let elements = list.elements();
    let errors = |(index, field): (usize, &FieldValue<'_>)| match (index, field.text()) {
        (0, "None") => when(elements.len() > 1, || list.invalid("'None' must be the first and only value")),
        _ => address(field, before),
    };
    elements.iter().enumerate().flat_map(errors).collect()
}

fn has_both_families(list: &FieldValue<'_>) -> bool {
    let ipv6 = |address: &FieldValue<'_>| is_ipv6(address.text());
    let addresses = list.elements();
    addresses.iter().any(ipv6) && !addresses.iter().all(ipv6)
}

/// Each address must have the family at its position.
fn check_families(list: &FieldValue<'_>, families: &FieldValue<'_>) -> Vec<Error> {
    if is_headless_list(list.list()) {
        return Vec::new();
    }
    let pairs = list.elements().into_iter().zip(families.elements());
    let errors = |(index, (address, family)): (usize, (FieldValue<'_>, FieldValue<'_>))| {
        let fits = match family.text() {
            "IPv4" => !is_ipv6(address.text()),
            "IPv6" => is_ipv6(address.text()),
            _ => true,
        };
        let why = format!("expected an {} value as indicated by `ipFamilies[{index}]`", family.text());
        when(!fits, || address.invalid(&why))
    };
    pairs.enumerate().flat_map(errors).collect()
}

/// Addresses and families must not change while a Service has any; only a second one may come and go.
fn change(service: &FieldValue<'_>) -> Vec<Error> {
    let spec = service.field("spec");
    let kind = spec.field("type");
    if kind.text() == "ExternalName" || kind.old.is_some_and(|kind| kind == "ExternalName") {
        return Vec::new();
    }
    let [list, families] = ["clusterIPs", "ipFamilies"].map(|field| spec.field(field));
    match (is_headless_list(old_list(&list)), is_headless_list(list.list())) {
        (true, true) => Vec::new(),
        (false, false) => {
            let mut errors = address_change(&spec, &list);
            errors.extend(family_change(&spec, &families, &list));
            errors
        }
        _ => address_change(&spec, &list),
    }
}

fn address_change(spec: &FieldValue<'_>, list: &FieldValue<'_>) -> Vec<Error> {
    let (before, now) = (old_list(list), list.list());
    let at = |index: usize, why: &str| list.element(index).invalid_as(format_or_null(list), why);
    let first_changed = || {
        let changed = before.first().is_some_and(|first| now.first().is_some_and(|now| now != first));
        when(changed, || at(0, "may not change once set"))
    };
    if before.len() == now.len() {
        let changed = |index: &usize| before[*index] != now[*index];
        return (0..now.len()).filter(changed).map(|index| at(index, "may not change once set")).collect();
    }
    let mut errors = when(now.is_empty(), || at(0, "primary clusterIP can not be unset"));
    errors.extend(first_changed());
    if before.len() > now.len() && now.len() == 1 {
        errors.extend(check_release(spec, "secondary clusterIP"));
    }
    errors
}

fn family_change(spec: &FieldValue<'_>, families: &FieldValue<'_>, addresses: &FieldValue<'_>) -> Vec<Error> {
    let (before, now) = (old_list(families), families.list());
    let at = |shown: &FieldValue<'_>, why: &str| families.element(0).invalid_as(format_or_null(shown), why);
    if before.len() == now.len() {
        let changed = before.iter().zip(now).filter(|(before, now)| before != now);
        return changed.map(|_| at(families, "may not change once set")).collect();
    }
    let fewer = before.len() > now.len();
    let mut errors =
        when(fewer && addresses.list().is_empty(), || at(families, "primary ipFamily can not be unset"));
    let changed = before.first().is_some_and(|first| now.first().is_some_and(|now| now != first));
    // kube-apiserver shows the addresses in this message.
    errors.extend(when(changed, || at(addresses, "may not change once set")));
    if fewer && now.len() == 1 {
        errors.extend(check_release(spec, "secondary ipFamily"));
    }
    errors
}

/// Releasing the second address or family needs the policy `SingleStack`.
fn check_release(spec: &FieldValue<'_>, what: &str) -> Vec<Error> {
    let policy = spec.field("ipFamilyPolicy");
    let why = format!("must be set to 'SingleStack' when releasing the {what}");
    when(policy.text() != "SingleStack", || policy.invalid_as(format_or_null(&policy), &why))
}

/// The value as messages show it, or `null`.
fn format_or_null(field: &FieldValue<'_>) -> Shown {
    if field.value.is_none() { Shown::verbatim("null") } else { field.formatted() }
}

fn old_list<'a>(list: &FieldValue<'a>) -> &'a [Value] {
    list.old.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn is_headless_list(list: &[Value]) -> bool {
    matches!(list, [only] if only == "None")
}

fn is_ipv6(address: &str) -> bool {
    address.parse().is_ok_and(|address: IpAddr| address.is_ipv6())
}
