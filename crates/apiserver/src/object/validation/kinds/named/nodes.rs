//! Nodes and API services.

use formats::name;
use webhook::field::{Error, ErrorKind, Shown};

use super::super::check::{Check, FieldValue, NamedCheck, when};

pub(super) const CHECKS: &[(&str, NamedCheck)] =
    &[("node", node), ("node-change", node_change), ("api-service", api_service)];

fn node(node: &FieldValue<'_>) -> Vec<Error> {
    let mut errors = Vec::new();
    for (index, taint) in node.field("spec").field("taints").elements().iter().enumerate() {
        // kube-apiserver reports these with a path below metadata.
        let at = |field: &str| FieldValue {
            path: format!("metadata.taints[{index}].{field}"),
            ..taint.field(field)
        };
        let (key, effect) = (at("key"), at("effect"));
        errors.extend(name::label_key(key.text()).iter().map(|why| key.invalid(why)));
        errors.extend(match effect.text() {
            "NoSchedule" | "PreferNoSchedule" | "NoExecute" => Vec::new(),
            "" => vec![effect.required("")],
            _ => vec![effect.unsupported(&["NoSchedule", "PreferNoSchedule", "NoExecute"])],
        });
    }
    let ranges = node.field("spec").field("podCIDRs").elements();
    errors.extend(ranges.iter().flat_map(|range| Check::Range.errors(range)));
    errors
}

fn node_change(node: &FieldValue<'_>) -> Vec<Error> {
    let (ranges, provider) = (node.field("spec").field("podCIDRs"), node.field("spec").field("providerID"));
    let changed = |field: &FieldValue<'_>| field.old.is_some() && field.value != field.old;
    let mut errors = when(changed(&ranges), || {
        ranges.forbidden("node updates may not change podCIDR except from \"\" to valid")
    });
    errors.extend(when(changed(&provider), || {
        provider.forbidden("node updates may not change providerID except from \"\" to valid")
    }));
    errors
}

fn api_service(object: &FieldValue<'_>) -> Vec<Error> {
    let spec = object.field("spec");
    let [group, version] = ["group", "version"].map(|field| spec.field(field));
    let name = object.field("metadata").field("name");
    let wanted = format!("{}.{}", version.text(), group.text());
    let mut errors = when(name.text() != wanted, || {
        name.invalid(&format!("must be `spec.version+\".\"+spec.group`: {wanted:?}"))
    });
    if group.is_empty() {
        errors.extend(when(version.text() != "v1", || {
            group.required("only v1 may have an empty group and it better be legacy kube")
        }));
    } else {
        errors.extend(name::dns1123_subdomain(group.text()).iter().map(|why| group.invalid(why)));
    }
    let shown = || Some(Shown::from(version.text()));
    let wrong = name::dns1035_label(version.text());
    errors.extend(wrong.iter().map(|why| version.error(ErrorKind::Invalid, shown(), why)));
    for (field, limit) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1_000)] {
        let priority = spec.field(field);
        errors.extend(when(priority.number() <= 0 || priority.number() > limit, || {
            priority.invalid_as(priority.number(), &format!("must be positive and less than {limit}"))
        }));
    }
    errors
}
