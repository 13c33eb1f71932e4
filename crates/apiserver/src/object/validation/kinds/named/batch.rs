//! Jobs and cron jobs.

use serde_json::Value;
use webhook::field::{Error, Shown};

use super::super::check::Found;
use super::workloads::{requirements, unselected};
use super::{Named, when};

pub(super) const CHECKS: &[(&str, Named)] = &[
    ("job-selector", job_selector),
    ("job-restarts", job_restarts),
    ("job-template", job_template),
    ("schedule", schedule),
    ("cron-name", cron_name),
];

const CONTROLLER: &str = "batch.kubernetes.io/controller-uid";

/// Unless it is chosen by hand, the selector is the one that the server makes.
fn job_selector(spec: &Found<'_>) -> Vec<Error> {
    let selector = spec.field("selector");
    if selector.value.is_none() {
        let labels = spec.field("template").field("metadata").field("labels");
        return [vec![selector.required("")], unselected(&selector, &labels)].concat();
    }
    let mut errors = requirements(&selector);
    let by_hand = spec.field("manualSelector").value == Some(&Value::Bool(true));
    let labels = selector.field("matchLabels").value.and_then(Value::as_object);
    let own = labels.is_some_and(|labels| labels.len() == 1 && labels.contains_key(CONTROLLER));
    if !by_hand && !own {
        errors.push(selector.invalid("`selector` not auto-generated"));
    }
    errors.extend(unselected(&selector, &spec.field("template").field("metadata").field("labels")));
    errors
}

fn job_restarts(policy: &Found<'_>) -> Vec<Error> {
    match policy.text() {
        "Always" | "" => vec![policy.required("valid values: \"OnFailure\", \"Never\"")],
        "OnFailure" | "Never" => Vec::new(),
        _ => vec![policy.unsupported(&["OnFailure", "Never"])],
    }
}

/// A job's template stays, but for where its pods may run while it is suspended.
fn job_template(template: &Found<'_>) -> Vec<Error> {
    when(template.value != template.old, || {
        let shown = template.value.map_or_else(|| Shown::verbatim("null"), Shown::verbatim);
        template.invalid_as(shown, "field is immutable")
    })
}

fn schedule(found: &Found<'_>) -> Vec<Error> {
    let text = found.text();
    if text.is_empty() {
        return vec![found.required("")];
    }
    if text.starts_with('@') {
        const NAMED: &[&str] =
            &["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
        let known = NAMED.contains(&text) || text.starts_with("@every ");
        return when(!known, || found.invalid(&format!("unrecognized descriptor: {text}")));
    }
    if text.contains("TZ") {
        return vec![found.invalid("cannot use TZ or CRON_TZ in schedule, use timeZone field instead")];
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    when(fields.len() != 5, || {
        found.invalid(&format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")))
    })
}

/// The names of a cron job's jobs are eleven letters longer.
fn cron_name(name: &Found<'_>) -> Vec<Error> {
    when(name.text().len() > 52, || name.invalid("must be no more than 52 characters"))
}
