//! Deployments, stateful sets, daemon sets, replica sets: selectors, templates, strategies.

use formats::name;
use formats::selector::LabelSelector;
use serde_json::{Value, json};
use webhook::field::{Error, Shown};

use super::super::check::{Check, Found};
use super::{Named, when};
use crate::object::validation::metadata;

pub(super) const CHECKS: &[(&str, Named)] =
    &[
        ("selector-of-deployment", |found| selector(found, "deployment")),
        ("selector-of-statefulset", |found| selector(found, "statefulset")),
        ("selector-of-daemonset", |found| {
            if found.value.is_none() { Vec::new() } else { selector(found, "daemonset") }
        }),
        ("selector-of-replicaset", |found| selector(found, "replicaset")),
        ("template-marks", template_marks),
        ("template-of-many", template_of_many),
        ("template-of-sets", template_of_sets),
        ("template-of-daemons", template_of_daemons),
        ("restarted-by-replicaset", |spec| always_restarted(spec, "ReplicaSet")),
        ("restarted-by-statefulset", |spec| always_restarted(spec, "StatefulSet")),
        ("restarted-by-daemonset", |spec| always_restarted(spec, "DaemonSet")),
        ("deployment-strategy", deployment_strategy),
        ("progress-deadline", progress_deadline),
        ("stateful-policies", stateful_policies),
        ("stateful-change", stateful_change),
        ("service-name", service_name),
        ("deployment-status", |status| {
            let parts = ["updatedReplicas", "readyReplicas", "availableReplicas"];
            counts(status, &parts, "cannot be greater than readyReplicas")
        }),
        ("stateful-status", |status| {
            let parts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
            counts(status, &parts, "cannot be greater than status.readyReplicas")
        }),
        ("daemon-strategy", daemon_strategy),
    ];

const UNSELECTED: &str = "`selector` does not match template `labels`";

fn selector(found: &Found<'_>, of: &str) -> Vec<Error> {
    let Some(value) = found.value else { return vec![found.required("")] };
    let mut errors = requirements(found);
    if value.as_object().is_some_and(|fields| fields.values().all(is_nothing)) {
        errors.push(found.invalid(&format!("empty selector is invalid for {of}")));
    }
    errors
}

/// What is wrong with the labels and expressions of a selector.
pub(super) fn requirements(found: &Found<'_>) -> Vec<Error> {
    let labels = found.field("matchLabels");
    let mut errors = metadata::labels(&labels.path, labels.value);
    for expression in found.field("matchExpressions").elements() {
        let [key, operator, values] = ["key", "operator", "values"].map(|name| expression.field(name));
        match operator.text() {
            "In" | "NotIn" => errors.extend(when(values.is_empty(), || {
                values.required("must be specified when `operator` is 'In' or 'NotIn'")
            })),
            "Exists" | "DoesNotExist" => errors.extend(when(!values.is_empty(), || {
                values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
            })),
            _ => errors.push(operator.invalid("not a valid selector operator")),
        }
        errors.extend(name::label_key(key.text()).iter().map(|why| key.invalid(why)));
    }
    errors
}

/// What is said of a selector that is none.
const ODD_SELECTOR: &str = "invalid label selector";

/// Pods that run for ever are always restarted.
fn always_restarted(spec: &Found<'_>, by: &str) -> Vec<Error> {
    let (policy, deadline) = (spec.field("restartPolicy"), spec.field("activeDeadlineSeconds"));
    let mut errors =
        when(!policy.is_empty() && policy.text() != "Always", || policy.unsupported(&["Always"]));
    errors.extend(when(deadline.value.is_some(), || {
        deadline.forbidden(&format!("activeDeadlineSeconds in {by} is not Supported"))
    }));
    errors
}

/// Of daemon sets a selector that is none is told once.
fn template_of_daemons(spec: &Found<'_>) -> Vec<Error> {
    let selector = spec.field("selector").path;
    let mut errors = template_of_many(spec);
    errors.retain(|error| error.field != selector);
    errors
}

/// Pods that run for ever: their template is labelled as selected.
fn template_of_many(spec: &Found<'_>) -> Vec<Error> {
    let (template, selector) = (spec.field("template"), spec.field("selector"));
    let labels = template.field("metadata").field("labels");
    let mut errors = unselected(&selector, &labels);
    errors.extend(template_marks(&template));
    errors
}

/// The labels and annotations of a template, which errors tell without its metadata.
fn template_marks(template: &Found<'_>) -> Vec<Error> {
    let metadata = template.field("metadata");
    metadata.value.map(|found| metadata::marks(&template.path, found)).unwrap_or_default()
}

/// Of stateful sets nobody says what is wrong with a selector that is none.
fn template_of_sets(spec: &Found<'_>) -> Vec<Error> {
    let mut errors = template_of_many(spec);
    errors.iter_mut().filter(|error| error.detail == ODD_SELECTOR).for_each(|error| error.detail.clear());
    errors
}

/// A selector in the order of its fields.
fn shown_selector(selector: &Found<'_>) -> Shown {
    let of = |field: &str| selector.field(field).value.map(|value| format!("\"{field}\":{value}"));
    let fields: Vec<String> =
        ["matchLabels", "matchExpressions"].iter().filter_map(|field| of(field)).collect();
    Shown::verbatim(format!("{{{}}}", fields.join(",")))
}

/// The labels of a template are those that the selector beside it wants.
pub(super) fn unselected(selector: &Found<'_>, labels: &Found<'_>) -> Vec<Error> {
    let Some(wanted) = selector.value.cloned() else {
        // Nothing is selected by what says nothing.
        return vec![labels.invalid_as(shown_labels(labels), UNSELECTED)];
    };
    let Ok(wanted) = serde_json::from_value::<LabelSelector>(wanted) else {
        return vec![selector.invalid_as(shown_selector(selector), ODD_SELECTOR)];
    };
    if !wanted.validate().is_empty() && selector.value.is_some() {
        return vec![selector.invalid_as(shown_selector(selector), ODD_SELECTOR)];
    }
    let found = labels.value.cloned().and_then(|labels| serde_json::from_value(labels).ok());
    let matches = wanted.is_empty() || wanted.matches(&found.unwrap_or_default());
    when(!matches, || labels.invalid_as(shown_labels(labels), UNSELECTED))
}

fn shown_labels(labels: &Found<'_>) -> Shown {
    labels.value.map_or_else(|| Shown::verbatim("null"), Shown::verbatim)
}

/// Parts are not more than the whole.
fn counts(status: &Found<'_>, parts: &[&str], more_available: &str) -> Vec<Error> {
    let whole = status.field("replicas").number();
    let too_many = |part: Found<'_>, of: i64, why: &str| {
        when(part.number() > of, || part.invalid_as(part.number(), why))
    };
    let mut errors: Vec<Error> = parts
        .iter()
        .flat_map(|part| too_many(status.field(part), whole, "cannot be greater than status.replicas"))
        .collect();
    let ready = status.field("readyReplicas").number();
    errors.extend(too_many(status.field("availableReplicas"), ready, more_available));
    errors
}

/// The service of a stateful set, if it has one.
fn service_name(found: &Found<'_>) -> Vec<Error> {
    let wrong = if found.is_empty() { Vec::new() } else { name::dns1123_label(found.text()) };
    wrong.iter().map(|why| found.invalid(why)).collect()
}

fn deployment_strategy(found: &Found<'_>) -> Vec<Error> {
    let (kind, update) = (found.field("type"), found.field("rollingUpdate"));
    match kind.text() {
        "Recreate" => when(update.value.is_some(), || {
            update.forbidden("may not be specified when strategy `type` is 'Recreate'")
        }),
        "RollingUpdate" => rolling_update(&update),
        _ => vec![found.unsupported_as(go_strategy(found), &["Recreate", "RollingUpdate"])],
    }
}

fn rolling_update(update: &Found<'_>) -> Vec<Error> {
    if update.value.is_none() {
        return vec![update.required("this should be defaulted and never be nil")];
    }
    let (unavailable, surge) = (update.field("maxUnavailable"), update.field("maxSurge"));
    let mut errors = Check::Percent { at_most_all: false }.errors(&unavailable);
    errors.extend(Check::Percent { at_most_all: false }.errors(&surge));
    if share(&unavailable) == Some(0) && share(&surge) == Some(0) {
        errors.push(unavailable.invalid("may not be 0 when `maxSurge` is 0"));
    }
    errors.extend(when(
        share(&unavailable).is_some_and(|n| n > 100) && unavailable.text().ends_with('%'),
        || unavailable.invalid("must not be greater than 100%"),
    ));
    errors
}

/// A number or the number before `%`.
fn share(found: &Found<'_>) -> Option<i64> {
    match found.value? {
        Value::String(text) => text.strip_suffix('%')?.parse().ok(),
        value => value.as_i64(),
    }
}

fn progress_deadline(spec: &Found<'_>) -> Vec<Error> {
    let deadline = spec.field("progressDeadlineSeconds");
    if deadline.value.is_none() {
        return Vec::new();
    }
    let mut errors = Check::AtLeast(0).errors(&deadline);
    errors.extend(when(deadline.number() <= spec.field("minReadySeconds").number(), || {
        deadline.invalid("must be greater than minReadySeconds")
    }));
    errors
}

fn stateful_policies(spec: &Found<'_>) -> Vec<Error> {
    let (management, update) = (spec.field("podManagementPolicy"), spec.field("updateStrategy"));
    let mut errors = match management.text() {
        "" => vec![management.required("")],
        "OrderedReady" | "Parallel" => Vec::new(),
        _ => vec![management.invalid("must be 'OrderedReady' or 'Parallel'")],
    };
    match update.field("type").text() {
        "" => errors.push(update.required("")),
        "OnDelete" => errors.extend(when(update.field("rollingUpdate").value.is_some(), || {
            let at = update.field("rollingUpdate");
            at.invalid("only allowed for updateStrategy 'RollingUpdate'")
        })),
        "RollingUpdate" => {}
        _ => errors.push(update.invalid_as(go_strategy(&update), "must be 'RollingUpdate' or 'OnDelete'")),
    }
    errors
}

fn stateful_change(spec: &Found<'_>) -> Vec<Error> {
    const FREE: &[&str] = &[
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    ];
    let fixed = |spec: Option<&Value>| -> Vec<(String, Value)> {
        let fields = spec.and_then(Value::as_object).into_iter().flatten();
        let fixed = fields.filter(|(name, _)| !FREE.contains(&name.as_str()));
        fixed.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let why = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
               'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' \
               are forbidden";
    when(fixed(spec.value) != fixed(spec.old), || spec.forbidden(why))
}

fn daemon_strategy(found: &Found<'_>) -> Vec<Error> {
    let update = found.field("rollingUpdate");
    match found.field("type").text() {
        "OnDelete" => Vec::new(),
        "RollingUpdate" if update.value.is_none() => vec![update.required("")],
        "RollingUpdate" => {
            let (unavailable, surge) = (update.field("maxUnavailable"), update.field("maxSurge"));
            let mut errors = Check::Percent { at_most_all: true }.errors(&unavailable);
            errors.extend(Check::Percent { at_most_all: true }.errors(&surge));
            match (share(&unavailable).unwrap_or_default(), share(&surge).unwrap_or_default()) {
                (0, 0) => errors.push(unavailable.required("cannot be 0 when maxSurge is 0")),
                (1.., 1..) => errors.push(surge.invalid("may not be set when maxUnavailable is non-zero")),
                _ => {}
            }
            errors
        }
        _ => vec![found.unsupported_as(go_strategy(found), &["RollingUpdate", "OnDelete"])],
    }
}

/// A strategy as Go's types print it.
fn go_strategy(found: &Found<'_>) -> Shown {
    let kind = json!(found.field("type").text());
    Shown::verbatim(format!("{{\"Type\":{kind},\"RollingUpdate\":null}}"))
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}
