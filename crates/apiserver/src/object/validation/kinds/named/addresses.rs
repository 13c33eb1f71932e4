//! The addresses of services, and the families that they are of.

use std::net::IpAddr;

use serde_json::Value;
use webhook::field::{Error, Shown};

use super::super::check::{Check, Found};
use super::{Named, when};

pub(super) const CHECKS: &[(&str, Named)] = &[("given-addresses", given), ("address-change", change)];

/// What is wrong with the addresses that a service names.
pub(super) fn given(spec: &Found<'_>) -> Vec<Error> {
    if spec.field("type").text() == "ExternalName" {
        return Vec::new();
    }
    let list = spec.field("clusterIPs");
    let mut errors = in_step(&spec.field("clusterIP"), &list);
    errors.extend(families(&spec.field("ipFamilies")));
    let policies = ["PreferDualStack", "RequireDualStack", "SingleStack"].map(str::to_owned).to_vec();
    errors.extend(Check::OneOf(policies).errors(&spec.field("ipFamilyPolicy")));
    let wrong = each(&list);
    let readable = wrong.is_empty();
    errors.extend(wrong);
    errors.extend(when(list.list().len() > 2, || list.invalid("may only hold up to 2 values")));
    if readable {
        errors.extend(when(list.list().len() > 1 && !of_both(&list), || {
            list.invalid("may specify no more than one IP for each IP family")
        }));
        errors.extend(of_families(&list, &spec.field("ipFamilies")));
    }
    errors
}

/// What a type without addresses says of them.
pub(super) fn of_none(spec: &Found<'_>) -> Vec<Error> {
    let why = "may not be set for ExternalName services";
    let lists = ["clusterIPs", "ipFamilies"].map(|field| spec.field(field));
    let mut errors: Vec<Error> =
        lists.iter().flat_map(|list| when(!list.is_empty(), || list.forbidden(why))).collect();
    let policy = spec.field("ipFamilyPolicy");
    errors.extend(when(policy.value.is_some(), || policy.forbidden(why)));
    errors
}

/// Whether a service has the address of nobody.
pub(super) fn is_headless(spec: &Found<'_>) -> bool {
    nobody(spec.field("clusterIPs").list())
}

/// Whether an address may stand: one that is one, or that stood there before.
pub(super) fn address(found: &Found<'_>, before: &[Value]) -> Vec<Error> {
    let stood = found.value.is_some_and(|value| before.contains(value));
    if stood { Vec::new() } else { Check::Address.errors(found) }
}

/// The one address is the first of the list.
fn in_step(single: &Found<'_>, list: &Found<'_>) -> Vec<Error> {
    match (single.text(), list.list()) {
        ("", []) => Vec::new(),
        ("", _) => vec![list.invalid("must be empty when `clusterIP` is not specified")],
        (_, []) => vec![list.required("")],
        (single, [first, ..]) => when(first != single, || list.invalid("first value must match `clusterIP`")),
    }
}

fn families(list: &Found<'_>) -> Vec<Error> {
    let known = Check::OneOf(["IPv4", "IPv6"].map(str::to_owned).to_vec());
    let elements = list.elements();
    let errors = |(index, family): (usize, &Found<'_>)| {
        let mut errors = known.errors(family);
        let repeated = elements[..index].iter().any(|earlier| earlier.value == family.value);
        errors.extend(when(repeated, || family.duplicate()));
        errors
    };
    elements.iter().enumerate().flat_map(errors).collect()
}

/// Every address is one; the address of nobody stands alone.
fn each(list: &Found<'_>) -> Vec<Error> {
    let before = old_list(list);
    let elements = list.elements();
    let errors = |(index, found): (usize, &Found<'_>)| match (index, found.text()) {
        (0, "None") => when(elements.len() > 1, || list.invalid("'None' must be the first and only value")),
        _ => address(found, before),
    };
    elements.iter().enumerate().flat_map(errors).collect()
}

fn of_both(list: &Found<'_>) -> bool {
    let second = |address: &Found<'_>| is_second(address.text());
    let addresses = list.elements();
    addresses.iter().any(second) && !addresses.iter().all(second)
}

/// Each address is of the family of its place.
fn of_families(list: &Found<'_>, families: &Found<'_>) -> Vec<Error> {
    if nobody(list.list()) {
        return Vec::new();
    }
    let pairs = list.elements().into_iter().zip(families.elements());
    let errors = |(index, (address, family)): (usize, (Found<'_>, Found<'_>))| {
        let fits = match family.text() {
            "IPv4" => !is_second(address.text()),
            "IPv6" => is_second(address.text()),
            _ => true,
        };
        let why = format!("expected an {} value as indicated by `ipFamilies[{index}]`", family.text());
        when(!fits, || address.invalid(&why))
    };
    pairs.enumerate().flat_map(errors).collect()
}

/// Addresses and families stay as long as a service has some; a second one may come and go.
fn change(service: &Found<'_>) -> Vec<Error> {
    let spec = service.field("spec");
    let kind = spec.field("type");
    if kind.text() == "ExternalName" || kind.old.is_some_and(|kind| kind == "ExternalName") {
        return Vec::new();
    }
    let [list, families] = ["clusterIPs", "ipFamilies"].map(|field| spec.field(field));
    match (nobody(old_list(&list)), nobody(list.list())) {
        (true, true) => Vec::new(),
        (false, false) => {
            let mut errors = address_change(&spec, &list);
            errors.extend(family_change(&spec, &families, &list));
            errors
        }
        _ => address_change(&spec, &list),
    }
}

fn address_change(spec: &Found<'_>, list: &Found<'_>) -> Vec<Error> {
    let (before, now) = (old_list(list), list.list());
    let at = |index: usize, why: &str| list.element(index).invalid_as(whole(list), why);
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
        errors.extend(released(spec, "secondary clusterIP"));
    }
    errors
}

fn family_change(spec: &Found<'_>, families: &Found<'_>, addresses: &Found<'_>) -> Vec<Error> {
    let (before, now) = (old_list(families), families.list());
    let at = |shown: &Found<'_>, why: &str| families.element(0).invalid_as(whole(shown), why);
    if before.len() == now.len() {
        let changed = before.iter().zip(now).filter(|(before, now)| before != now);
        return changed.map(|_| at(families, "may not change once set")).collect();
    }
    let fewer = before.len() > now.len();
    let mut errors =
        when(fewer && addresses.list().is_empty(), || at(families, "primary ipFamily can not be unset"));
    let changed = before.first().is_some_and(|first| now.first().is_some_and(|now| now != first));
    // The addresses are what kube-apiserver shows here.
    errors.extend(when(changed, || at(addresses, "may not change once set")));
    if fewer && now.len() == 1 {
        errors.extend(released(spec, "secondary ipFamily"));
    }
    errors
}

/// Only who says that one family is enough may let go of the second.
fn released(spec: &Found<'_>, what: &str) -> Vec<Error> {
    let policy = spec.field("ipFamilyPolicy");
    let why = format!("must be set to 'SingleStack' when releasing the {what}");
    when(policy.text() != "SingleStack", || policy.invalid_as(whole(&policy), &why))
}

/// What is found as errors show it, or that there is nothing.
fn whole(found: &Found<'_>) -> Shown {
    if found.value.is_none() { Shown::verbatim("null") } else { found.shown() }
}

fn old_list<'a>(list: &Found<'a>) -> &'a [Value] {
    list.old.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn nobody(list: &[Value]) -> bool {
    matches!(list, [only] if only == "None")
}

fn is_second(address: &str) -> bool {
    address.parse().is_ok_and(|address: IpAddr| address.is_ipv6())
}
