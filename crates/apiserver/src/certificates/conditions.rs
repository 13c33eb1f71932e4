//! Conditions of CertificateSigningRequests: approval and denial are final.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use formats::x509::Certificate;
use serde_json::{Value, json};
use webhook::field::{Error, Path, Shown};

/// Conditions that cannot be removed.
const PERMANENT: [&str; 3] = ["Approved", "Denied", "Failed"];
/// Conditions that only the approval subresource sets.
const DECISIONS: [&str; 2] = ["Approved", "Denied"];

/// `Approved` or `Denied`, if one is set.
pub(super) fn decision(object: &Value) -> Option<&str> {
    list(object)
        .iter()
        .filter_map(|condition| condition["type"].as_str())
        .find(|kind| DECISIONS.contains(kind))
}

/// Whether a condition is set.
pub(super) fn has(object: &Value, kind: &str) -> bool {
    list(object).iter().any(|condition| condition["type"] == kind)
}

/// Sets missing times of conditions.
pub(super) fn set_times(object: &mut Value, old: &Value, now: &str) {
    let known = list(old).to_vec();
    let Some(conditions) = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut) else {
        return;
    };
    for condition in conditions {
        let unset = |condition: &Value, field: &str| condition[field].as_str().unwrap_or_default().is_empty();
        if unset(condition, "lastUpdateTime") {
            condition["lastUpdateTime"] = now.into();
        }
        if unset(condition, "lastTransitionTime") {
            let same = known
                .iter()
                .find(|known| known["type"] == condition["type"] && known["status"] == condition["status"]);
            let since = same.map(|same| same["lastTransitionTime"].clone()).filter(Value::is_string);
            condition["lastTransitionTime"] = since.unwrap_or_else(|| json!(now));
        }
    }
}

/// Validates the conditions and the certificate of a changed request.
pub(super) fn errors(object: &Value, old: &Value, subresource: &str) -> Vec<Error> {
    let at = Path::new("status").child("conditions");
    let mut errors = condition_errors(object);
    for kind in PERMANENT {
        if of_type(object, kind).len() < of_type(old, kind).len() {
            let why = format!("updates may not remove a condition of type {kind:?}");
            errors.push(Error::forbidden(&at, &why));
        }
    }
    if subresource != "approval" {
        for kind in DECISIONS {
            let (new, old) = (of_type(object, kind), of_type(old, kind));
            let change = match new.len().cmp(&old.len()) {
                std::cmp::Ordering::Greater => "add",
                std::cmp::Ordering::Equal if new != old => "modify",
                _ => continue,
            };
            let why = format!("updates may not {change} a condition of type {kind:?}");
            errors.push(Error::forbidden(&at, &why));
        }
    }
    errors.extend(certificate_error(object, old));
    errors
}

fn condition_errors(object: &Value) -> Vec<Error> {
    let at = Path::new("status").child("conditions");
    let mut errors = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (index, condition) in list(object).iter().enumerate() {
        let here = at.index(index);
        let text = |field: &str| condition[field].as_str().unwrap_or_default();
        let (kind, status) = (text("type"), text("status"));
        if kind.is_empty() {
            errors.push(Error::required(&here.child("type"), ""));
        }
        match status {
            "" => errors.push(Error::required(&here.child("status"), "")),
            "True" => {}
            other if PERMANENT.contains(&kind) => {
                errors.push(Error::not_supported(&here.child("status"), Shown::named(other), &["True"]));
            }
            "False" | "Unknown" => {}
            other => {
                let known = ["False", "True", "Unknown"];
                errors.push(Error::not_supported(&here.child("status"), Shown::named(other), &known));
            }
        }
        let other = match kind {
            "Approved" => "Denied",
            "Denied" => "Approved",
            _ => "",
        };
        if seen.contains(&other) {
            let why = "Approved and Denied conditions are mutually exclusive";
            errors.push(Error::invalid(&at, kind, why));
        }
        if seen.contains(&kind) {
            errors.push(Error::duplicate(&here.child("type"), kind));
        }
        seen.push(kind);
    }
    errors
}

fn certificate_error(object: &Value, old: &Value) -> Option<Error> {
    let at = Path::new("status").child("certificate");
    let text = |object: &Value| object["status"]["certificate"].as_str().unwrap_or_default().to_owned();
    let (new, old) = (text(object), text(old));
    if new == old {
        return None;
    }
    if !old.is_empty() {
        return Some(Error::forbidden(&at, "updates may not modify existing certificate content"));
    }
    let pem = STANDARD.decode(&new).unwrap_or_default();
    let why = match formats::x509::pem::blocks(&pem).next() {
        None => "must contain at least one CERTIFICATE PEM block",
        Some(block) if block.label != "CERTIFICATE" => "only CERTIFICATE PEM blocks are allowed",
        Some(block) if Certificate::from_der(&block.content).is_err() => "unable to parse a certificate",
        Some(_) => return None,
    };
    Some(Error::invalid(&at, "<certificate data>", why))
}

fn list(object: &Value) -> &[Value] {
    object.pointer("/status/conditions").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn of_type<'a>(object: &'a Value, kind: &str) -> Vec<&'a Value> {
    list(object).iter().filter(|condition| condition["type"] == kind).collect()
}
