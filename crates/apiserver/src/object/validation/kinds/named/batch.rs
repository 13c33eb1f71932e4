//! Jobs and cron jobs.

use formats::selector::LabelSelector;
use serde_json::Value;
use webhook::field::{Error, Shown};

use super::super::check::{FieldValue, NamedCheck, when};
use super::workloads::{selector_errors, selector_mismatch};

pub(super) const CHECKS: &[(&str, NamedCheck)] = &[
    ("job-labels", job_labels),
    ("job-selector", job_selector),
    ("job-restarts", job_restarts),
    ("job-template", job_template),
    ("schedule", schedule),
    ("time-zone", time_zone),
    ("cron-name", cron_name),
];

const CONTROLLER: &str = "batch.kubernetes.io/controller-uid";
const NAME: &str = "batch.kubernetes.io/job-name";
const IMMUTABLE: &str = "field is immutable";

/// Without `manualSelector`, selector and labels must be those that the server generates.
fn job_labels(job: &FieldValue<'_>) -> Vec<Error> {
    let spec = job.field("spec");
    let selector = spec.field("selector");
    if spec.field("manualSelector").value == Some(&Value::Bool(true)) || selector.value.is_none() {
        return Vec::new();
    }
    let text = |field: &str| job.field("metadata").field(field).text();
    let (uid, name) = (text("uid"), text("name"));
    let wanted = [("controller-uid", uid), ("job-name", name), (CONTROLLER, uid), (NAME, name)];
    let labels = spec.field("template").field("metadata").field("labels");
    let mut errors = Vec::new();
    for (key, value) in wanted {
        let why = format!("must be '{value}'");
        let label = labels.entry(key);
        match label.value {
            None => errors.push(label.required(&why)),
            Some(other) if other != value => errors.push(label.invalid_as(labels.formatted(), &why)),
            Some(_) => {}
        }
    }
    let selects = selector.value.cloned().map(serde_json::from_value::<LabelSelector>);
    let of = |key: &str| wanted.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    let mismatch = matches!(selects, Some(Ok(selects)) if !selects.matches_by(of));
    errors.extend(when(mismatch, || selector.invalid("`selector` not auto-generated")));
    errors
}

/// The selector must exist and match the template's labels.
fn job_selector(spec: &FieldValue<'_>) -> Vec<Error> {
    let selector = spec.field("selector");
    if selector.value.is_none() {
        let labels = spec.field("template").field("metadata").field("labels");
        return [vec![selector.required("")], selector_mismatch(&selector, &labels)].concat();
    }
    let mut errors = selector_errors(&selector);
    errors.extend(selector_mismatch(&selector, &spec.field("template").field("metadata").field("labels")));
    errors
}

fn job_restarts(policy: &FieldValue<'_>) -> Vec<Error> {
    match policy.text() {
        "Always" | "" => vec![policy.required("valid values: \"OnFailure\", \"Never\"")],
        "OnFailure" | "Never" => Vec::new(),
        _ => vec![policy.unsupported(&["OnFailure", "Never"])],
    }
}

/// A job's template must not change; while the job is suspended and none of its pods runs, scheduling directives, labels,
/// annotations and the resources of containers may.
fn job_template(job: &FieldValue<'_>) -> Vec<Error> {
    let template = job.field("spec").field("template");
    let (Some(old_job), Some(new)) = (job.old, template.value) else { return Vec::new() };
    let mut old = template.old.cloned().unwrap_or_default();
    if !is_template_mutable(old_job) {
        return when(*new != old, || template.invalid_as(Shown::verbatim(new), IMMUTABLE));
    }
    take_scheduling(&mut old, new);
    for list in ["containers", "initContainers"] {
        take_resources(&mut old["spec"], &new["spec"], list);
    }
    let (mut old, mut new) = (old["spec"].take(), new["spec"].clone());
    for spec in [&mut old, &mut new] {
        remove_nulls(spec);
    }
    when(old != new, || template.field("spec").invalid_as(Shown::verbatim(&new), IMMUTABLE))
}

/// Whether a job is suspended, and none of its pods runs or ever ran.
fn is_template_mutable(job: &Value) -> bool {
    let status = &job["status"];
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let mut suspended = conditions.filter(|found| found["type"] == "Suspended" && found["status"] == "True");
    job["spec"]["suspend"] == true
        && (status["startTime"].is_null() || suspended.next().is_some())
        && status["active"].as_i64().unwrap_or_default() == 0
}

/// Copies what decides where pods run. Labels and annotations may change, and are not compared.
fn take_scheduling(old: &mut Value, new: &Value) {
    for field in ["nodeSelector", "tolerations", "schedulingGates"] {
        take(&mut old["spec"], &new["spec"], field);
    }
    let (affinity, wanted) = (&mut old["spec"]["affinity"], &new["spec"]["affinity"]);
    if affinity.is_null() && !wanted.is_null() {
        *affinity = serde_json::json!({});
    }
    take(affinity, wanted, "nodeAffinity");
    if wanted.is_null() && affinity.as_object().is_some_and(serde_json::Map::is_empty) {
        *affinity = Value::Null;
    }
}

/// Copies the resources of containers that have the same name in the same place.
fn take_resources(old: &mut Value, new: &Value, list: &str) {
    let (Some(containers), Some(wanted)) = (old[list].as_array_mut(), new[list].as_array()) else { return };
    if containers.len() != wanted.len() {
        return;
    }
    for (container, wanted) in containers.iter_mut().zip(wanted) {
        if container["name"] == wanted["name"] {
            take(container, wanted, "resources");
        }
    }
}

/// Sets a field as it is in another object, or removes it.
fn take(into: &mut Value, from: &Value, field: &str) {
    match from.get(field) {
        Some(value) => into[field] = value.clone(),
        None => {
            if let Some(fields) = into.as_object_mut() {
                fields.remove(field);
            }
        }
    }
}

/// Removes fields that were created by looking for them.
fn remove_nulls(spec: &mut Value) {
    if let Some(fields) = spec.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
}

/// The first segments of time zone names, and the names with one segment.
const ZONES: &[&str] = &[
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Brazil",
    "Canada",
    "Chile",
    "Etc",
    "Europe",
    "Indian",
    "Mexico",
    "Pacific",
    "US",
];
const SINGLE_ZONES: &[&str] = &[
    "CET",
    "CST6CDT",
    "Cuba",
    "EET",
    "EST",
    "EST5EDT",
    "Egypt",
    "Eire",
    "GB",
    "GB-Eire",
    "GMT",
    "GMT+0",
    "GMT-0",
    "GMT0",
    "Greenwich",
    "HST",
    "Hongkong",
    "Iceland",
    "Iran",
    "Israel",
    "Jamaica",
    "Japan",
    "Kwajalein",
    "Libya",
    "MET",
    "MST",
    "MST7MDT",
    "NZ",
    "NZ-CHAT",
    "Navajo",
    "PRC",
    "PST8PDT",
    "Poland",
    "Portugal",
    "ROC",
    "ROK",
    "Singapore",
    "Turkey",
    "UCT",
    "UTC",
    "Universal",
    "W-SU",
    "WET",
    "Zulu",
];

/// The error of an unknown time zone; this knows only the regions, not their zones.
fn time_zone(field: &FieldValue<'_>) -> Vec<Error> {
    let Some(Value::String(zone)) = field.value.filter(|value| field.old != Some(value)) else {
        return Vec::new();
    };
    if zone.is_empty() {
        return vec![field.invalid("timeZone must be nil or non-empty string")];
    }
    let letter = |letter: char| letter.is_ascii_alphanumeric() || "_-+".contains(letter);
    let is_invalid = |part: &str| part.is_empty() || part.starts_with('-') || !part.chars().all(letter);
    let known = match zone.split_once('/') {
        Some((region, _)) => ZONES.contains(&region),
        None => SINGLE_ZONES.contains(&zone.as_str()),
    };
    if zone.eq_ignore_ascii_case("Local") {
        let why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        return vec![field.invalid(why)];
    }
    when(!known || zone.split('/').any(is_invalid), || field.invalid(&format!("unknown time zone {zone}")))
}

fn schedule(field: &FieldValue<'_>) -> Vec<Error> {
    let text = field.text();
    if text.is_empty() {
        return vec![field.required("")];
    }
    if text.starts_with('@') {
        const NAMED: &[&str] =
            &["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
        let known = NAMED.contains(&text) || text.starts_with("@every ");
        return when(!known, || field.invalid(&format!("unrecognized descriptor: {text}")));
    }
    if text.contains("TZ") {
        return vec![field.invalid("cannot use TZ or CRON_TZ in schedule, use timeZone field instead")];
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    when(fields.len() != 5, || {
        field.invalid(&format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")))
    })
}

/// The names of a cron job's jobs have eleven more characters.
fn cron_name(name: &FieldValue<'_>) -> Vec<Error> {
    when(name.text().len() > 52, || name.invalid("must be no more than 52 characters"))
}
