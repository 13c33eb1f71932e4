//! Validates a configuration, with the original's error texts.

use controller::config::checks;
use formats::name;
use k8s_openapi::api::core::v1::ResourceQuota;
use serde::Deserialize as _;
use serde_json::Value;
use webhook::field::{Error, Path};

use super::{ControllerManagerConfiguration, LabelSelector, LabelSelectorRequirement, QuotaConfiguration};

/// All errors of a configuration whose defaults are filled in. GCM-CFG-006 to -008.
#[must_use]
pub fn validate(config: &ControllerManagerConfiguration) -> Vec<Error> {
    let mut errors = Vec::new();
    checks::log(&config.log_level, &config.log_format, &mut errors);
    let quotas = Path::new("controllers").child("project").child("quotas");
    for (index, quota) in config.controllers.project.quotas.iter().enumerate() {
        project_quota(quota, &quotas.index(index), &mut errors);
    }
    errors
}

/// Checks that a project quota is a `v1` ResourceQuota; otherwise returns what it is, in the words of the original.
/// GCM-CFG-009.
pub(super) fn resource_quota(config: &Value) -> Result<(), String> {
    let text = |field: &str| config.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if kind.is_empty() {
        return Err(format!("Object 'Kind' is missing in '{config}'"));
    }
    if api_version.is_empty() {
        return Err(format!("Object 'apiVersion' is missing in '{config}'"));
    }
    if (api_version, kind) != ("v1", "ResourceQuota") {
        return Err(format!("no kind {kind:?} is registered for version {api_version:?}"));
    }
    ResourceQuota::deserialize(config).map(|_| ()).map_err(|error| error.to_string())
}

fn project_quota(quota: &QuotaConfiguration, at: &Path, errors: &mut Vec<Error>) {
    if quota.config.is_none() {
        errors.push(Error::required(&at.child("config"), "must provide a quota config"));
    }
    if let Some(selector) = &quota.project_selector {
        label_selector(selector, &at.child("projectSelector"), errors);
    }
}

fn label_selector(selector: &LabelSelector, at: &Path, errors: &mut Vec<Error>) {
    let labels = at.child("matchLabels");
    for (key, value) in &selector.match_labels {
        invalid(key, &name::label_key(key), &labels, errors);
        invalid(value, &name::label_value(value), &labels, errors);
    }
    let expressions = at.child("matchExpressions");
    for (index, expression) in selector.match_expressions.iter().enumerate() {
        requirement(expression, &expressions.index(index), errors);
    }
}

fn requirement(expression: &LabelSelectorRequirement, at: &Path, errors: &mut Vec<Error>) {
    let LabelSelectorRequirement { key, operator, values } = expression;
    match operator.as_str() {
        "In" | "NotIn" if values.is_empty() => {
            let detail = "must be specified when `operator` is 'In' or 'NotIn'";
            errors.push(Error::required(&at.child("values"), detail));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.push(Error::forbidden(&at.child("values"), detail));
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => {
            errors.push(Error::invalid(&at.child("operator"), other, "not a valid selector operator"));
        }
    }
    invalid(key, &name::label_key(key), &at.child("key"), errors);
    for (index, value) in values.iter().enumerate() {
        invalid(value, &name::label_value(value), &at.child("values").index(index), errors);
    }
}

fn invalid(text: &str, details: &[String], at: &Path, errors: &mut Vec<Error>) {
    errors.extend(details.iter().map(|detail| Error::invalid(at, text, detail)));
}
