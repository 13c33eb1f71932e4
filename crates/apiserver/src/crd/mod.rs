//! Custom resource definitions: defaults, validation, accepted names.

mod field_error;
mod names;
mod rules;
mod validation;
mod version;

use jiff::Timestamp;
use schema::Crd;
use serde_json::{Value, json};
use webhook::field::{Error, Path};

use crate::clock::rfc3339;
use crate::http::status::Status;
use crate::object::meta;

/// The finalizer of a CRD that still has custom resources.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// The definition in an object; `None` if it is invalid.
pub(crate) fn read(object: &Value) -> Option<Crd> {
    Crd::from_value(object.clone()).ok()
}

/// Sets defaults, validates the definition, and establishes it at once.
pub(crate) fn prepare(object: &mut Value, now: Timestamp) -> Result<(), Status> {
    set_defaults(object);
    let errors = validation::errors(object);
    if !errors.is_empty() {
        return Err(invalid(object, &errors));
    }
    Crd::from_value(object.clone())
        .map_err(|error| invalid(object, &[Error::invalid(&Path::new("spec"), "", &describe(&error))]))?;
    let versions = stored_versions(object);
    object["status"]["storedVersions"] = versions.into();
    accept_names(object, &[], now);
    Ok(())
}

/// Writes the accepted names and the conditions into the status.
pub(crate) fn accept_names(object: &mut Value, others: &[&Value], now: Timestamp) {
    let before = object.pointer("/status/conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let (names, conditions) = names::accept(object, others, |kind| {
        let known = before.iter().find(|condition| condition["type"] == kind);
        let since = known.and_then(|condition| condition["lastTransitionTime"].as_str());
        since.map_or_else(|| rfc3339(now), str::to_owned)
    });
    object["status"]["acceptedNames"] = names;
    object["status"]["conditions"] = conditions;
}

/// Whether the custom resources of the definition are served.
pub(crate) fn is_established(object: &Value) -> bool {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    conditions
        .into_iter()
        .all(|condition| condition["type"] != "Established" || condition["status"] == "True")
}

/// Warnings about a valid definition.
pub(crate) fn warnings(object: &Value) -> Vec<String> {
    warnings_where(cfg!(feature = "cel"), object)
}

/// The formats in the schemas of a definition that are ignored. Versions with equal schemas count once.
pub(crate) fn unrecognized_formats(object: &Value) -> Vec<String> {
    let versions = object.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
    let mut schemas: Vec<&Value> =
        versions.filter_map(|version| version.pointer("/schema/openAPIV3Schema")).collect();
    if schemas.windows(2).all(|pair| pair[0] == pair[1]) {
        schemas.truncate(1);
    }
    let mut found = Vec::new();
    for schema in schemas {
        collect_unrecognized(schema, &mut found);
    }
    found
}

fn collect_unrecognized(schema: &Value, found: &mut Vec<String>) {
    let text = |field: &str| schema.get(field).and_then(Value::as_str).unwrap_or_default();
    let format = text("format");
    if !format.is_empty() && !formats::strfmt::is_known(format, text("type")) {
        found.push(format.to_owned());
    }
    for field in ["items", "additionalProperties", "not"] {
        if let Some(below) = schema.get(field) {
            collect_unrecognized(below, found);
        }
    }
    for field in ["allOf", "anyOf", "oneOf"] {
        let below = schema.get(field).and_then(Value::as_array).into_iter().flatten();
        below.for_each(|below| collect_unrecognized(below, found));
    }
    for field in ["properties", "patternProperties", "definitions"] {
        let below = schema.get(field).and_then(Value::as_object).into_iter().flatten();
        below.for_each(|(_, below)| collect_unrecognized(below, found));
    }
}

/// A separate function because tests are built with the feature and programs without it.
fn warnings_where(rules_are_evaluated: bool, object: &Value) -> Vec<String> {
    let applies = !rules_are_evaluated && object.get("spec").is_some_and(has_rules);
    let text =
        "x-kubernetes-validations: this server does not evaluate CEL rules; they are kept and not enforced";
    applies.then(|| text.to_owned()).into_iter().collect()
}

fn has_rules(value: &Value) -> bool {
    match value {
        Value::Object(fields) => {
            fields
                .get("x-kubernetes-validations")
                .is_some_and(|rules| rules.as_array().is_some_and(|rules| !rules.is_empty()))
                || fields.values().any(has_rules)
        }
        Value::Array(items) => items.iter().any(has_rules),
        _ => false,
    }
}

/// Sets the defaults of a definition: names, conversion, the port of its webhook.
pub(crate) fn set_defaults(object: &mut Value) {
    let kind = object.pointer("/spec/names/kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut).filter(|_| !kind.is_empty()) {
        for (field, value) in [("singular", kind.to_lowercase()), ("listKind", format!("{kind}List"))] {
            if names.get(field).and_then(Value::as_str).unwrap_or_default().is_empty() {
                names.insert(field.to_owned(), value.into());
            }
        }
    }
    let conversion = spec.entry("conversion").or_insert_with(|| json!({"strategy": "None"}));
    if let Some(service) =
        conversion.pointer_mut("/webhook/clientConfig/service").and_then(Value::as_object_mut)
    {
        service.entry("port").or_insert_with(|| 443.into());
    }
}

fn invalid(object: &Value, errors: &[Error]) -> Status {
    Status::invalid("apiextensions.k8s.io", "CustomResourceDefinition", meta::name(object), errors)
}

/// All versions that objects may be stored in: previous storage versions and the current one.
fn stored_versions(object: &Value) -> Vec<Value> {
    let before = object.pointer("/status/storedVersions").and_then(Value::as_array).cloned();
    let mut versions = before.unwrap_or_default();
    let all = object.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
    let stored = all.into_iter().find(|version| version["storage"] == true);
    if let Some(name) = stored.map(|version| version["name"].as_str().unwrap_or_default())
        && !versions.iter().any(|known| known == name)
    {
        versions.push(name.into());
    }
    versions
}

fn describe(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unenforced_rules_are_reported() {
        let with = |rules: Value| {
            let a = json!({"type": "string", "x-kubernetes-validations": rules});
            let schema = json!({"type": "object", "properties": {"a": a}});
            json!({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}})
        };
        let ruled = with(json!([{"rule": "self == oldSelf"}]));
        let message = "x-kubernetes-validations: this server does not evaluate CEL rules; they are kept and not enforced";
        assert_eq!(warnings_where(false, &ruled), [message]);
        let nothing: [&str; 0] = [];
        assert_eq!(warnings_where(true, &ruled), nothing);
        assert_eq!(warnings_where(false, &with(json!([]))), nothing);
    }
}
