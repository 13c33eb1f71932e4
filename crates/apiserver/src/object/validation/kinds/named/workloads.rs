//! Deployments, stateful sets, daemon sets, replica sets: selectors, templates, strategies.

use formats::name;
use formats::selector::LabelSelector;
use serde_json::{Value, json};
use webhook::field::{Error, Shown};

use super::super::check::{Check, FieldValue, NamedCheck, when};
use crate::object::validation::metadata;

pub(super) const CHECKS: &[(&str, NamedCheck)] =
    &[
        ("selector-of-deployment", |field| selector(field, "deployment")),
        ("selector-of-statefulset", |field| selector(field, "statefulset")),
        ("selector-of-daemonset", |field| {
            if field.value.is_none() { Vec::new() } else { selector(field, "daemonset") }
        }),
        ("selector-of-replicaset", |field| selector(field, "replicaset")),
        ("template-metadata", template_metadata),
        ("workload-template", workload_template),
        ("stateful-template", stateful_template),
        ("daemon-template", daemon_template),
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

const SELECTOR_MISMATCH: &str = "`selector` does not match template `labels`";

fn selector(field: &FieldValue<'_>, of: &str) -> Vec<Error> {
    let Some(value) = field.value else { return vec![field.required("")] };
    let mut errors = selector_errors(field);
    if value.as_object().is_some_and(|fields| fields.values().all(is_empty)) {
        errors.push(field.invalid(&format!("empty selector is invalid for {of}")));
    }
    errors
}

/// The errors of the labels and expressions of a selector.
pub(super) fn selector_errors(field: &FieldValue<'_>) -> Vec<Error> {
    let labels = field.field("matchLabels");
    let mut errors = metadata::labels(&labels.path, labels.value);
    for expression in field.field("matchExpressions").elements() {
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

/// The message about an invalid selector.
const INVALID_SELECTOR: &str = "invalid label selector";

/// Pods of these workloads must always restart.
fn always_restarted(spec: &FieldValue<'_>, by: &str) -> Vec<Error> {
    let (policy, deadline) = (spec.field("restartPolicy"), spec.field("activeDeadlineSeconds"));
    let mut errors =
        when(!policy.is_empty() && policy.text() != "Always", || policy.unsupported(&["Always"]));
    errors.extend(when(deadline.value.is_some(), || {
        deadline.forbidden(&format!("activeDeadlineSeconds in {by} is not Supported"))
    }));
    errors
}

/// For daemon sets, an invalid selector is reported once.
fn daemon_template(spec: &FieldValue<'_>) -> Vec<Error> {
    let selector = spec.field("selector").path;
    let mut errors = workload_template(spec);
    errors.retain(|error| error.field != selector);
    errors
}

/// The labels of the template must match the selector.
fn workload_template(spec: &FieldValue<'_>) -> Vec<Error> {
    let (template, selector) = (spec.field("template"), spec.field("selector"));
    let labels = template.field("metadata").field("labels");
    let mut errors = selector_mismatch(&selector, &labels);
    errors.extend(template_metadata(&template));
    errors
}

/// The errors of a template's labels and annotations; their paths lack `metadata`.
fn template_metadata(template: &FieldValue<'_>) -> Vec<Error> {
    let metadata = template.field("metadata");
    metadata
        .value
        .map(|value| metadata::label_and_annotation_errors(&template.path, value))
        .unwrap_or_default()
}

/// For stateful sets, the error of an invalid selector has no message.
fn stateful_template(spec: &FieldValue<'_>) -> Vec<Error> {
    let mut errors = workload_template(spec);
    errors.iter_mut().filter(|error| error.detail == INVALID_SELECTOR).for_each(|error| error.detail.clear());
    errors
}

/// A selector with its fields in Go's order.
fn format_selector(selector: &FieldValue<'_>) -> Shown {
    let of = |field: &str| selector.field(field).value.map(|value| format!("\"{field}\":{value}"));
    let fields: Vec<String> =
        ["matchLabels", "matchExpressions"].iter().filter_map(|field| of(field)).collect();
    Shown::verbatim(format!("{{{}}}", fields.join(",")))
}

/// The error if the selector does not match the template's labels.
pub(super) fn selector_mismatch(selector: &FieldValue<'_>, labels: &FieldValue<'_>) -> Vec<Error> {
    let Some(wanted) = selector.value.cloned() else {
        // An absent selector matches nothing.
        return vec![labels.invalid_as(format_labels(labels), SELECTOR_MISMATCH)];
    };
    let Ok(wanted) = serde_json::from_value::<LabelSelector>(wanted) else {
        return vec![selector.invalid_as(format_selector(selector), INVALID_SELECTOR)];
    };
    if !wanted.validate().is_empty() && selector.value.is_some() {
        return vec![selector.invalid_as(format_selector(selector), INVALID_SELECTOR)];
    }
    let existing = labels.value.cloned().and_then(|labels| serde_json::from_value(labels).ok());
    let matches = wanted.is_empty() || wanted.matches(&existing.unwrap_or_default());
    when(!matches, || labels.invalid_as(format_labels(labels), SELECTOR_MISMATCH))
}

fn format_labels(labels: &FieldValue<'_>) -> Shown {
    labels.value.map_or_else(|| Shown::verbatim("null"), Shown::verbatim)
}

/// No count may exceed the number of replicas.
fn counts(status: &FieldValue<'_>, parts: &[&str], more_available: &str) -> Vec<Error> {
    let replicas = status.field("replicas").number();
    let too_many = |part: FieldValue<'_>, of: i64, why: &str| {
        when(part.number() > of, || part.invalid_as(part.number(), why))
    };
    let mut errors: Vec<Error> = parts
        .iter()
        .flat_map(|part| too_many(status.field(part), replicas, "cannot be greater than status.replicas"))
        .collect();
    let ready = status.field("readyReplicas").number();
    errors.extend(too_many(status.field("availableReplicas"), ready, more_available));
    errors
}

/// The name of a stateful set's service, which is optional.
fn service_name(field: &FieldValue<'_>) -> Vec<Error> {
    let wrong = if field.is_empty() { Vec::new() } else { name::dns1123_label(field.text()) };
    wrong.iter().map(|why| field.invalid(why)).collect()
}

fn deployment_strategy(field: &FieldValue<'_>) -> Vec<Error> {
    let (kind, update) = (field.field("type"), field.field("rollingUpdate"));
    match kind.text() {
        "Recreate" => when(update.value.is_some(), || {
            update.forbidden("may not be specified when strategy `type` is 'Recreate'")
        }),
        "RollingUpdate" => rolling_update(&update),
        _ => vec![field.unsupported_as(go_strategy(field), &["Recreate", "RollingUpdate"])],
    }
}

fn rolling_update(update: &FieldValue<'_>) -> Vec<Error> {
    if update.value.is_none() {
        return vec![update.required("this should be defaulted and never be nil")];
    }
    let (unavailable, surge) = (update.field("maxUnavailable"), update.field("maxSurge"));
    let mut errors = Check::Percent { at_most_100: false }.errors(&unavailable);
    errors.extend(Check::Percent { at_most_100: false }.errors(&surge));
    if share(&unavailable) == Some(0) && share(&surge) == Some(0) {
        errors.push(unavailable.invalid("may not be 0 when `maxSurge` is 0"));
    }
    errors.extend(when(
        share(&unavailable).is_some_and(|n| n > 100) && unavailable.text().ends_with('%'),
        || unavailable.invalid("must not be greater than 100%"),
    ));
    errors
}

/// The number, or that before `%`.
fn share(field: &FieldValue<'_>) -> Option<i64> {
    match field.value? {
        Value::String(text) => text.strip_suffix('%')?.parse().ok(),
        value => value.as_i64(),
    }
}

fn progress_deadline(spec: &FieldValue<'_>) -> Vec<Error> {
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

fn stateful_policies(spec: &FieldValue<'_>) -> Vec<Error> {
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

fn stateful_change(spec: &FieldValue<'_>) -> Vec<Error> {
    const MUTABLE: &[&str] = &[
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
        let fixed = fields.filter(|(name, _)| !MUTABLE.contains(&name.as_str()));
        fixed.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let why = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
               'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' \
               are forbidden";
    when(fixed(spec.value) != fixed(spec.old), || spec.forbidden(why))
}

fn daemon_strategy(field: &FieldValue<'_>) -> Vec<Error> {
    let update = field.field("rollingUpdate");
    match field.field("type").text() {
        "OnDelete" => Vec::new(),
        "RollingUpdate" if update.value.is_none() => vec![update.required("")],
        "RollingUpdate" => {
            let (unavailable, surge) = (update.field("maxUnavailable"), update.field("maxSurge"));
            let mut errors = Check::Percent { at_most_100: true }.errors(&unavailable);
            errors.extend(Check::Percent { at_most_100: true }.errors(&surge));
            match (share(&unavailable).unwrap_or_default(), share(&surge).unwrap_or_default()) {
                (0, 0) => errors.push(unavailable.required("cannot be 0 when maxSurge is 0")),
                (1.., 1..) => errors.push(surge.invalid("may not be set when maxUnavailable is non-zero")),
                _ => {}
            }
            errors
        }
        _ => vec![field.unsupported_as(go_strategy(field), &["RollingUpdate", "OnDelete"])],
    }
}

/// A strategy as Go prints it.
fn go_strategy(field: &FieldValue<'_>) -> Shown {
    let kind = json!(field.field("type").text());
    Shown::verbatim(format!("{{\"Type\":{kind},\"RollingUpdate\":null}}"))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}
