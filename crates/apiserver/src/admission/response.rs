//! Verifies a webhook's response as kube-apiserver does.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
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
    let mut details = result.get("details").and_then(Value::as_object).cloned().unwrap_or_default();
    // A Status leaves out what is empty.
    details.retain(|_, value| *value != 0 && *value != "" && *value != Value::Array(Vec::new()));
    Status { details, ..Status::plain(code, text("reason"), message) }
}

fn check_identity(api_version: &str, kind: &str, found: &str, sent: &str) -> Result<(), String> {
    if found != sent {
        return Err(format!("expected response.uid={sent:?}, got {found:?}"));
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
