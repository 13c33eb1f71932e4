//! Verifies a webhook's response as kube-apiserver does.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use webhook::field::quote;
use webhook::registration::Phase;
use webhook::review::ReviewVersion;

use super::decoding::Decoded;
use crate::http::status::Status;

/// A verified response.
#[derive(Clone, Debug, Default)]
pub(super) struct AdmissionResult {
    /// Whether the request may proceed.
    pub(super) allowed: bool,
    /// The JSON patch; empty if there is none.
    pub(super) patch: Vec<u8>,
    /// `JSONPatch`, if there is a patch.
    pub(super) patch_type: String,
    /// The `Status` of a denial.
    pub(super) status: Map<String, Value>,
    /// Warnings for the user.
    pub(super) warnings: Vec<String>,
    /// Audit annotations.
    pub(super) annotations: BTreeMap<String, String>,
}

/// Verifies that a decoded review responds to the review with this version and uid.
pub(super) fn verify(
    decoded: Decoded,
    version: ReviewVersion,
    uid: &str,
    phase: Phase,
) -> Result<AdmissionResult, String> {
    let Decoded { review, patch } = decoded;
    let text = |of: &Value, field: &str| of[field].as_str().unwrap_or_default().to_owned();
    let (api_version, kind) = (text(&review, "apiVersion"), text(&review, "kind"));
    let response = review.get("response").filter(|response| !response.is_null());
    let response = response.ok_or("webhook response was absent")?;
    let patch_type = response["patchType"].as_str();
    if version == ReviewVersion::V1 {
        check_identity(&api_version, &kind, &text(response, "uid"), uid)?;
        check_patch(!patch.is_empty(), patch_type, phase)?;
    }
    // v1beta1 has no patch type: it allows only JSON patches.
    let patch_type = if version == ReviewVersion::V1 { patch_type.unwrap_or_default() } else { "JSONPatch" };
    let texts = |value: &Value| {
        value
            .as_array()
            .into_iter()
            .flatten()
            .map(|text| text.as_str().unwrap_or_default().to_owned())
            .collect()
    };
    let annotations = response["auditAnnotations"].as_object().into_iter().flatten();
    Ok(AdmissionResult {
        allowed: response["allowed"] == true,
        patch: if phase == Phase::Mutating { patch } else { Vec::new() },
        patch_type: patch_type.to_owned(),
        status: response["status"].as_object().cloned().unwrap_or_default(),
        warnings: texts(&response["warnings"]),
        annotations: annotations
            .map(|(key, text)| (key.clone(), text.as_str().unwrap_or_default().to_owned()))
            .collect(),
    })
}

/// The error for a denied request, worded as kube-apiserver does.
pub(super) fn denial(webhook: &str, result: &Map<String, Value>) -> Status {
    let text = |field: &str| result.get(field).and_then(Value::as_str).unwrap_or_default();
    let denied = format!("admission webhook {webhook:?} denied the request");
    let message = match (text("message"), text("reason")) {
        ("", "") => format!("{denied} without explanation"),
        ("", reason) => format!("{denied}: {reason}"),
        (message, _) => format!("{denied}: {message}"),
    };
    let code = result.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let code = code.filter(|code| *code >= 400).unwrap_or(400);
    let details = result.get("details").and_then(Value::as_object);
    let bare = details.is_some();
    let details = details.map(written_details).unwrap_or_default();
    Status { details, bare, ..Status::plain(code, text("reason"), message) }
}

/// The details of a Status as Go writes them: known fields that are not empty.
fn written_details(sent: &Map<String, Value>) -> Map<String, Value> {
    let known = ["name", "group", "kind", "uid", "causes", "retryAfterSeconds"];
    let mut details = written(sent, &known);
    if let Some(causes) = details.get_mut("causes").and_then(Value::as_array_mut) {
        for cause in causes {
            let sent = cause.as_object().cloned().unwrap_or_default();
            *cause = Value::Object(written(&sent, &["reason", "message", "field"]));
        }
    }
    details
}

/// The fields with these names that a struct leaves out only when they are empty.
fn written(sent: &Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        other => *other == 0,
    };
    let fields = sent.iter().filter(|(name, value)| names.contains(&name.as_str()) && !is_empty(value));
    fields.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn check_identity(api_version: &str, kind: &str, found: &str, sent: &str) -> Result<(), String> {
    if found != sent {
        return Err(format!("expected response.uid={}, got {}", quote(sent), quote(found)));
    }
    if (api_version, kind) != ("admission.k8s.io/v1", "AdmissionReview") {
        return Err(format!(
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {}, Kind={kind}",
            if api_version.contains('/') { api_version.to_owned() } else { format!("/{api_version}") }
        ));
    }
    Ok(())
}

fn check_patch(patch: bool, patch_type: Option<&str>, phase: Phase) -> Result<(), String> {
    let wrong = match (phase, patch, patch_type) {
        (Phase::Mutating, true, None) => "webhook returned response.patch but not response.patchType",
        (Phase::Mutating, false, Some(_)) => "webhook returned response.patchType but not response.patch",
        (Phase::Mutating, true, Some("")) => "webhook returned invalid response.patchType of \"\"",
        (Phase::Validating, true, _) => "validating webhook may not return response.patch",
        (Phase::Validating, false, Some(_)) => "validating webhook may not return response.patchType",
        _ => return Ok(()),
    };
    Err(wrong.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn details_of_a_denial_are_there_even_if_they_are_empty() {
        let table = [
            (json!({"message": "no"}), None),
            (json!({"details": null}), None),
            (json!({"details": {}}), Some(json!({}))),
            (
                json!({"details": {"retryAfterSeconds": 0, "name": "", "uid": null, "more": 1}}),
                Some(json!({})),
            ),
            (
                json!({"details": {"retryAfterSeconds": 2, "causes": [{"field": "a", "reason": "", "more": 1}, null]}}),
                Some(json!({"retryAfterSeconds": 2, "causes": [{"field": "a"}, {}]})),
            ),
        ];
        for (sent, want) in table {
            let status = denial("w", sent.as_object().unwrap()).json();
            assert_eq!(status.get("details"), want.as_ref(), "{sent}");
        }
    }
}
