//! Custom resource definitions as objects: what the server says in them.

use jiff::Timestamp;
use schema::Crd;
use serde_json::{Value, json};
use webhook::field::{Error, Path};

use crate::clock::rfc3339;
use crate::meta;
use crate::status::Status;

/// Holds a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// The definition that an object is; absent if it is none.
pub(crate) fn read(object: &Value) -> Option<Crd> {
    Crd::from_value(object.clone()).ok()
}

/// Sets defaults and says at once that the definition is established.
pub(crate) fn prepare(object: &mut Value, now: Timestamp) -> Result<(), Status> {
    let invalid = |error: Error, object: &Value| {
        Status::invalid("apiextensions.k8s.io", "CustomResourceDefinition", meta::name(object), &[error])
    };
    let crd = Crd::from_value(object.clone())
        .map_err(|error| invalid(Error::invalid(&Path::new("spec"), "", &describe(&error)), object))?;
    if meta::name(object) != crd.name() {
        let why = "must be spec.names.plural+\".\"+spec.group";
        let at = Path::new("metadata").child("name");
        return Err(invalid(Error::invalid(&at, meta::name(object), why), object));
    }
    let names = &mut object["spec"]["names"];
    for (field, value) in
        [("singular", crd.kind().to_lowercase()), ("listKind", format!("{}List", crd.kind()))]
    {
        if names.get(field).and_then(Value::as_str).unwrap_or_default().is_empty() {
            names[field] = value.into();
        }
    }
    let names = names.clone();
    let spec = &mut object["spec"];
    if spec.get("conversion").is_none_or(Value::is_null) {
        spec["conversion"] = json!({"strategy": "None"});
    }
    if !meta::is_terminating(object) && !meta::finalizers(object).contains(&CLEANUP) {
        let mut finalizers: Vec<Value> = meta::finalizers(object).into_iter().map(Value::from).collect();
        finalizers.push(CLEANUP.into());
        meta::set(object, "finalizers", finalizers);
    }
    let versions = stored_versions(object);
    let since = established_since(object).unwrap_or_else(|| rfc3339(now));
    object["status"] = json!({
        "acceptedNames": names,
        "conditions": [
            condition("NamesAccepted", "NoConflicts", "no conflicts found", &since),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted", &since),
        ],
        "storedVersions": versions,
    });
    Ok(())
}

fn condition(kind: &str, reason: &str, message: &str, since: &str) -> Value {
    json!({"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": since})
}

/// Versions that objects may be stored in: those known before, and the one of now.
fn stored_versions(object: &Value) -> Vec<Value> {
    let before = object.pointer("/status/storedVersions").and_then(Value::as_array).cloned();
    let mut versions = before.unwrap_or_default();
    let all = object.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
    for version in all.filter(|version| version["storage"] == true) {
        if !versions.contains(&version["name"]) {
            versions.push(version["name"].clone());
        }
    }
    versions
}

fn established_since(object: &Value) -> Option<String> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    let established = conditions.iter().find(|condition| condition["type"] == "Established")?;
    established["lastTransitionTime"].as_str().map(str::to_owned)
}

fn describe(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
